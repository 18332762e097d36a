"""What the native libraries keep for the next sound: it has an end, however many lengths callers speak."""

import os
import platform
import subprocess
import sys
from typing import Final

import pytest

MOST_KB: Final = 4_000
"""Twenty-five lengths more cost about 500 where few compiled convolutions are kept, 14,000 where each of them is.

The first sixty, up to 3.4 s, also let buffers grow with the longest, on some processors by 4,500 at a step.
"""
LENGTHS: Final = """
import app, ctypes, numpy
from services.asr.load import BUNDLED, decoders
names = ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")
class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in names]
libc = ctypes.CDLL(None)
libc.mallinfo2.restype = Info
used = lambda: libc.mallinfo2().uordblks + libc.mallinfo2().hblkhd
english, sound = decoders(BUNDLED)["en"], numpy.random.default_rng(1).normal(0, 0.05, 120_000).astype("f4")
def decode(lengths):
    for length in lengths: english.decode(sound[: 16_000 + 640 * length], final=False)
    return used()
print((-decode(range(60)) + decode(range(60, 85))) // 1024)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc tells what is in use")
def test_decodes_of_ever_new_lengths_leave_little_behind() -> None:
    env = {name: value for name, value in os.environ.items() if "ONEDNN" not in name}  # noqa: TID251 - what it tests
    grown = subprocess.run([sys.executable, "-c", LENGTHS], env=env, capture_output=True, check=True, timeout=120)
    assert int(grown.stdout) < MOST_KB
