"""The process of the other pipeline: fed from a bounded queue, started again when it ends, the first to give way."""

import asyncio
import logging
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from tempfile import TemporaryDirectory
from typing import Any, Final

import orjson

from app.composition.background import keep_running
from app.recordings.files import RecordingHead
from app.recordings.recorder import CallRecorder
from app.settings import Settings, environment_without_ours
from app.shadow.call import ShadowedCall
from app.shadow.counters import ShadowCounters
from app.shadow.differing import SHADOW_FILE, ShadowRecord
from services.observability import Metrics

log = logging.getLogger(__name__)

MOST_TURNS: Final = 32
"""Turns of all calls together that wait for the other; a call that comes to more is left by its shadow."""
MOST_BYTES: Final = 16 * 1024 * 1024
"""Sound and facts that wait to be told."""
PRIORITY: Final = ("--idle",)
"""It runs where nobody else wants to: a busy machine has no shadow rather than slower calls."""
READY_S: Final = 180.0
AGAIN_S: Final = 30.0
_LINE: Final = 1 << 20


class ShadowLine:
    """Runs the other pipeline for as long as `run` does; calls go through both while it is ready."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self._settings = settings
        self._counted = ShadowCounters(metrics.registry)
        self._calls: dict[str, ShadowedCall] = {}
        self._queue: asyncio.Queue[tuple[bytes, bytes]] = asyncio.Queue()
        self._bytes = 0
        self._other: str | None = None
        self.process: Process | None = None
        metrics.waiting.labels("shadow").set_function(lambda: self._waiting)

    @property
    def other(self) -> str | None:
        """Which pipeline it is, by what it is made of; None while there is none."""
        return self._other

    @property
    def _waiting(self) -> int:
        return sum(call.waiting for call in self._calls.values())

    def call(self, head: RecordingHead, recorder: CallRecorder) -> ShadowedCall | None:
        """A call that begins; None where it has no shadow."""
        if self._other is None:
            self._counted.left.labels("not there").inc()
            return None

        async def keep(record: ShadowRecord) -> None:
            await recorder.beside(SHADOW_FILE, record.model_dump_json().encode())

        call = self._calls[head.call] = ShadowedCall(self, head, keep, self._counted)
        return call

    def over(self, call: ShadowedCall) -> None:
        """Nothing more comes of this call."""
        self._calls.pop(call.id, None)

    def tell(self, call: ShadowedCall, message: Mapping[str, Any], body: bytes = b"") -> bool:
        """Queue a message; whether there was room. The end of a call always has."""
        if call.id not in self._calls or self._other is None:
            return False
        full = self._waiting > MOST_TURNS or self._bytes + len(body) > MOST_BYTES
        if full and "over" not in message:
            return False
        self._bytes += len(body)
        self._queue.put_nowait((orjson.dumps({**message, "bytes": len(body)}) + b"\n", body))
        return True

    async def run(self) -> None:
        """Be there until cancelled, or until the other ends."""
        with TemporaryDirectory(prefix="tellerline-shadow-") as folder:
            process = await asyncio.create_subprocess_exec(
                *_command(self._settings),
                cwd=folder,
                env=_environment(self._settings, folder),
                stdin=PIPE,
                stdout=PIPE,
                stderr=asyncio.subprocess.DEVNULL,  # its tracebacks may hold what was said
                limit=_LINE,
                start_new_session=True,
            )
            self.process = process
            try:
                await self._serve(process)
            finally:
                await self._end(process)

    async def _serve(self, process: Process) -> None:
        assert process.stdout is not None
        try:
            async with asyncio.timeout(READY_S):
                hello = orjson.loads(await process.stdout.readline() or b"{}")
        except (TimeoutError, orjson.JSONDecodeError):
            hello = {}
        if "other" not in hello:
            log.warning("no shadow: the other pipeline does not start: %s", hello.get("fault", "no word of it"))
            return
        self._other = str(hello["other"])
        log.info("calls have a shadow: %s", self._other)
        writing = asyncio.create_task(self._write(process))
        try:
            while line := await process.stdout.readline():
                self._take(orjson.loads(line))
        finally:
            writing.cancel()
            await asyncio.wait({writing})
        log.warning("the shadow's process ended")

    def _take(self, answer: Mapping[str, Any]) -> None:
        call = self._calls.get(str(answer.get("call")))
        if call is None:
            return
        if "left" in answer:
            call.leave(str(answer["left"]))
        else:
            call.answered(int(answer["turn"]), answer["there"])

    async def _write(self, process: Process) -> None:
        assert process.stdin is not None
        with suppress(OSError):
            while True:
                line, body = await self._queue.get()
                self._bytes -= len(body)
                process.stdin.writelines((line, body))
                await process.stdin.drain()

    async def _end(self, process: Process) -> None:
        """Whatever was under way is left; the process goes."""
        self._other = None
        for call in tuple(self._calls.values()):
            call.leave("broke off")
        self._calls.clear()
        self._queue, self._bytes = asyncio.Queue(), 0
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # also what it started: whoever holds the pipes keeps us waiting
        await process.wait()


def beside_calls(stack: AsyncExitStack, settings: Settings, metrics: Metrics) -> ShadowLine | None:
    """The process that calls go through too, where the settings name one; it ends when `stack` is left."""
    if not settings.shadowed:
        return None
    made = ShadowLine(settings, metrics)
    keep_running(stack, made.run, AGAIN_S)
    return made


def _command(settings: Settings) -> tuple[str, ...]:
    command = [sys.executable, "-m", "app.cli", "replay", "mirror", *PRIORITY]
    for name, value in (
        ("--asr-model", settings.shadow_asr_model or settings.asr_model),
        ("--rules", settings.shadow_rules and settings.shadow_rules.resolve()),
        ("--tree", settings.shadow_tree and settings.shadow_tree.resolve()),
    ):
        command += [name, str(value)] if value else []
    return tuple(command)


def _environment(settings: Settings, folder: str) -> dict[str, str]:
    """No key, database, bank or model of the live pipeline: what the other asks is its own alone."""
    ours = {"STATE_DIR": folder, "ASR_DEVICE": settings.asr_device}
    if settings.shadow_extraction_url:
        ours["EXTRACTION_URL"] = settings.shadow_extraction_url
        ours["EXTRACTION_MODEL"] = settings.shadow_extraction_model
        if key := settings.shadow_extraction_key.get_secret_value():
            ours["EXTRACTION_KEY"] = key
    return environment_without_ours() | {f"TELLERLINE_{name}": value for name, value in ours.items()}
