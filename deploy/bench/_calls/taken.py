"""Utterances through a live call in process, as fast as they go: audio time alone decides where its turns end."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

import numpy as np

from app.client import FRAME, Microphone
from app.qa.rehearsal import Rehearsal
from deploy.bench._calls.corpus import LEAD_S, PlayedUtterance
from deploy.bench._calls.oracle import stamped
from schemas.audio import SAMPLE_RATE
from schemas.call import AudioIn, CallConfig, Cleared, ClearIn, Fault, Patience
from schemas.ids import EN_US, CustomerId, Locale
from schemas.turn import Discarded, Ended, Merged, ReplyDone, ReplyEvent, Waste
from services.audio.vad import SileroVad
from services.call import CallPorts, LiveCall, OutboundQueue
from services.ports import Recognizer, TurnHandler
from services.timing.clock import ManualClock

TAIL_S: Final = 2.0
"""Line noise after an utterance: longer than any wait."""
FRAMES: Final = 2
"""Of 20 ms, in a message."""
CALL_S: Final = 120.0
NOW: Final = datetime(2026, 3, 4, 12, tzinfo=UTC)


@dataclass(slots=True)
class Taken:
    """How one utterance was cut into turns. Times are milliseconds of audio."""

    utterance: PlayedUtterance
    turns: list[Ended] = field(default_factory=list)
    merged: bool = False
    polite: bool = False
    """What was cut off was only "please"."""

    @property
    def cut(self) -> bool:
        """Whether a turn ended although the caller was not done."""
        return any(turn.voiced_until_ms < self.utterance.late_ms for turn in self.turns)

    @property
    def last(self) -> Ended | None:
        """The turn that holds the last sound."""
        return self.turns[-1] if self.turns and self.turns[-1].voiced_until_ms >= self.utterance.late_ms else None

    @property
    def wait_ms(self) -> float | None:
        """From the last voiced sample to the end of its turn."""
        return self.last.ended_at_ms - (LEAD_S + self.utterance.voiced_s) * 1000 if self.last else None

    def as_dict(self) -> dict[str, Any]:
        """For a line of JSON: everything but the sound."""
        said = self.utterance
        turns = [
            {"text": t.transcript.text, "rule": t.rule, "avg_logprob": t.transcript.avg_logprob} for t in self.turns
        ]
        head = {"words": said.words, "voice": said.voice, "locale": said.locale, "pause_s": said.pause_s}
        return head | {
            "cut": self.cut,
            "merged": self.merged,
            "polite": self.polite,
            "wait_ms": self.wait_ms,
            "turns": turns,
        }


class OnlyJudges:
    """A `TurnHandler` that judges as a fresh call would, and says nothing."""

    owes = False
    locale = EN_US

    def __init__(self, handler: TurnHandler) -> None:
        self.interpret, self.wordings, self.foreseen = handler.interpret, handler.wordings, handler.foreseen

    async def _say_nothing(self, *_: object, **__: object) -> AsyncIterator[ReplyEvent]:
        yield ReplyDone()

    async def _note_nothing(self, *_: object, **__: object) -> None:
        """Nobody was told anything."""

    def greeting(self, *_: object, **__: object) -> None:
        """None."""

    has_news = False

    async def withdraw(self, *_: object, **__: object) -> bool:
        """What was not answered can be taken back."""
        return True

    take = failed = silence = news = welcome = _say_nothing
    delivered = interrupted = close = _note_nothing


class UtteranceTaker:
    """Takes utterances in, each as a call of its own. Callers' books are opened once, in `stack`."""

    def __init__(self, stack: AsyncExitStack, rehearsal: Rehearsal, recognizer: Recognizer, vad: SileroVad) -> None:
        self._stack = stack
        self._rehearsal = rehearsal
        self._recognizer = recognizer
        self._vad = vad
        self._handlers: dict[str, TurnHandler] = {}

    async def take(self, utterance: PlayedUtterance, patience: Patience) -> Taken:
        """Play one utterance over the line's noise."""
        clock = ManualClock(NOW)  # audio alone makes time pass
        outbound, locale = OutboundQueue(), Locale(utterance.locale)
        ports = CallPorts(await self._handler(utterance), self._recognizer, self._vad, clock)
        call = LiveCall(ports, outbound, CallConfig(locale, patience=patience), seconds=CALL_S)
        living, playing = asyncio.create_task(call.run()), asyncio.create_task(_play(call, utterance))
        living.add_done_callback(lambda _: outbound.close())
        try:
            async with asyncio.timeout(CALL_S):
                return await _follow(outbound, utterance)
        finally:
            for task in (living, playing):
                task.cancel()
            await asyncio.gather(living, playing, return_exceptions=True)

    async def _handler(self, utterance: PlayedUtterance) -> TurnHandler:
        if utterance.customer not in self._handlers:
            opened = self._rehearsal.call(CustomerId(utterance.customer), Locale(utterance.locale), ManualClock(NOW))
            handler = await self._stack.enter_async_context(opened)
            self._handlers[utterance.customer] = OnlyJudges(handler)
        return self._handlers[utterance.customer]


async def _play(call: LiveCall, utterance: PlayedUtterance) -> None:
    microphone = Microphone(utterance.key, partial(stamped, utterance.key))
    microphone.say(np.concatenate((np.zeros(round(LEAD_S * SAMPLE_RATE), dtype=np.float32), utterance.samples)))
    seconds = LEAD_S + utterance.samples.size / SAMPLE_RATE + TAIL_S
    for _ in range(round(seconds * SAMPLE_RATE) // (FRAME * FRAMES)):
        await call.put(AudioIn(b"".join(microphone.frame() for _ in range(FRAMES))))
    await call.put(ClearIn())


async def _follow(outbound: OutboundQueue, utterance: PlayedUtterance) -> Taken:
    """Until everything that was played has been heard."""
    taken = Taken(utterance)
    while (event := await outbound.get()) is not None and not isinstance(event, Cleared):
        if isinstance(event, Ended):
            taken.turns.append(event)
        elif isinstance(event, Merged):
            taken.merged = True
        elif isinstance(event, Discarded):
            taken.polite = taken.polite or event.reason is Waste.COURTESY
        elif isinstance(event, Fault):
            raise event.error
    return taken
