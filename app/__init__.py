"""The process: the only place that knows FastAPI, settings and the composition of the parts."""

import contextlib
import ctypes
import os

# The numeric libraries read these when they load. One thread a decode: more make short windows three times as dear.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # noqa: TID251 - not a setting of ours

# oneDNN keeps compiled convolutions for each length of sound, 1,024 in all: 80 MB a language to save 1 ms a decode.
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "32")  # noqa: TID251 - not a setting of ours

# bm25s tries JAX where it is installed, and JAX takes three quarters of a GPU's memory at its first use.
os.environ.setdefault("JAX_PLATFORMS", "cpu")  # noqa: TID251 - not a setting of ours

# ONNX Runtime tells its maker of each process that loads it, and keeps an identity of the machine, unless this is set.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # noqa: TID251 - not a setting of ours

# What one thread frees, glibc keeps for that thread: with eight such arenas a core, 30 MB more than with one.
_ARENA_MAX = -8
if "MALLOC_ARENA_MAX" not in os.environ:  # noqa: TID251 - not a setting of ours
    with contextlib.suppress(AttributeError):  # other C libraries
        ctypes.CDLL(None).mallopt(_ARENA_MAX, max(2, os.cpu_count() or 2))
