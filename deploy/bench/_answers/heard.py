"""Answers to a read-back, each in a call of its own: spoken over a WebSocket, or as fast as it goes in process."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import orjson

from app.client import FRAME, Event, Line, Microphone, heard_out, line, session, typed
from app.qa.rehearsal import Rehearsal
from app.transports.events.encode import Encoder
from deploy.bench._answers.phone import CallersPhone
from deploy.bench._answers.said import AnswerCase
from deploy.bench._calls.corpus import LEAD_S, PlayedUtterance
from deploy.bench._calls.oracle import stamped
from deploy.bench._calls.taken import NOW
from schemas.audio import SAMPLE_RATE
from schemas.call import AudioIn, CallConfig, CallInput, PlaybackIn, PlaybackState, TypedIn
from schemas.ids import CustomerId, Locale
from schemas.turn import ReplyId
from services.audio.vad import SileroVad
from services.call import CallPorts, LiveCall, OutboundQueue
from services.ports import Recognizer, TurnHandler
from services.timing.clock import ManualClock

QUIET_S: Final = 2.5
"""A call in which nothing has happened for so long after the answer is over: longer than any wait."""
LONGEST_S: Final = 25.0
"""Of a call, after the answer."""
CALL_S: Final = 120.0
_FRAMES: Final = 2


@dataclass(frozen=True, slots=True)
class AnswerTimes:
    """What one answer came to. Times are seconds from its last voiced sample."""

    case: AnswerCase
    moved_s: float | None
    told_s: float | None
    early: bool
    """Money moved before the caller had said all."""
    times_moved: int
    outcome_heard: bool
    transcripts: tuple[str, ...]
    replies: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """For a line of JSON."""
        said = self.case
        head = {"words": said.words, "voice": said.voice, "kind": said.kind, "pause_s": said.pause_s}
        head |= {"locale": said.locale, "moves": said.moves, "unseen": said.unseen}
        return head | {name: getattr(self, name) for name in self.__slots__ if name != "case"}


class _Listening:
    """One call as its caller sees it; `end_s` is when the answer's last voiced sample was said, once that is known."""

    def __init__(self, case: AnswerCase, utterance: PlayedUtterance) -> None:
        self.case = case
        self.utterance = utterance
        self.phone = CallersPhone(Locale(case.locale))
        self.end_s = float("inf")

    def over(self, now_s: float) -> bool:
        """Whether nothing more will happen."""
        if now_s > self.end_s + LONGEST_S:
            return True
        quiet = now_s >= max(self.phone.last_s, self.end_s) + QUIET_S
        return quiet and (not self.phone.playing or not self.phone.moved_s)

    def answered(self, begins_ms: float) -> AnswerTimes:
        """`begins_ms`: of the call's audio, when the answer began. A turn that ends before its last part lacks it."""
        parts = self.utterance.parts
        late_ms = begins_ms + parts[-1].start_s * 1000 if len(parts) > 1 else 0.0
        phone, end_s = self.phone, self.end_s
        moved = phone.moved_s[0] if phone.moved_s else None
        spoken = [turn for turn in phone.turns if turn["source"] == "speech"]
        cut = moved is not None and not any(turn["voiced_until_ms"] >= late_ms for turn in spoken)
        return AnswerTimes(
            self.case,
            None if moved is None else moved - end_s,
            None if phone.told_s is None else phone.told_s - end_s,
            moved is not None and (moved < end_s or cut),
            len(phone.moved_s),
            phone.outcome_heard,
            tuple(phone.transcripts),
            tuple(reply.text for reply in phone.replies.values()),
        )


async def over_the_wire(base: str, credential: str, case: AnswerCase, utterance: PlayedUtterance) -> AnswerTimes:
    """In real time, against the service at `base`."""
    call = _Listening(case, utterance)
    microphone = Microphone(utterance.key, partial(stamped, utterance.key))
    async with line(base, credential, session(case.locale, "acknowledged"), microphone) as opened:
        events = opened.events()
        await opened.send(typed(case.order))
        await opened.send(heard_out(await _read_back(events)))
        lead = np.zeros(round(LEAD_S * SAMPLE_RATE), dtype=np.float32)
        begins_s = opened.say(np.concatenate((lead, utterance.samples))) + LEAD_S
        call.end_s = begins_s + utterance.voiced_s
        hearing = asyncio.create_task(_hear(call, events))
        try:
            while not call.over(time.monotonic()) and not hearing.done():
                await _acknowledge(call, opened)
                await asyncio.sleep(0.02)
        finally:
            hearing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await hearing
        return call.answered((begins_s - opened.started) * 1000)


