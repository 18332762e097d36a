"""The two decorators that record a gateway's calls: of the recogniser, and of what opens a call's handler."""

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Final, Protocol

from app.recordings.beside import CallShadow
from app.recordings.facts import facts_of
from app.recordings.files import RecordingHead
from app.recordings.recorder import CallRecorder
from app.recordings.shelf import SampleShelf
from schemas.audio import Samples
from schemas.errors import StoreUnavailable, TellerlineError
from schemas.ids import CallId, CustomerId, Locale
from schemas.interpretation import Interpretation
from schemas.transcript import Decode, Onward, Transcript, Wordings
from schemas.turn import ReplyEvent, ReplyId
from services.disk import on_disk
from services.ports import Amendable, Clock, Recognizer, TurnHandler
from services.record.audit_keys import AuditKeys
from services.session import Caller

log = logging.getLogger(__name__)

Opener = Callable[[CustomerId, CallId, Locale | None], Awaitable[TurnHandler]]
"""Opens the turn handler of a call."""


class KnowingHandler(TurnHandler, Protocol):
    """A turn handler that tells what its call knows of the caller."""

    @property
    def caller(self) -> Caller:
        """Who is calling, as they were when the call began."""
        ...


Shadows = Callable[[RecordingHead, CallRecorder], CallShadow | None]
"""The other side of a call that begins; None where it has none."""
KnowingOpener = Callable[[CustomerId, CallId, Locale | None], Awaitable[KnowingHandler]]
MAX_CALLS: Final = 10_000
"""Recordings kept in a folder; past it, calls are no longer recorded."""
ROOM_S: Final = 0.3
"""What a new call waits for the folder."""


class Recordings:
    """Records those of a gateway's calls below `folder` whose callers agreed to it, from then on."""

    def __init__(self, folder: Path, clock: Clock, keys: AuditKeys, shadows: Shadows | None = None) -> None:
        """`shadows` are the other sides of calls, where there are any."""
        self._folder = folder
        self._shadows = shadows
        self._recorders: dict[CallId, CallRecorder] = {}
        self._clock = clock
        self._keys = keys
        self._shelf = SampleShelf()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    async def consent(self, call: CallId, agreed: bool) -> None:
        """The caller's word on being recorded; where it is taken back, what was recorded of the call is deleted."""
        if recorder := self._recorders.get(call):
            recorder.agreed = agreed
            if not agreed:
                await recorder.forget()

    def recordable(self, call: CallId) -> bool:
        """Whether an open call is recorded once its caller agrees: there may have been no room for it."""
        return call in self._recorders

    def recognizer(self, inner: Recognizer) -> Recognizer:
        """The recogniser, with its final decodes kept for their turns."""
        return _RecordedRecognizer(inner, self._shelf)

    def opener(self, inner: KnowingOpener) -> Opener:
        """What opens a call's handler, with its turns recorded."""

        async def recorded(customer: CustomerId, call: CallId, named: Locale | None) -> TurnHandler:
            handler = await inner(customer, call, named)
            locale = handler.locale
            if not await self._has_room():
                return handler
            head = RecordingHead(
                call=call,
                locale=locale,
                started_at=self._clock.now(),
                subject=self._keys.subject(customer),
                seed=self._keys.seed().hex(),
            )
            facts = facts_of(handler.caller, locale)
            recorder = CallRecorder(self._folder / call, head, self._keys, self._clock, self._shelf, facts)
            self._recorders[call] = recorder
            recorder.shadow = None if self._shadows is None else self._shadows(head, recorder)
            return _RecordedHandler(handler, recorder, lambda: self._recorders.pop(call, None))

        return recorded

    async def _has_room(self) -> bool:
        try:
            full = await on_disk.run(ROOM_S, self._full)
        except (OSError, StoreUnavailable) as error:
            log.error("a call is not recorded: %s", error)  # noqa: TRY400 - its cause is known
            return False
        if full:
            log.warning("calls are no longer recorded: the folder holds %d", MAX_CALLS)
        return not full

    def _full(self) -> bool:
        return sum(1 for _ in self._folder.iterdir()) >= MAX_CALLS


