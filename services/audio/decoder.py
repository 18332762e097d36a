"""The process that decodes strangers' files: no secret in it, no file or socket to open, little memory, little time.

It reads requests from standard input and answers on standard output until the one who started it is gone. A request is
`REQUEST` (CPU milliseconds, bytes, channel) and a file; an answer is `HEAD` (a verdict, bytes) and float32 samples, a
message, or the number of a signal. Each file has a child of its own: what ends it ends nothing else, and a new one is
there within a millisecond, where a new process of the gateway's would hold up every call while its pages are copied.
"""

import contextlib
import os
import resource
import signal
import struct
import sys
from typing import BinaryIO, Final

import numpy as np

from schemas.audio import Samples
from schemas.errors import BadInput, MalformedAudio, TooLarge, UnsupportedAudio
from services.audio.channels import Channel
from services.audio.files import read_file

HEAD: Final = struct.Struct("<II")
REQUEST: Final = struct.Struct("<IIb")
CHANNELS: Final[tuple[Channel | None, ...]] = (None, "mix", 0, 1)
"""What a request's last number says."""
VERDICTS: Final[tuple[type[BadInput], ...]] = (MalformedAudio, UnsupportedAudio, TooLarge)
"""What an answer's first number says, counted from 1; 0 is a success."""
ENDED: Final = len(VERDICTS) + 1
"""The file's child was ended by a signal."""
MEMORY: Final = 128 * 1024 * 1024
"""Bytes of addresses that a file may need beyond what an idle process has."""
NICENESS: Final = 10
_EXAMPLE: Final = b"RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x80>\0\0\0}\0\0\x02\0\x10\0data\x04\0\0\0" + bytes(4)
"""Two samples, read before the doors are shut, so that nothing has to be imported afterwards."""


def main() -> None:
    """Decode until the input ends."""
    read_file(_EXAMPLE)
    confine()
    given, taken = sys.stdin.buffer, sys.stdout.buffer
    write(taken, 0, b"")
    while head := given.read(REQUEST.size):
        milliseconds, size, channel = REQUEST.unpack(head)
        answer(given.read(size), milliseconds / 1000, taken, CHANNELS[channel])


def confine() -> None:
    """Give up what decoding has no need of, for good: descriptors, files, core dumps, addresses, and precedence."""
    os.nice(NICENESS)
    with contextlib.suppress(OSError):  # some sandboxes know no policies
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    pages = int(open("/proc/self/statm").read().split()[0])  # noqa: PTH123, SIM115 - nothing else is opened
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY,) * 2)
    for limit in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        resource.setrlimit(limit, (0, 0))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)


def answer(data: bytes, cpu_s: float, out: BinaryIO, channel: Channel | None = None) -> None:
    """Have a child decode one file; past `cpu_s` of processor time the kernel ends it, whatever it is doing."""
    child = os.fork()
    if not child:
        status = 1
        try:
            decode(data, cpu_s, out, channel)
            status = 0
        finally:
            os._exit(status)
    if code := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        write(out, ENDED, str(-code).encode())


def decode(data: bytes, cpu_s: float, out: BinaryIO, channel: Channel | None = None) -> None:
    """In the child: decode, and answer."""
    signal.setitimer(signal.ITIMER_PROF, cpu_s)
    verdict, told = judged(data, channel)
    signal.setitimer(signal.ITIMER_PROF, 0)
    write(out, verdict, told)


def write(out: BinaryIO, verdict: int, told: bytes) -> None:
    """One answer."""
    out.write(HEAD.pack(verdict, len(told)) + told)
    out.flush()


def judged(data: bytes, channel: Channel | None = None) -> tuple[int, bytes]:
    """The verdict on a file, and its samples or what is wrong with it."""
    try:
        return 0, read_file(data, channel).tobytes()
    except MemoryError:
        refused: BadInput = TooLarge("the file takes too much memory to decode")
    except BadInput as error:
        refused = error
    return VERDICTS.index(type(refused)) + 1, refused.message.encode()


def samples_of(told: bytes) -> Samples:
    """The samples of an answer."""
    return np.frombuffer(told, dtype=np.float32)


if __name__ == "__main__":
    main()
