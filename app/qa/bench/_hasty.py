"""A call faster than real time: all of its audio at once, then the answer."""

import asyncio
from typing import Final

import numpy as np

from app.line import line, session
from app.qa.bench._corpus import Utterance
from schemas.audio import SAMPLE_RATE

CHUNK: Final = SAMPLE_RATE // 5
QUIET_S: Final = 2.0
ANSWER_S: Final = 30.0


async def call_hastily(base: str, credential: str, utterance: Utterance) -> bool:
    """Whether the utterance was answered."""
    quiet = np.zeros(round(QUIET_S * SAMPLE_RATE), dtype=np.float32)
    sound = np.concatenate((quiet[: SAMPLE_RATE // 2], utterance.samples, quiet))
    try:
        async with (
            asyncio.timeout(ANSWER_S),
            line(base, credential, session(utterance.locale), live=False) as opened,
        ):
            for start in range(0, sound.size, CHUNK):
                await opened.push(sound[start : start + CHUNK])
            async for event in opened.events():
                if event["type"] == "response.done":
                    return True
    except TimeoutError:
        return False
    return False
