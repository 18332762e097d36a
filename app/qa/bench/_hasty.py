"""A call faster than real time: all of its audio at once, then the answer."""

import asyncio
from typing import Any, Final

import numpy as np
import orjson
from websockets.asyncio.client import connect

from app.qa.bench._corpus import Utterance
from schemas.audio import SAMPLE_RATE
from services.audio.codec import encode_pcm16

CHUNK: Final = SAMPLE_RATE // 5
QUIET_S: Final = 2.0
ANSWER_S: Final = 30.0


async def call_hastily(base: str, credential: str, utterance: Utterance) -> bool:
    """Whether the utterance was answered."""
    url = f"{base.replace('http', 'ws', 1)}/v1/calls"
    quiet = np.zeros(round(QUIET_S * SAMPLE_RATE), dtype=np.float32)
    line = np.concatenate((quiet[: SAMPLE_RATE // 2], utterance.samples, quiet))
    try:
        async with (
            asyncio.timeout(ANSWER_S),
            connect(url, additional_headers={"Authorization": f"Bearer {credential}"}, compression=None) as socket,
        ):
            for start in range(0, line.size, CHUNK):
                await socket.send(encode_pcm16(line[start : start + CHUNK]))
            async for message in socket:
                event: dict[str, Any] = orjson.loads(message)
                if event["type"] == "response.done":
                    return True
    except TimeoutError:
        return False
    return False
