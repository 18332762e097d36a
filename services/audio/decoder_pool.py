"""A bounded pool of decoder processes: what a stranger's file costs, no caller feels."""

import asyncio
import contextlib
import logging
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from typing import Final

from schemas.audio import Samples
from schemas.errors import Busy, MalformedAudio, TellerlineError, TooLarge
from services.audio.channels import Channel
from services.audio.decoder import CHANNELS, ENDED, HEAD, REQUEST, VERDICTS, samples_of

log = logging.getLogger(__name__)

CPU_S: Final = 0.9
"""Processor time of one file; a minute of Opus takes 0.15 s."""
WALL_S: Final = 10.0
"""Time of one file by the clock, however busy the machine is."""
START_S: Final = 30.0
RETRY_AFTER_S: Final = 2.0
_TOO_LONG: Final = "the file takes too long to decode"


class DecoderPool:
    """`workers` processes, and at most `waiting` files in line for them. One event loop uses it."""

    def __init__(self, workers: int = 2, waiting: int = 8) -> None:
        self._most = workers + waiting
        self._inside = 0
        self._places = asyncio.Semaphore(workers)
        self._idle: list[Process] = []

    async def warm_up(self) -> None:
        """Have one process ready."""
        self._idle.append(await _started())

    async def close(self) -> None:
        """End the processes."""
        while self._idle:
            await _end(self._idle.pop())

    async def decode(self, data: bytes, channel: Channel | None = None) -> Samples:
        """What `read_file` makes of a file. Raises also Busy past the line, TooLarge past CPU_S or the memory."""
        if self._inside >= self._most:
            raise Busy("too many recordings are being decoded", retry_after_s=RETRY_AFTER_S)
        self._inside += 1
        try:
            async with self._places:
                return await self._decoded(data, channel)
        finally:
            self._inside -= 1

    async def _decoded(self, data: bytes, channel: Channel | None) -> Samples:
        process = self._idle.pop() if self._idle else await _started()
        try:
            async with asyncio.timeout(WALL_S):
                verdict, told = await _asked(process, data, channel)
        except BaseException as error:
            await _end(process)
            if isinstance(error, TimeoutError):
                raise TooLarge(_TOO_LONG) from None
            if isinstance(error, EOFError | OSError):
                raise Busy("the decoder went away", retry_after_s=RETRY_AFTER_S) from None
            raise
        self._idle.append(process)
        if verdict == ENDED:
            raise _blamed(int(told))
        if verdict:
            raise VERDICTS[verdict - 1](told.decode())
        return samples_of(told)


async def _started() -> Process:
    """A process that is ready, with nothing of our environment in it."""
    command = (sys.executable, "-I", "-m", "services.audio.decoder")
    process = await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env={"OPENBLAS_NUM_THREADS": "1"}, start_new_session=True
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(START_S):
            await process.stdout.readexactly(HEAD.size)
    except BaseException as error:
        await _end(process)
        if isinstance(error, TimeoutError | EOFError):
            raise Busy("no decoder could be started", retry_after_s=RETRY_AFTER_S) from error
        raise
    return process


async def _asked(process: Process, data: bytes, channel: Channel | None) -> tuple[int, bytes]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(REQUEST.pack(round(CPU_S * 1000), len(data), CHANNELS.index(channel)))
    process.stdin.write(data)
    await process.stdin.drain()
    verdict, size = HEAD.unpack(await process.stdout.readexactly(HEAD.size))
    return verdict, await process.stdout.readexactly(size)


async def _end(process: Process) -> None:
    """End it with the child that it may have: both are of the session that began with it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


def _blamed(ended_by: int) -> TellerlineError:
    """Whose fault a child's end is: the file's where it ran out of time or led us or FFmpeg astray, else nobody's."""
    if ended_by == signal.SIGPROF:
        return TooLarge(_TOO_LONG)
    if ended_by in {signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE, signal.SIGBUS, signal.SIGILL}:
        log.error("a recording ended its decoder with signal %d", ended_by)
        return MalformedAudio("the file does not decode")
    if ended_by < 0:  # it raised what no file should make it raise, and would again: nobody is told to try again
        log.error("a recording ended its decoder with status %d", -ended_by)
        return MalformedAudio("the file does not decode")
    return Busy("the decoder went away", retry_after_s=RETRY_AFTER_S)
