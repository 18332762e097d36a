"""The decodes of one call that are under way. Answers come back by callback; those that nobody wants are cancelled."""

import asyncio
import logging
from collections.abc import Callable

from schemas.errors import InternalFault, TellerlineError
from schemas.ids import Locale
from schemas.transcript import Decode, Onward, Transcript, Wordings
from services.audio.utterance import DecodeRequest
from services.ports import Clock, Recognizer

log = logging.getLogger(__name__)

Told = Callable[[DecodeRequest, Transcript | TellerlineError], None]
"""Takes what came of a decode."""


class Decodes:
    """At most one partial and one final at a time, as the listener asks for them. Revisions are unique in a call."""

    def __init__(self, recognizer: Recognizer, clock: Clock) -> None:
        self._recognizer = recognizer
        self._clock = clock
        self._running: dict[int, asyncio.Task[None]] = {}
        self._last_final: tuple[int, float, float] = (-1, 0.0, 0.0)
        self._tasks: asyncio.TaskGroup

    def open(self, tasks: asyncio.TaskGroup) -> None:
        """Decodes are tasks of `tasks`, which ends when one of them fails."""
        self._tasks = tasks

    def close(self) -> None:
        """No more follow. The group is let go: it knows the call's task, which knows the call."""
        del self._tasks

    def start(self, request: DecodeRequest, locale: Locale, told: Told, decode: Decode, wordings: Wordings) -> None:
        """Decode in the background. `told` is kept no longer than the decode runs: it holds the caller's whole side."""
        decoding = self._decode(request, locale, told, decode, wordings)
        self._running[request.revision] = self._tasks.create_task(decoding)

    def look_onward(self, request: DecodeRequest, heard: Transcript, told: Callable[[Onward | None], None]) -> None:
        """Find out what may follow the words of a final that is over; until then it counts as running."""
        self._running[request.revision] = self._tasks.create_task(self._onward(request, heard, told))

    @property
    def busy(self) -> bool:
        """Whether any decode is under way."""
        return bool(self._running)

    def running(self, revision: int) -> bool:
        """Whether a decode is under way."""
        return revision in self._running

    async def wait(self, revision: int) -> None:
        """Until a decode is over, however it ends."""
        await asyncio.wait({self._running[revision]})

    def keep(self, wanted: Callable[[int], bool]) -> None:
        """Cancel every decode whose revision is not wanted any more."""
        for revision, task in list(self._running.items()):
            if not wanted(revision):
                del self._running[revision]
                task.cancel()

    def moments(self, revision: int) -> dict[str, float]:
        """When the final decode `revision` started and ended, in seconds of the clock; nothing for another one."""
        last, started, ended = self._last_final
        return {"asr_start": started, "asr_final": ended} if last == revision else {}

    async def _onward(self, request: DecodeRequest, heard: Transcript, told: Callable[[Onward | None], None]) -> None:
        onward = None
        try:
            onward = await self._recognizer.onward(request.samples, heard)
        except Exception as fault:  # the longest wait is the safe one
            log.exception("an end was not looked at: %s", type(fault).__name__)
        finally:
            self._running.pop(request.revision, None)
        told(onward)

    async def _decode(
        self, request: DecodeRequest, locale: Locale, told: Told, decode: Decode, wordings: Wordings
    ) -> None:
        started = self._clock.monotonic()
        answer: Transcript | TellerlineError
        try:
            answer = await self._recognizer.transcribe(request.samples, locale, decode, wordings=wordings)
        except TellerlineError as refused:
            answer = refused
        except Exception as fault:
            log.exception("a decode failed: %s", type(fault).__name__)
            answer = InternalFault("a decode failed")
        finally:
            self._running.pop(request.revision, None)
        if request.final and isinstance(answer, Transcript):
            self._last_final = (request.revision, started, self._clock.monotonic())
        told(request, answer)
