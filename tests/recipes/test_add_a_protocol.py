"""deploy/newcomers.md, "Add a telephone protocol": a line of mu-law and keys, on the whole application."""

import asyncio
import contextlib
from pathlib import Path

import numpy as np
import soxr
from websockets.asyncio.client import ClientConnection, connect

from schemas.audio import SAMPLE_RATE, Samples
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.gateway import clip, hiss
from tests.harness.served import served
from tests.recipes import raw_line

FRAME_S = 0.02


def mulaw(samples: Samples) -> bytes:
    """G.711 at 8 kHz, by its formula."""
    narrow = np.clip(soxr.resample(samples, SAMPLE_RATE, 8_000), -1, 1) * 32_635
    size = np.abs(narrow.astype(np.int32)) + 132
    exponent = np.floor(np.log2(size)).astype(np.int32) - 7
    mantissa = (size >> (exponent + 3)) & 0x0F
    sign = np.where(narrow < 0, 0x80, 0)
    return (~(sign | exponent << 4 | mantissa) & 0xFF).astype(np.uint8).tobytes()


async def speak(line: ClientConnection, *said: Samples) -> None:
    """Utterances at real time, and the line's noise without end."""
    sound = mulaw(np.concatenate([*said, hiss(30.0)]))
    step = int(8_000 * FRAME_S)
    for start in range(0, len(sound), step):
        await line.send(sound[start : start + step])
        await asyncio.sleep(FRAME_S)


async def test_a_caller_asks_by_telephone_and_is_answered(quick_folder: Path) -> None:
    recognizer = FakeRecognizer(lambda seconds: "what is my balance" if seconds > 0.5 else "")
    async with served(quick_folder, recognizer, further=(raw_line.routes,)) as running:
        url = running.calls.replace("/v1/calls", "/v1/raw")
        async with connect(url, additional_headers=running.token("alex-morgan")) as line:
            speaking = asyncio.create_task(speak(line, hiss(0.3), clip("balance")))
            heard = ""
            async with asyncio.timeout(20):
                while "checking" not in heard:
                    heard = str(await line.recv())
            speaking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await speaking
        assert "17,860 dollars" in heard
