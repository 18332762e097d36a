"""A line that must not be quiet gets silence while nothing is said; any other is sent nothing."""

import asyncio

import pytest

from app.transports.telephone.audiosocket import AudioSocket
from app.transports.telephone.line import Act, Playing
from app.transports.telephone.speaking import Speaking
from schemas.audio import AudioFormat, Encoding
from services.timing.clock import SystemClock

FORM = AudioFormat(Encoding.PCM16, 8_000)


@pytest.mark.parametrize(("quiet_ms", "least", "most"), [(50, 3, 8), (0, 0, 0)])
async def test_silence_is_sent_where_a_line_wants_it(quiet_ms: int, least: int, most: int) -> None:
    sent: list[Act] = []

    async def act(word: Act) -> None:
        sent.append(word)

    async def heard(_: object) -> None:
        raise AssertionError("nothing was said")

    playing = Playing(FORM, lead_ms=0, marks=False, quiet_ms=quiet_ms)
    speaking = Speaking(AudioSocket(), playing, SystemClock(), act, heard)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.4):
            await speaking.play()
    assert least <= len(sent) <= most
    assert set(sent) <= {b"\x10\x01\x40" + bytes(320)}
