"""One measured call: a recording at real-time pace over a real WebSocket, every event with its time of arrival."""

import asyncio
import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np

from app.client import Event, Line, Microphone, Transport, line, session
from deploy.bench._calls.corpus import LEAD_S, PlayedUtterance
from deploy.bench._calls.first_sound import FirstSound
from deploy.bench._calls.oracle import stamped
from schemas.audio import SAMPLE_RATE

TAIL_S: Final = 6.0
"""Longest wait after it."""


@dataclass(slots=True)
class Measured:
    """One call's outcome. Times are milliseconds from the acoustic moment of the last voiced sample."""

    utterance: PlayedUtterance
    first_ms: float | None = None
    sound_ms: float | None = None
    """First audible sample of the reply, where it is spoken."""
    reply: str | None = None
    """The reply that was decided on, by its id; where that followed from an action, the decision and the intent."""
    final_ms: float | None = None
    partial_ms: float | None = None
    """First partial, from the first voiced sample."""
    cut: bool = False
    merged: bool = False
    polite: bool = False
    """What was cut off was only "please": the answer went on over it."""
    transcript: str = ""
    endings: list[str] = field(default_factory=list)
    """The rule that ended each turn."""
    moments: Mapping[str, float] = field(default_factory=dict)
    stages: Mapping[str, float] = field(default_factory=dict)

    @property
    def mouth_ms(self) -> float | None:
        """First audible sample, from when the reply's words were known."""
        return None if self.sound_ms is None or self.first_ms is None else self.sound_ms - self.first_ms

    def as_dict(self) -> dict[str, Any]:
        """For a line of JSON: everything but the sound."""
        said = self.utterance
        mine = {name: getattr(self, name) for name in self.__slots__ if name != "utterance"}
        return {"words": said.words, "voice": said.voice, "locale": said.locale, "pause_s": said.pause_s} | mine


@dataclass(slots=True)
class _Received:
    at: float
    event: Event


@dataclass(frozen=True, slots=True)
class Way:
    """How is called: the session's turn_detection, the door, and whether a reply is listened to as sound.

    Who agrees to be `recorded` is heard by the service's shadow too, where it has one.
    """

    detection: Event
    transport: Transport = Transport.CALLS
    spoken: bool = False
    recorded: bool = False


async def measure(base: str, credential: str, utterance: PlayedUtterance, way: Way) -> Measured:
    """Play one utterance and time what comes back."""
    setup = session(utterance.locale, "estimated", way.detection, spoken=way.spoken, recorded=way.recorded)
    microphone = Microphone(utterance.key, partial(stamped, utterance.key))
    heard: list[_Received] = []
    async with line(base, credential, setup, microphone, transport=way.transport) as opened:
        lead = np.zeros(round(LEAD_S * SAMPLE_RATE), dtype=np.float32)
        start = opened.say(np.concatenate((lead, utterance.samples))) + LEAD_S
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LEAD_S + utterance.samples.size / SAMPLE_RATE + TAIL_S):
                await _listen(opened, heard, utterance, spoken=way.spoken)
    return _judge(utterance, heard, start)


async def _listen(opened: Line, heard: list[_Received], utterance: PlayedUtterance, *, spoken: bool) -> None:
    """Keep events until the turn that holds the last sound was answered in full; a `spoken` answer, until it sounds."""
    last_ms, sound = 0, FirstSound()
    async for event in opened.events():
        heard.append(_Received(time.monotonic(), event))
        if event["type"] == "tellerline.turn.ended":
            last_ms, sound = event["voiced_until_ms"], FirstSound()
        sound.take(event, heard[-1].at)
        if spoken and sound.at is not None and last_ms >= utterance.late_ms:
            return
        if _polite(event) or (event["type"] == "tellerline.timings" and last_ms >= utterance.late_ms):
            return


def _polite(event: Event) -> bool:
    return (event["type"], event.get("reason")) == ("tellerline.turn.discarded", "courtesy")


def _judge(utterance: PlayedUtterance, heard: list[_Received], start: float) -> Measured:
    found, spoken = Measured(utterance), start + utterance.voiced_s
    late_ms = utterance.late_ms
    ended_at = None
    for one in heard:
        kind, event = one.event["type"], one.event
        if kind == "tellerline.transcript.partial" and found.partial_ms is None:
            found.partial_ms = (one.at - start - utterance.parts[0].start_s) * 1000
        elif kind == "tellerline.turn.ended":
            found.endings.append(event["rule"])
            found.cut = found.cut or event["voiced_until_ms"] < late_ms
            ended_at = one.at if event["voiced_until_ms"] >= late_ms else None
        elif kind == "tellerline.turn.merged":
            found.merged = True
        elif _polite(event):
            found.polite = True
        elif kind == "conversation.item.input_audio_transcription.completed" and ended_at is not None:
            found.final_ms, found.transcript = (one.at - spoken) * 1000, event["transcript"]
        elif kind == "response.created" and ended_at is not None and found.first_ms is None:
            found.first_ms = (one.at - spoken) * 1000
        elif kind == "tellerline.decision" and ended_at is not None:
            found.reply = event["reply"] or f"{event['decision']}.{event['intent']}"
        elif kind == "tellerline.timings" and ended_at is not None:
            found.moments, found.stages = event["moments"], event["stages"]
    sounded = _sounded(heard, late_ms)
    found.sound_ms = None if sounded is None else (sounded - spoken) * 1000
    return found


def _sounded(heard: list[_Received], late_ms: float) -> float | None:
    """When the answer to the turn that holds the last sound was first audible."""
    sound: FirstSound | None = None
    for one in heard:
        if one.event["type"] == "tellerline.turn.ended":
            sound = FirstSound() if one.event["voiced_until_ms"] >= late_ms else None
        elif sound is not None:
            sound.take(one.event, one.at)
    return None if sound is None else sound.at
