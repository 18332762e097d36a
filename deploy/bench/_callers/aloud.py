"""A call whose sentences are spoken in real time, as into an open microphone."""

import asyncio
import contextlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from app.client import FRAME, heard_out
from deploy.bench._callers.call import IncomingReply, TypedCall
from deploy.bench._callers.hear import ReplyHeard
from deploy.bench._callers.outcome import CODE
from deploy.bench._callers.told import note
from deploy.bench._callers.voice import spoken
from deploy.bench._calls.corpus import LEAD_S, PlayedUtterance
from deploy.bench._calls.oracle import stamped
from schemas.audio import SAMPLE_RATE

PATIENCE_S: Final = 12.0
"""Longest wait for an answer after a sentence; a caller who hears nothing says something again."""
_CUT: Final = 0.8
"""A turn that ends before so much of the voice cut it off."""


@dataclass(frozen=True, slots=True)
class Aloud:
    """How callers speak: in which voice, and where an oracle is told what they say, if one listens."""

    voice: str
    notes: Path | None = None


@dataclass(slots=True)
class FrameStamps:
    """Marks the frames of what is being said, so that an oracle knows it; those of silence are left as they are."""

    key: int = 0
    first: int = 0
    last: int = -1

    def __call__(self, pcm: bytes, number: int) -> bytes:
        """A frame of PCM16 on its way out."""
        inside = self.first <= number <= self.last
        return stamped(self.key, pcm, number - self.first) if inside else pcm


@dataclass(slots=True)
class SpokenCall(TypedCall):
    """A call in which sentences are spoken; one-time codes are typed."""

    stamps: FrameStamps = field(default_factory=FrameStamps)
    aloud: Aloud = field(default_factory=lambda: Aloud(""))

    async def say(self, text: str) -> ReplyHeard:
        """Speak a sentence, hear the answer to all of it out, and tell what it was."""
        if text == CODE:
            return await TypedCall.say(self, text)
        said = await asyncio.to_thread(spoken, self.aloud.voice, text, self.customer)
        if self.aloud.notes is not None:
            note(self.aloud.notes, said)
        lead = np.zeros(round(LEAD_S * SAMPLE_RATE), dtype=np.float32)
        samples = np.concatenate((lead, said.samples))
        begins_s = self.opened.say(samples) - self.opened.started
        first = round(begins_s * SAMPLE_RATE) // FRAME
        self.stamps.key, self.stamps.first = said.key, first
        self.stamps.last = first + samples.size // FRAME + 1
        heard = IncomingReply()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(samples.size / SAMPLE_RATE + PATIENCE_S):
                await self._listen(heard, (begins_s + LEAD_S) * 1000, said)
        return heard.answer(self.ear, self.orders)

    async def _listen(self, heard: IncomingReply, begins_ms: float, said: PlayedUtterance) -> None:
        """Until the turn that holds the last sound was answered, or nobody minds it."""
        late_ms = begins_ms + said.voiced_s * 1000 * _CUT
        last_ms, open_replies = 0.0, 0
        async for event in self.opened.events():
            heard.take(event, self.orders)
            match event["type"]:
                case "tellerline.turn.ended":
                    last_ms = event["voiced_until_ms"]
                case "response.created":
                    open_replies += 1
                case "response.done":
                    open_replies -= 1
                    await self.opened.send(heard_out(event["response"]["id"]))
                case "tellerline.turn.discarded" if event.get("reason") == "courtesy":
                    return
            if last_ms >= late_ms and event["type"] == "tellerline.timings" and not open_replies:
                return
