"""Sound is heard as its sender says it is, or refused; and of two speakers none is guessed to be the caller."""

import io
import wave
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from app.transports.uploads import headerless, read
from schemas.audio import SAMPLE_RATE, Samples
from services.audio.codec import encode_pcm16
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.gateway import clip
from tests.harness.served import Served, served


def wav(channels: Samples) -> bytes:
    """Samples of shape (channels, n) as a file."""
    target = io.BytesIO()
    with wave.open(target, "wb") as out:
        out.setnchannels(channels.shape[0])
        out.setsampwidth(2)
        out.setframerate(SAMPLE_RATE)
        out.writeframes(encode_pcm16(channels.T.reshape(-1)))
    return target.getvalue()


@pytest.fixture
async def running(quick_folder: Path) -> AsyncIterator[Served]:
    async with served(quick_folder, FakeRecognizer(lambda seconds: f"{seconds:.1f} seconds")) as made:
        yield made


async def sent(running: Served, body: bytes, kind: str, **query: Any) -> tuple[int, str]:
    """The status, and what was heard: how long it was."""
    async with httpx.AsyncClient(base_url=running.http, headers=running.token("alex-morgan")) as client:
        params = {"locale": "en-US"} | query
        answer = await client.post("/v1/utterances", params=params, content=body, headers={"Content-Type": kind})
    told = answer.json()
    return answer.status_code, told["transcript"].rstrip(".") if answer.status_code == 200 else told["error"]["message"]


SECOND = encode_pcm16(clip("balance")[:SAMPLE_RATE])


@pytest.mark.parametrize(
    ("kind", "query", "heard"),
    [
        ("audio/L16; rate=16000", {}, "1.0 seconds"),
        ("audio/l16;rate=16000;channels=1", {}, "1.0 seconds"),
        ('audio/L16; RATE="16000"', {"rate": 16_000}, "1.0 seconds"),
        ("audio/L16", {"rate": 16_000}, "1.0 seconds"),
        ("audio/L16", {}, "2.0 seconds"),
        ("audio/L16; rate=16000; endianness=big-endian", {}, "1.0 seconds"),
        ("audio/PCMU; rate=8000", {}, "4.0 seconds"),
        ("audio/L16; rate=16000", {"rate": 8_000}, None),
        ("audio/L16; rate=fast", {}, None),
        ("audio/L16; rate=4000", {}, None),
        ("audio/L16; rate=16000; channels=2", {}, None),
        ("audio/L16; rate=16000; endianness=middle", {}, None),
        ("audio/PCMU; rate=16000", {}, None),
        ("audio/PCMA", {"rate": 16_000}, None),
    ],
)
async def test_what_the_media_type_says_is_meant_or_refused(
    running: Served, kind: str, query: dict[str, int], heard: str | None
) -> None:
    status, told = await sent(running, SECOND, kind, **query)
    assert (status, told) == (200, heard) if heard else status == 415, told


async def test_either_order_of_bytes_is_the_same_sound() -> None:
    little, big = headerless("audio/L16;rate=16000", None), headerless("audio/L16;endianness=BIG-endian", 16_000)
    swapped = np.frombuffer(SECOND, "<i2").astype(">i2").tobytes()
    assert (read(SECOND, little) == read(swapped, big)).all()


@pytest.mark.parametrize("kind", ["audio/pcmu", "audio/PCMA", "audio/L16; rate=16000"])
async def test_a_file_is_not_headerless_sound(running: Served, kind: str) -> None:
    assert (await sent(running, wav(clip("balance")[None]), kind))[0] == 415


def two(left: Samples, right: Samples) -> bytes:
    size = min(left.size, right.size)
    return wav(np.stack([left[:size], right[:size]]))


async def test_two_speakers_are_not_mixed_and_one_is_named(running: Served) -> None:
    said, other = clip("balance"), clip("yes")
    both = two(said, other)
    status, told = await sent(running, both, "audio/wav")
    assert (status, "`channel`" in told) == (415, True), told
    for channel in ("0", "1", "mix"):
        assert (await sent(running, both, "audio/wav", channel=channel))[0] == 200
    assert (await sent(running, both, "audio/wav", channel="2"))[0] == 400
    for alone in (two(said, said), two(said, said * 0), two(said * 0, said), wav(said[None])):
        assert (await sent(running, alone, "audio/wav"))[0] == 200
    assert (await sent(running, wav(said[None]), "audio/wav", channel="1"))[0] == 415
