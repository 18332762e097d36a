"""`vllm bench serve`, again and again in one process: importing it takes as long as a short run.

Runs under the interpreter that has vLLM and knows nothing of this project. A JSON list of arguments a line on stdin;
for each a JSON line on stdout: "" where the run did well, what it raised otherwise.
"""

from __future__ import annotations

import contextlib
import json
import sys

from vllm.benchmarks.serve import add_cli_args, main
from vllm.utils.argparse_utils import FlexibleArgumentParser


def run(argv: list[str]) -> str:
    """One run; its fault, if any."""
    parser = FlexibleArgumentParser()
    add_cli_args(parser)
    try:
        main(parser.parse_args(argv))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - one run's fault must not cost the next
        return f"{type(error).__name__}: {error}"[-2000:]
    return ""


if __name__ == "__main__":
    answers = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        for line in sys.stdin:
            print(json.dumps(run(json.loads(line))), file=answers, flush=True)
