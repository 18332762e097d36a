"""Recording a live call, where the caller agreed: a folder that `tellerline label from-recording` makes a test of.

The folder holds `recording.json` (RecordingHead) and, sealed, a RecordedTurn and a FLAC file a turn. Keyed digits,
spoken codes and account numbers are withheld, sound and words alike. Recording is two decorators, so the call itself
knows nothing of it: the recogniser's keeps the samples of every final decode, the handler's says what became of them.
"""

import asyncio
import io
import logging
import re
import secrets
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

import av
import numpy as np
from pydantic import BaseModel, ConfigDict

from app.qa.sealed import SEED_BYTES, SealedFolder
from schemas.audio import SAMPLE_RATE, Samples
from schemas.errors import NotAllowed, TellerlineError
from schemas.ids import CallId, CustomerId, Locale
from schemas.span import SpanKind
from schemas.transcript import Source, Transcript
from schemas.turn import Completeness, Decided, Normalized, ReplyEvent, ReplyId, ReplyText
from services.guard.audit import AuditKeys
from services.ports import Clock, Recognizer, TurnHandler

log = logging.getLogger(__name__)

Opener = Callable[[CustomerId, CallId, Locale], Awaitable[TurnHandler]]
"""Opens the turn handler of a call."""
HEAD_FILE: Final = "recording.json"
MAX_TURNS: Final = 60
"""Turns kept of one call; what follows is not recorded."""
MAX_CALLS: Final = 10_000
"""Recordings kept in a folder; past it, calls are no longer recorded."""
_WAITING: Final = 64
"""Final decodes, of all calls together, whose samples wait for their turn; the oldest make room."""
_SECRET_KINDS: Final = frozenset({SpanKind.DIGITS})
_LONG_NUMBER: Final = re.compile(r"\d[\d\s-]{5,}\d")


class RecordingHead(BaseModel):
    """What the folder is. `consent` and `redacted` are always true: the format has no place for anything else.

    `subject` is the customer's pseudonym and `seed` (hex) this recording's part of the key that seals it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["tellerline.recording@2"] = "tellerline.recording@2"
    call: str
    locale: str
    started_at: datetime
    subject: str
    seed: str
    consent: Literal[True] = True
    redacted: Literal[True] = True

    def sealed(self, folder: Path, keys: AuditKeys) -> SealedFolder:
        """The recording's files, in the folder where it is."""
        return SealedFolder(folder, keys, self.subject, bytes.fromhex(self.seed))


class RecordedTurn(BaseModel):
    """One turn as it was answered. `audio` and `text` are empty where `withheld`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    turn: int
    at: datetime
    source: Source
    audio: str | None = None
    text: str = ""
    withheld: bool = False
    intent: str | None = None
    route: str | None = None
    decision: str | None = None
    reply: str | None = None
    error: str | None = None


class Shelf:
    """The samples of final decodes, until the turns they belong to are taken. Found by the very transcript object."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[Transcript, Samples]] = deque(maxlen=_WAITING)

    def put(self, transcript: Transcript, samples: Samples) -> None:
        """Keep a decode's samples."""
        self._waiting.append((transcript, samples.copy()))

    def relabel(self, heard: Transcript, transcript: Transcript) -> None:
        """What was heard as one transcript is taken as another."""
        pairs = ((transcript if kept is heard else kept, samples) for kept, samples in self._waiting)
        self._waiting = deque(pairs, maxlen=_WAITING)

    def take(self, transcript: Transcript) -> Samples | None:
        """The samples of `transcript`, which leave the shelf."""
        found = next((entry for entry in self._waiting if entry[0] is transcript), None)
        if found is None:
            return None
        self._waiting = deque((entry for entry in self._waiting if entry is not found), maxlen=_WAITING)
        return found[1]


class Recordings:
    """Records a gateway's calls below `folder`. Made only where every caller agreed to it; `consent` says so."""

    def __init__(self, folder: Path, clock: Clock, keys: AuditKeys, *, consent: bool) -> None:
        if not consent:
            raise NotAllowed("calls are recorded only with consent")
        self._folder = folder
        self._clock = clock
        self._keys = keys
        self._shelf = Shelf()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def recognizer(self, inner: Recognizer) -> Recognizer:
        """The recogniser, with its final decodes kept for their turns."""
        return _RecordedRecognizer(inner, self._shelf)

    def opener(self, inner: Opener) -> Opener:
        """What opens a call's handler, with its turns recorded."""

        async def recorded(customer: CustomerId, call: CallId, locale: Locale) -> TurnHandler:
            handler = await inner(customer, call, locale)
            if await asyncio.to_thread(self._full):
                log.warning("calls are no longer recorded: the folder holds %d", MAX_CALLS)
                return handler
            head = RecordingHead(
                call=call,
                locale=locale,
                started_at=self._clock.now(),
                subject=self._keys.subject(customer),
                seed=secrets.token_hex(SEED_BYTES),
            )
            recorder = CallRecorder(self._folder / call, head, self._keys, self._clock, self._shelf)
            return _RecordedHandler(handler, recorder, self._shelf)

        return recorded

    def _full(self) -> bool:
        return sum(1 for _ in self._folder.iterdir()) >= MAX_CALLS