async def _read_back(events: AsyncIterator[Event]) -> str:
    """The reply that reads the order back; what an earlier call left open may be read back before it."""
    ordered: set[str] = set()
    async for event in events:
        if event["type"] == "tellerline.decision" and event["intent"] == "transfer_money":
            ordered.add(event["response_id"])
        elif event["type"] == "response.done" and event["response"]["id"] in ordered:
            return str(event["response"]["id"])
    raise SystemExit("the service ended a call before it had read the order back")


async def _hear(call: _Listening, events: AsyncIterator[Event]) -> None:
    async for event in events:
        call.phone.take(event, time.monotonic())


async def _acknowledge(call: _Listening, opened: Line) -> None:
    for reply in call.phone.heard(time.monotonic()):
        await opened.send(heard_out(reply))


class InProcess:
    """One call in audio time, as its caller sees it: the clock moves with the sound, and waits for what goes on."""

    def __init__(self, live: LiveCall, outbound: OutboundQueue, clock: ManualClock, locale: Locale) -> None:
        self.phone = CallersPhone(locale)
        self._live = live
        self._outbound = outbound
        self._clock = clock
        self._encoder = Encoder(clock, "bench")
        self._microphone = Microphone()

    @property
    def now_s(self) -> float:
        """The call's clock."""
        return self._clock.monotonic()

    async def put(self, given: CallInput | None = None) -> None:
        """Do something, let all that comes of it happen, and let the telephone play."""
        if given is not None:
            await self._live.put(given)
        await self._live.settled()
        while len(self._outbound):
            event = await self._outbound.get()
            for message in self._encoder.encode(event) if event is not None else ():
                self.phone.take(orjson.loads(message), self.now_s)
        for reply in self.phone.heard(self.now_s):
            await self._live.put(PlaybackIn(ReplyId(reply), PlaybackState.COMPLETED))
            await self._live.settled()

    def say(self, utterance: PlayedUtterance) -> float:
        """Begin to speak; when the last voiced sample will have been said."""
        self._microphone = Microphone(utterance.key, partial(stamped, utterance.key))
        lead = np.zeros(round(LEAD_S * SAMPLE_RATE), dtype=np.float32)
        self._microphone.say(np.concatenate((lead, utterance.samples)))
        return self.now_s + LEAD_S + utterance.voiced_s

    async def listen(self) -> None:
        """The next 40 ms of the open microphone."""
        self._clock.advance(_FRAMES * FRAME / SAMPLE_RATE)
        await self.put(AudioIn(b"".join(self._microphone.frame() for _ in range(_FRAMES))))

    async def heard_out(self) -> None:
        """Let everything be played to its end, the microphone closed."""
        await self.put()
        while self.phone.playing:
            self._clock.advance(0.1)
            await self.put()


@asynccontextmanager
async def in_process(
    handler: TurnHandler, recognizer: Recognizer, vad: SileroVad, locale: Locale
) -> AsyncIterator[InProcess]:
    """A live call of `handler`'s that lasts as long as the block; the line is dead after it."""
    clock, outbound = ManualClock(NOW), OutboundQueue()
    live = LiveCall(CallPorts(handler, recognizer, vad, clock), outbound, CallConfig(locale), seconds=CALL_S)
    living = asyncio.create_task(live.run())
    try:
        yield InProcess(live, outbound, clock, locale)
    finally:
        living.cancel()
        await asyncio.gather(living, return_exceptions=True)


class Booth:
    """Answers in process, each in a call of its own at a bank that nobody has touched."""

    def __init__(self, rehearsal: Rehearsal, recognizer: Recognizer, vad: SileroVad) -> None:
        self._rehearsal = rehearsal
        self._recognizer = recognizer
        self._vad = vad

    async def take(self, case: AnswerCase, utterance: PlayedUtterance) -> AnswerTimes:
        """One answer."""
        listening, locale = _Listening(case, utterance), Locale(case.locale)
        async with (
            self._rehearsal.call(CustomerId(case.customer), locale, ManualClock(NOW)) as handler,
            in_process(handler, self._recognizer, self._vad, locale) as call,
        ):
            listening.phone = call.phone
            await call.put(TypedIn(case.order))
            await call.heard_out()
            listening.end_s = call.say(utterance)
            while not listening.over(call.now_s):
                await call.listen()
            return listening.answered(LEAD_S * 1000)
