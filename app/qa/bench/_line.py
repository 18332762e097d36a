"""One measured call: a recording at real-time pace over a real WebSocket, every event with its time of arrival."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import httpx
import numpy as np
import orjson
from websockets.asyncio.client import ClientConnection, connect

from app.qa.bench._corpus import Utterance
from schemas.audio import SAMPLE_RATE, Samples
from services.audio.codec import encode_pcm16

FRAME: Final = SAMPLE_RATE // 50
"""Samples of 20 ms."""
LEAD_S: Final = 0.6
"""Line noise before the utterance."""
TAIL_S: Final = 6.0
"""Longest wait after it."""
HISS: Final = 1e-4

Event = dict[str, Any]


@dataclass(slots=True)
class Measured:
    """One call's outcome. Times are milliseconds from the acoustic moment of the last voiced sample."""

    utterance: Utterance
    first_ms: float | None = None
    final_ms: float | None = None
    partial_ms: float | None = None
    """First partial, from the moment speech began."""
    cut: bool = False
    merged: bool = False
    transcript: str = ""
    endings: list[str] = field(default_factory=list)
    """The rule that ended each turn."""
    moments: Mapping[str, float] = field(default_factory=dict)
    stages: Mapping[str, float] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """For a line of JSON: everything but the sound."""
        said = self.utterance
        mine = {name: getattr(self, name) for name in self.__slots__ if name != "utterance"}
        return {"words": said.words, "voice": said.voice, "locale": said.locale, "pause_s": said.pause_s} | mine


@dataclass(slots=True)
class _Heard:
    at: float
    event: Event


async def token(base: str, customer: str) -> str:
    """A demo customer's token."""
    async with httpx.AsyncClient(base_url=base) as client:
        answer = await client.post("/demo/token", params={"customer": customer})
        text: str = answer.raise_for_status().json()["access_token"]
    return text


async def measure(base: str, credential: str, utterance: Utterance, detection: Event, seed: int) -> Measured:
    """Play one utterance and time what comes back. `detection` is the session's turn_detection."""
    url = f"{base.replace('http', 'ws', 1)}/v1/calls"
    async with connect(url, additional_headers={"Authorization": f"Bearer {credential}"}, compression=None) as socket:
        own = {"locale": utterance.locale, "playback": "estimated"}
        session = {"type": "realtime", "audio": {"input": {"turn_detection": detection}}, "tellerline": own}
        await socket.send(orjson.dumps({"type": "session.update", "session": session}).decode())
        heard: list[_Heard] = []
        over = asyncio.Event()
        listening = asyncio.create_task(_listen(socket, heard, over, utterance))
        try:
            start = await _play(socket, utterance, seed, over)
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
    return _judge(utterance, heard, start + LEAD_S)


async def _play(socket: ClientConnection, utterance: Utterance, seed: int, over: asyncio.Event) -> float:
    """Send every frame when its last sample would have been captured; the moment of the first sample."""
    line = _line(utterance, seed)
    start = time.monotonic()
    for number in range(line.size // FRAME):
        due = start + (number + 1) * FRAME / SAMPLE_RATE
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        if over.is_set():
            break
        await socket.send(encode_pcm16(line[number * FRAME : (number + 1) * FRAME]))
    return start


def _line(utterance: Utterance, seed: int) -> Samples:
    whole = np.random.default_rng(seed).normal(0, HISS, round((LEAD_S + TAIL_S) * SAMPLE_RATE) + utterance.samples.size)
    start = round(LEAD_S * SAMPLE_RATE)
    whole[start : start + utterance.samples.size] += utterance.samples
    return whole.astype(np.float32)


async def _listen(socket: ClientConnection, heard: list[_Heard], over: asyncio.Event, utterance: Utterance) -> None:
    """Keep events until the turn that holds the last sound was answered in full."""
    last_ms, answered = 0, False
    async for message in socket:
        event: Event = orjson.loads(message)
        heard.append(_Heard(time.monotonic(), event))
        if event["type"] == "tellerline.turn.ended":
            last_ms = event["voiced_until_ms"]
        if event["type"] == "tellerline.timings":
            answered = last_ms >= (LEAD_S + max(utterance.resumed_s, utterance.voiced_s * 0.8)) * 1000
        if answered:
            over.set()
            return


def _judge(utterance: Utterance, heard: list[_Heard], start: float) -> Measured:
    found, spoken = Measured(utterance), start + utterance.voiced_s
    middle_ms = (LEAD_S + utterance.resumed_s) * 1000 if utterance.resumed_s else 0.0
    early_ms = max(middle_ms, (LEAD_S + utterance.voiced_s * 0.8) * 1000)
    ended_at = None
    for one in heard:
        kind, event = one.event["type"], one.event
        if kind == "tellerline.transcript.partial" and found.partial_ms is None:
            found.partial_ms = (one.at - start) * 1000
        elif kind == "tellerline.turn.ended":
            found.endings.append(event["rule"])
            found.cut = found.cut or event["voiced_until_ms"] < early_ms
            ended_at = one.at if event["voiced_until_ms"] >= early_ms else None
        elif kind == "tellerline.turn.merged":
            found.merged = True
        elif kind == "conversation.item.input_audio_transcription.completed" and ended_at is not None:
            found.final_ms, found.transcript = (one.at - spoken) * 1000, event["transcript"]
        elif kind == "response.created" and ended_at is not None and found.first_ms is None:
            found.first_ms = (one.at - spoken) * 1000
        elif kind == "tellerline.timings" and ended_at is not None:
            found.moments, found.stages = event["moments"], event["stages"]
    return found
