"""Broken bridges on real sockets: each protocol's own goodbye, nothing left behind, and no money moved by it."""

import asyncio
import contextlib
import random  # noqa: TID251 - seeded where it is used
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from app.transports.live.line import MAX_REFUSED
from tests.fakes.recognizer import FakeRecognizer, orders
from tests.fakes.synthesizer import FakeSynthesizer
from tests.harness.fuzz_events import WORDS
from tests.harness.phone import Phone, calling, said
from tests.harness.phone_asterisk import AudioSocketBridge, free_port
from tests.harness.phone_fuzz import PhoneTally, one_phone_call
from tests.harness.phone_genesys import GenesysBridge
from tests.harness.phone_lines import LINES, Place, settings
from tests.harness.served import served
from tests.harness.unharmed import books_are_in_order, complaints, every_call_ended_on_record, held, left

CUSTOMERS = ("alex-morgan", "imogen-hartley", "takahashi-misaki")
CLOSED = {"twilio": "1007 malformed_message", "telnyx": "1007 malformed_message", "plivo": "1007 malformed_message"}
OWN_WORDS = CLOSED | {
    "audiosocket": "hangup",
    "asterisk-ws": "hangup",
    "asterisk-ws-plain": "hangup",
    "jambonz": "disconnect",
    "audiohook": "error",
}
"""How each protocol ends a call whose bridge does not keep to it."""


async def garbage(bridge: Any) -> None:
    """What no protocol has."""
    if isinstance(bridge, AudioSocketBridge):
        await bridge.send(0x77, b"{")
    else:
        await bridge.socket.send("{?")


async def test_nothing_but_garbage_ends_a_call_in_the_protocols_own_words(quick_folder: Path) -> None:
    audiosocket = free_port()
    given = settings(audiosocket) | {"max_calls": 64}
    async with served(quick_folder, FakeRecognizer(lambda _: ""), voice=FakeSynthesizer(10), **given) as running:
        place = Place(running.port, audiosocket)
        found = await asyncio.gather(*(ended_by_garbage(line, place) for line in LINES))
    assert dict(zip(LINES, found, strict=True)) == OWN_WORDS


async def ended_by_garbage(line: str, place: Place) -> str:
    async with LINES[line](place, CUSTOMERS[0]) as bridge, calling(bridge) as phone:
        await phone.until(lambda: bool(phone.packets))
        bridge.sound = nothing  # type: ignore[method-assign] # nor a caller
        for _ in range(MAX_REFUSED + 1):
            with contextlib.suppress(ConnectionClosed):
                await garbage(bridge)
        await phone.until(lambda: phone.over is not None)
        return ended(phone)


async def nothing(_: bytes) -> None:
    return None


STRAYS: dict[str, list[str | bytes]] = {
    "twilio": ["", "[]", b"{}", '{"event":"media","streamSid":"MZ"}', '{"event":"dtmf","dtmf":{}}', '{"event":7}'],
    "telnyx": ['{"event":"media","media":{}}', '{"event":"start"}', '{"event":"mark","mark":null}'],
    "plivo": ['{"event":"playedStream"}', '{"event":"dtmf","dtmf":null}', '{"event":"media","media":{"payload":"%"}}'],
    "asterisk-ws": ["?!", '{"event":"DTMF_END"}', '{"event":"MEDIA_START","format":"ulaw"}'],
    "jambonz": ["{?", '{"event":"dtmf"}', '{"type":"mark"}', b"\1"],
    "audiohook": [b"\1"],
    "audiosocket": [b"\x77\0\0", b"\x10\0\1\0"],
}
"""What a bridge may get wrong in a message without being lost."""


async def test_a_message_that_can_not_be_read_is_passed_over(quick_folder: Path) -> None:
    audiosocket, voice = free_port(), FakeSynthesizer(10)
    async with served(quick_folder, orders(), voice=voice, **settings(audiosocket)) as running:
        place = Place(running.port, audiosocket)
        for number, line in enumerate(STRAYS):
            async with LINES[line](place, CUSTOMERS[number % 2]) as bridge, calling(bridge) as phone:
                await phone.until(lambda: bool(phone.packets))
                for stray in STRAYS[line] * 20:
                    await stray_in(bridge, stray)
                    await bridge.sound(b"\xff" * 160)
                await phone.fallen_silent()
                greeted = len(phone.sounded)
                phone.say(said("transfer-1"))
                await phone.until(lambda: len(phone.sounded) > greeted)  # noqa: B023


async def stray_in(bridge: Any, message: str | bytes) -> None:
    if isinstance(bridge, AudioSocketBridge):
        assert isinstance(message, bytes)
        bridge.writer.write(message)
    else:
        await bridge.socket.send(message)


def ended(phone: Phone) -> str:
    """How a call was ended."""
    if isinstance(phone.bridge, GenesysBridge):
        return str((phone.bridge.disconnected or {})["reason"])
    return phone.over.words if phone.over else ""


async def fuzz(folder: Path, seed: int, calls: int, memory_mb: float) -> PhoneTally:
    """So many broken calls of every line."""
    rng, audiosocket, tally = random.Random(seed), free_port(), PhoneTally()
    heard = FakeRecognizer(lambda _: rng.choice(WORDS))
    given = settings(audiosocket) | {"max_calls": 64}
    async with (
        complaints() as faults,
        served(folder, heard, voice=FakeSynthesizer(10), **given) as running,
    ):
        place = Place(running.port, audiosocket)
        await crowd(place, rng, 1, tally)
        async with asyncio.timeout(20):
            await running.gateway.admission.empty.wait()
        before = held()
        await crowd(place, rng, calls, tally)
        assert await left(running, before, memory_mb) == []
        await books_are_in_order(running)
        await every_call_ended_on_record(running)
    assert faults.seen == []
    return tally


async def crowd(place: Place, rng: random.Random, calls: int, tally: PhoneTally) -> None:
    """Every line's calls, the lines side by side, each line's one after another."""

    async def one(at: int, line: str) -> None:
        for _ in range(calls):
            await one_phone_call(line, place, CUSTOMERS[at % len(CUSTOMERS)], rng.randrange(2**32), tally)

    await asyncio.gather(*(one(at, line) for at, line in enumerate(LINES)))


async def test_hostile_bridges_do_no_harm(quick_folder: Path) -> None:
    tally = await fuzz(quick_folder, seed=5, calls=2, memory_mb=48)
    assert tally.faults == []
    assert tally.spoilt >= tally.calls // 2


@pytest.mark.slow
@pytest.mark.timeout(1800)
async def test_a_thousand_hostile_bridges_do_no_harm(quick_folder: Path) -> None:
    tally = await fuzz(quick_folder, seed=2026, calls=125, memory_mb=64)
    assert tally.faults == []
