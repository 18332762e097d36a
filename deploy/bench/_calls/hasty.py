"""Calls faster than real time: all of their audio at once. Some are answered, in others the caller is less patient."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import numpy as np
from websockets.exceptions import InvalidStatus

from app.client import Line, line, session
from deploy.bench._calls.corpus import PlayedUtterance
from schemas.audio import SAMPLE_RATE, Samples

CHUNK: Final = SAMPLE_RATE // 5
QUIET_S: Final = 2.0
ANSWER_S: Final = 30.0
ANSWERED: Final = "tellerline.timings"
"""Comes last, and not after what a call is greeted with: a transfer that a dropped one left to be confirmed."""
_UNAUTHENTICATED: Final = 401

Call = Callable[[str, str, PlayedUtterance], Awaitable[bool]]
"""Given a service, a credential and what to say: whether the service did what it must."""


async def answered(base: str, credential: str, said: PlayedUtterance) -> bool:
    """The caller listens to the answer, then hangs up."""
    async with line(base, credential, session(said.locale), live=False) as opened:
        await _say(opened, said.samples)
        return await _heard(opened, ANSWERED)


async def barges_in(base: str, credential: str, said: PlayedUtterance) -> bool:
    """The caller speaks over the answer, which stops; another one follows, unless the first one ended the call."""
    async with line(base, credential, session(said.locale), live=False) as opened:
        await _say(opened, said.samples)
        await _heard(opened, ANSWERED)
        await _say(opened, said.samples)
        stopped = await _heard(opened, "tellerline.reply.interrupted")
        await _heard(opened, ANSWERED)
        return stopped


async def hangs_up(base: str, credential: str, said: PlayedUtterance) -> bool:
    """The caller hangs up in the middle of a sentence, before anything was answered."""
    async with line(base, credential, session(said.locale), live=False) as opened:
        await _say(opened, said.samples[: said.samples.size // 2], quiet_s=0.0)
        return await _heard(opened, "input_audio_buffer.speech_started")


async def drops(base: str, credential: str, said: PlayedUtterance) -> bool:
    """The line goes dead while the answer is being given."""
    async with line(base, credential, session(said.locale), live=False) as opened:
        await _say(opened, said.samples)
        began = await _heard(opened, "response.created")
        opened.drop()
        return began


async def babbles(base: str, credential: str, said: PlayedUtterance) -> bool:
    """The client sends what is no event, and is told so."""
    async with line(base, credential, session(said.locale), live=False) as opened:
        await opened.send({"type": "no.such.event"})
        return await _heard(opened, "error")


async def refused(base: str, credential: str, said: PlayedUtterance) -> bool:
    """The credential is worth nothing."""
    try:
        async with line(base, credential[:-8] + "AAAAAAAA", session(said.locale), live=False):
            return False
    except InvalidStatus as refusal:
        return refusal.response.status_code == _UNAUTHENTICATED


MIX: Final[tuple[Call, ...]] = (answered, hangs_up, answered, barges_in, answered, drops, answered, refused, babbles)
"""How callers behave, one after another: less than half of them as one would wish."""


async def call_hastily(base: str, credential: str, said: PlayedUtterance, how: Call) -> bool:
    """Whether the service did what it must, in time."""
    try:
        async with asyncio.timeout(ANSWER_S):
            return await how(base, credential, said)
    except TimeoutError:
        return False


async def _say(opened: Line, samples: Samples, quiet_s: float = QUIET_S) -> None:
    lead, quiet = (np.zeros(round(s * SAMPLE_RATE), dtype=np.float32) for s in (QUIET_S / 4, quiet_s))
    sound = np.concatenate((lead, samples, quiet))
    for start in range(0, sound.size, CHUNK):
        await opened.push(sound[start : start + CHUNK])


async def _heard(opened: Line, kind: str) -> bool:
    """Whether an event of this kind comes before the call is over."""
    async for event in opened.events():
        if event["type"] == kind:
            return True
    return False
