"""A decode multiplies small matrices: threads that a numeric library starts for them take the other calls' time."""

import os
import subprocess
import sys

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


@pytest.mark.parametrize("entry", ["app.cli", "app.serve", "app.main"])
def test_the_numeric_libraries_start_no_threads_unless_told(entry: str) -> None:
    assert threads(entry, None) == threads(entry, "1")