class _RecordedRecognizer:
    """Passes everything on and keeps the samples of finals."""

    def __init__(self, inner: Recognizer, shelf: SampleShelf) -> None:
        self._inner = inner
        self._shelf = shelf

    async def transcribe(
        self,
        samples: Samples,
        locale: Locale,
        decode: Decode,
        *,
        wordings: Wordings | None = None,
    ) -> Transcript:
        transcript = await self._inner.transcribe(samples, locale, decode, wordings=wordings)
        return self._shelf.put(transcript, samples) if decode.final else transcript

    async def onward(self, samples: Samples, heard: Transcript) -> Onward | None:
        return await self._inner.onward(samples, heard)

    async def warm_up(self) -> None:
        await self._inner.warm_up()

    async def close(self) -> None:
        await self._inner.close()


class _RecordedHandler:
    """Passes everything on and tells the recorder of taken turns, answered or not."""

    def __init__(self, inner: TurnHandler, recorder: CallRecorder, over: Callable[[], object]) -> None:
        self._inner = inner
        self._shadow = recorder.shadow
        self._taken: ReplyId | None = None
        self._over = over
        self._recorder = recorder

    def interpret(self, transcript: Transcript) -> Interpretation:
        return self._inner.interpret(transcript)

    def wordings(self, transcript: Transcript) -> tuple[str, ...]:
        return self._inner.wordings(transcript)

    def foreseen(self, words: Transcript | Interpretation, *, whole: bool) -> str:
        return self._inner.foreseen(words, whole=whole)

    @property
    def locale(self) -> Locale:
        return self._inner.locale

    @property
    def owes(self) -> bool:
        return self._inner.owes

    async def take(
        self, transcript: Transcript, reply: ReplyId, turn: Amendable | None = None
    ) -> AsyncIterator[ReplyEvent]:
        events: list[ReplyEvent] = []
        error = None
        self._taken = reply
        inner = self._inner.take(transcript, reply, turn)
        try:
            async for event in inner:
                events.append(event)
                yield event
        except TellerlineError as raised:
            error = raised.code
            raise
        finally:
            if isinstance(inner, AsyncGenerator):
                await inner.aclose()
            await self._recorder.turn(transcript, events, error, reply)

    def failed(self, error: TellerlineError, reply: ReplyId) -> AsyncIterator[ReplyEvent]:
        return self._inner.failed(error, reply)

    async def withdraw(self, reply: ReplyId) -> bool:
        undone = await self._inner.withdraw(reply)
        if undone and reply == self._taken:
            if self._shadow is not None:
                self._shadow.withdrawn()
            await self._recorder.withdrawn()
        return undone

    async def delivered(self, reply: ReplyId) -> None:
        await self._inner.delivered(reply)
        if self._shadow is not None:
            self._shadow.heard(reply, whole=True)

    async def interrupted(self, reply: ReplyId) -> None:
        await self._inner.interrupted(reply)
        if self._shadow is not None:
            self._shadow.heard(reply, whole=False)

    def silence(self, reply: ReplyId) -> AsyncIterator[ReplyEvent]:
        if self._shadow is not None:
            self._shadow.silence(reply)
        return self._inner.silence(reply)

    def welcome(self, reply: ReplyId, locale: Locale) -> AsyncIterator[ReplyEvent]:
        return self._inner.welcome(reply, locale)

    def greeting(self, reply: ReplyId, locale: Locale) -> AsyncIterator[ReplyEvent] | None:
        greeted = self._inner.greeting(reply, locale)
        if greeted is not None and self._shadow is not None:
            self._shadow.leave("resumed")  # what the call before left is known here alone
        return greeted

    @property
    def has_news(self) -> bool:
        return self._inner.has_news

    def news(self, reply: ReplyId) -> AsyncIterator[ReplyEvent]:
        return self._inner.news(reply)

    async def close(self, *, hung_up: bool = False) -> None:
        self._over()
        if self._shadow is not None:
            self._shadow.over()
        await self._inner.close(hung_up=hung_up)
