"""`vllm bench serve`, again and again in one process: importing it takes as long as a short run.

Runs under the interpreter that has vLLM and knows nothing of this project. A JSON list of arguments a line on stdin;
for each a JSON line on stdout: "" where the run did well, what it raised otherwise. All else that is printed, imports
included, goes to stderr.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback

ANSWERS = os.fdopen(os.dup(sys.stdout.fileno()), "w")
os.dup2(sys.stderr.fileno(), sys.stdout.fileno())


def run(argv: list[str]) -> str:
    """One run; its fault, if any."""
    serve = importlib.import_module("vllm.benchmarks.serve")
    parser = importlib.import_module("vllm.utils.argparse_utils").FlexibleArgumentParser()
    serve.add_cli_args(parser)
    try:
        serve.main(parser.parse_args(argv))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - one run's fault must not cost the next
        traceback.print_exc()
        return f"{type(error).__name__}: {error}"[-2000:]
    return ""


if __name__ == "__main__":
    for line in sys.stdin:
        fault = run(json.loads(line))
        sys.stdout.flush()  # what a run printed is in the log by the time that its answer comes
        print(json.dumps(fault), file=ANSWERS, flush=True)