class CallRecorder:
    """Records one call into `folder`. Whatever fails in it ends the recording, never the call."""

    def __init__(self, folder: Path, head: RecordingHead, keys: AuditKeys, clock: Clock, shelf: Shelf) -> None:
        self._folder = folder
        self._head = head
        self._sealed = head.sealed(folder, keys)
        self._clock = clock
        self._shelf = shelf
        self._turns = 0

    async def turn(self, transcript: Transcript, events: list[ReplyEvent], error: str | None) -> None:
        """Write a turn, off the event loop."""
        samples = self._shelf.take(transcript)
        if self._turns >= MAX_TURNS:
            return
        self._turns += 1
        try:
            await asyncio.to_thread(self._write, self._turns, transcript, samples, events, error)
        except Exception as failed:
            log.exception("a recording ends early: %s", type(failed).__name__)
            self._turns = MAX_TURNS

    def _write(
        self, number: int, transcript: Transcript, samples: Samples | None, events: list[ReplyEvent], error: str | None
    ) -> None:
        if number == 1:
            self._folder.mkdir(parents=True)
            (self._folder / HEAD_FILE).write_text(self._head.model_dump_json(indent=2) + "\n", encoding="utf-8")
        withheld = is_secret(transcript, events)
        audio = None
        if samples is not None and not withheld:
            audio = f"turn-{number:02d}.flac"
            self._sealed.write(audio, flac(samples))
        decided = next((e for e in reversed(events) if isinstance(e, Decided)), None)
        turn = RecordedTurn(
            turn=number,
            at=self._clock.now(),
            source=transcript.source,
            audio=audio,
            text="" if withheld else transcript.text,
            withheld=withheld,
            intent=decided.understood.intent if decided else None,
            route=decided.understood.route if decided else None,
            decision=decided.decision.kind if decided else None,
            reply=next((e.template for e in events if isinstance(e, ReplyText) and e.template), None),
            error=error,
        )
        self._sealed.write(f"turn-{number:02d}.json", turn.model_dump_json(exclude_defaults=True).encode())


def is_secret(transcript: Transcript, events: list[ReplyEvent]) -> bool:
    """Whether a turn holds keyed digits, a code, or a number long enough to be an account's or a card's.

    Words that were never looked at, since something failed before, may hold anything.
    """
    spans = next((e.spans for e in events if isinstance(e, Normalized)), None)
    decided = [e.understood.slots.digits for e in events if isinstance(e, Decided)]
    return (
        transcript.source is Source.DTMF
        or spans is None
        or any(slot is not None for slot in decided)
        or any(span.kind in _SECRET_KINDS for span in spans)
        or _LONG_NUMBER.search(transcript.text) is not None
    )


def flac(samples: Samples) -> bytes:
    """Mono samples at 16 kHz as a FLAC file."""
    file = io.BytesIO()
    with av.open(file, "w", format="flac") as container:
        stream = container.add_stream("flac", rate=SAMPLE_RATE, layout="mono")
        pcm = (np.clip(samples, -1, 1) * 32_767).astype(np.int16).reshape(1, -1)
        frame = av.AudioFrame.from_ndarray(pcm, format="s16", layout="mono")
        frame.sample_rate = SAMPLE_RATE
        container.mux([*stream.encode(frame), *stream.encode(None)])
    return file.getvalue()


class _RecordedRecognizer:
    """Passes everything on and keeps the samples of finals."""

    def __init__(self, inner: Recognizer, shelf: Shelf) -> None:
        self._inner = inner
        self._shelf = shelf

    async def transcribe(
        self, samples: Samples, locale: Locale, *, final: bool, confirming: bool = False
    ) -> Transcript:
        transcript = await self._inner.transcribe(samples, locale, final=final, confirming=confirming)
        if final:
            self._shelf.put(transcript, samples)
        return transcript

    async def warm_up(self) -> None:
        await self._inner.warm_up()

    async def close(self) -> None:
        await self._inner.close()


class _RecordedHandler:
    """Passes everything on and tells the recorder of taken turns, answered or not."""

    def __init__(self, inner: TurnHandler, recorder: CallRecorder, shelf: Shelf) -> None:
        self._inner = inner
        self._recorder = recorder
        self._shelf = shelf

    def rescore(self, transcript: Transcript) -> Transcript:
        rescored = self._inner.rescore(transcript)
        self._shelf.relabel(transcript, rescored)
        return rescored

    def judge(self, transcript: Transcript) -> Completeness:
        return self._inner.judge(transcript)

    def speculate(self, transcript: Transcript) -> None:
        self._inner.speculate(transcript)

    async def take(self, transcript: Transcript, reply: ReplyId) -> AsyncIterator[ReplyEvent]:
        events: list[ReplyEvent] = []
        error = None
        inner = self._inner.take(transcript, reply)
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
            await self._recorder.turn(transcript, events, error)

    def failed(self, error: TellerlineError, reply: ReplyId) -> AsyncIterator[ReplyEvent]:
        return self._inner.failed(error, reply)

    async def withdraw(self, reply: ReplyId) -> bool:
        return await self._inner.withdraw(reply)

    async def delivered(self, reply: ReplyId) -> None:
        await self._inner.delivered(reply)

    async def interrupted(self, reply: ReplyId) -> None:
        await self._inner.interrupted(reply)

    def silence(self, reply: ReplyId) -> AsyncIterator[ReplyEvent]:
        return self._inner.silence(reply)

    def greeting(self, reply: ReplyId, locale: Locale) -> AsyncIterator[ReplyEvent] | None:
        return self._inner.greeting(reply, locale)

    async def close(self, *, hung_up: bool = False) -> None:
        await self._inner.close(hung_up=hung_up)
