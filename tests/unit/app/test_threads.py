"""A decode multiplies small matrices: threads that a numeric library starts for them take the other calls' time."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

COUNT = """
import importlib, os, sys
importlib.import_module(sys.argv[1])
import numpy
print(len(os.listdir("/proc/self/task")))
"""


def threads(entry: str, wanted: str | None) -> int:
    """How many threads a process has that imported `entry`, where the environment wants so many of a library."""
    env = {name: value for name, value in os.environ.items() if "_NUM_" not in name}  # noqa: TID251 - what it tests
    env |= {"OPENBLAS_NUM_THREADS": wanted, "OMP_NUM_THREADS": wanted} if wanted else {}
    run = [sys.executable, "-c", COUNT, entry]
    return int(subprocess.run(run, env=env, capture_output=True, check=True, timeout=60).stdout)


@pytest.mark.parametrize("entry", ["app.cli", "app.main"])
def test_the_numeric_libraries_start_no_threads_unless_told(entry: str) -> None:
    assert threads(entry, None) == threads(entry, "1")


ARENAS = """
import ctypes, sys, threading
import app
together = threading.Barrier(12)
def use() -> None:
    together.wait()
    kept = [bytes(4000) for _ in range(100)]
    together.wait()
users = [threading.Thread(target=use) for _ in range(12)]
for user in users: user.start()
for user in users: user.join()
libc = ctypes.CDLL(None)
libc.fdopen.restype = ctypes.c_void_p
out = libc.fdopen(1, b"w")
libc.malloc_info(0, ctypes.c_void_p(out))
libc.fflush(ctypes.c_void_p(out))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have no arenas")
def test_threads_share_the_allocators_arenas() -> None:
    env = {name: value for name, value in os.environ.items() if name != "MALLOC_ARENA_MAX"}  # noqa: TID251 - as above
    told = subprocess.run([sys.executable, "-c", ARENAS], env=env, capture_output=True, check=True, timeout=60).stdout
    assert 1 < told.count(b"<heap nr=") <= max(2, os.cpu_count() or 2)


def test_what_searches_passages_leaves_a_gpu_to_others(tmp_path: Path) -> None:
    """bm25s runs JAX where it is installed; here a package of that name that tells which devices it may use."""
    jax = tmp_path / "jax"
    jax.mkdir()
    (jax / "__init__.py").write_text("import os\nprint(os.environ.get('JAX_PLATFORMS'))\n")
    (jax / "lax.py").write_text("def top_k(scores, k):\n    return scores, k\n")
    env = {name: value for name, value in os.environ.items() if name != "JAX_PLATFORMS"}  # noqa: TID251 - as above
    env["PYTHONPATH"] = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[3])])
    run = [sys.executable, "-c", "import app.qa.doctor.warm"]
    told = subprocess.run(run, env=env, capture_output=True, check=True, timeout=60, text=True).stdout
    assert told.split() == ["cpu"]
