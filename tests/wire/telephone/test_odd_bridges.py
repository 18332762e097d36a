"""What bridges do that is odd and allowed: the call goes on, and nothing that was not heard is agreed to."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from schemas.audio import SAMPLE_RATE, AudioFormat, Encoding
from schemas.ids import CustomerId
from tests.fakes.recognizer import FakeRecognizer, orders
from tests.fakes.synthesizer import FakeSynthesizer
from tests.harness.phone import (
    BOOKED,
    CUT_SHORT,
    KEYS,
    READ_BACK,
    Marked,
    Phone,
    Told,
    calling,
    said,
    settles,
    statement,
    transfers_of,
)
from tests.harness.phone_asterisk import audiosocket, free_port
from tests.harness.phone_carriers import TOKEN, TwilioBridge, twilio
from tests.harness.phone_lines import STRANGER, Place, announced, settings
from tests.harness.served import Served, served

CUSTOMER = "alex-morgan"
SETTINGS = {"ivr_keys": KEYS, "twilio_token": TOKEN}


@asynccontextmanager
async def phoning(running: Served, word: str | None = None) -> AsyncIterator[tuple[Phone, TwilioBridge]]:
    given = {"statement": word or statement(CUSTOMER)}
    async with twilio(running.port, given) as bridge, calling(bridge) as phone:
        yield phone, bridge


def hasty(bridge: TwilioBridge) -> None:
    """It tells of a mark as soon as it has it, as simulators and some gateways do."""
    plain = bridge.told

    async def told() -> AsyncIterator[Told]:
        async for one in plain():
            if isinstance(one, Marked):
                await bridge.marked(one.name)
            yield one

    bridge.told = told  # type: ignore[method-assign] # another gateway's way


async def test_marks_that_come_before_the_sound_can_have_been_heard_are_no_proof(quick_folder: Path) -> None:
    voice = FakeSynthesizer(25)
    async with (
        served(quick_folder, orders(), voice=voice, **SETTINGS) as running,
        twilio(running.port, {"statement": statement(CUSTOMER)}) as bridge,
    ):
        hasty(bridge)
        async with calling(bridge) as phone:
            await phone.hears_out(1)
            voice.word_ms = 400
            phone.say(said("transfer-1"))
            await settles(quick_folder, CUT_SHORT)
            before = len(phone.packets)
            await phone.until(lambda: sum(phone.packets[before:]) >= 0.5 * phone.second)
            assert await transfers_of(quick_folder) == CUT_SHORT


@pytest.mark.slow
async def test_marks_twice_and_of_nobody_are_survived(quick_folder: Path) -> None:
    async with (
        served(quick_folder, orders(), voice=FakeSynthesizer(10), **SETTINGS) as running,
        phoning(running) as (phone, bridge),
    ):
        await phone.hears_out(1)
        await bridge.marked(phone.marks[0])
        await bridge.marked("nobody's")
        phone.say(said("transfer-1"))
        await settles(quick_folder, READ_BACK)
        await bridge.marked(phone.marks[0])
        phone.say(said("transfer-2"))
        await settles(quick_folder, BOOKED)


@pytest.mark.slow
async def test_keys_over_a_read_back_agree_to_nothing(quick_folder: Path) -> None:
    voice = FakeSynthesizer(10)
    async with (
        served(quick_folder, orders(), voice=voice, **SETTINGS) as running,
        phoning(running) as (phone, bridge),
    ):
        await phone.hears_out(1)
        voice.word_ms = 300
        phone.say(said("transfer-1"))
        await settles(quick_folder, CUT_SHORT)
        for key in "1#1":
            await bridge.key(key)
        await asyncio.sleep(0.7)
        assert (await transfers_of(quick_folder))[0][1] != "succeeded"
        assert phone.over is None


@pytest.mark.slow
async def test_a_line_without_sound_while_a_read_back_plays_goes_on(quick_folder: Path) -> None:
    async with (
        served(quick_folder, orders(), voice=FakeSynthesizer(150), **SETTINGS) as running,
        phoning(running) as (phone, bridge),
    ):
        await phone.until(lambda: bool(phone.packets))
        phone.say(said("transfer-1"))
        await settles(quick_folder, CUT_SHORT)
        sound, bridge.sound = bridge.sound, _nothing  # type: ignore[method-assign] # no voice activity, no packets
        await settles(quick_folder, READ_BACK)
        bridge.sound = sound  # type: ignore[method-assign]
        phone.say(said("transfer-2"))
        await settles(quick_folder, BOOKED)


async def _nothing(_: bytes) -> None:
    return None


async def test_what_comes_in_one_piece_with_the_calls_beginning_counts(quick_folder: Path) -> None:
    """Asterisk with sound at 16 kHz, whose first packet comes with the call's UUID."""
    place = free_port()
    order = said("transfer-1")
    most = 1.5 * order.size / SAMPLE_RATE  # taken for 8 kHz it would be twice as long
    ear = FakeRecognizer(lambda seconds: "send fifty dollars to my sister" if 1.5 < seconds < most else "")
    async with served(quick_folder, ear, voice=FakeSynthesizer(10), **settings(place)) as running:
        identity = await announced(Place(running.port, place), CUSTOMER)
        opening = [bytes([0x01, 0, 16]) + uuid.UUID(identity).bytes]
        async with audiosocket(place, identity) as bridge:

            async def sound(data: bytes) -> None:
                before = opening.pop() if opening else b""
                bridge.writer.write(before + bytes([0x12]) + len(data).to_bytes(2, "big") + data)

            bridge.form, bridge.sound = AudioFormat(Encoding.PCM16, 16_000), sound  # type: ignore[method-assign]
            bridge.begin = partial(_nothing, b"")  # type: ignore[method-assign] # with the first sound
            async with calling(bridge) as phone:
                await phone.until(lambda: bool(phone.packets))
                phone.say(order)
                await settles(quick_folder, READ_BACK)


@pytest.mark.slow
async def test_a_line_that_drops_in_a_read_back_leaves_no_consent_to_the_next(quick_folder: Path) -> None:
    voice, heard = FakeSynthesizer(10), orders()
    async with served(quick_folder, heard, voice=voice, **SETTINGS) as running:
        async with phoning(running) as (phone, bridge):
            await phone.hears_out(1)
            voice.word_ms = 400
            phone.say(said("transfer-1"))
            await settles(quick_folder, CUT_SHORT)
            bridge.socket.transport.abort()
        voice.word_ms = 10
        async with phoning(running) as (phone, _):
            await phone.until(lambda: bool(phone.packets))
            phone.say(said("transfer-2"))
            await phone.fallen_silent()
            assert all(state != "succeeded" or told for _, state, told in await transfers_of(quick_folder))


async def test_a_statement_opens_one_call(quick_folder: Path) -> None:
    word = statement(CUSTOMER)
    async with served(quick_folder, orders(), voice=FakeSynthesizer(10), **SETTINGS) as running:
        async with phoning(running, word) as (phone, _):
            await phone.until(lambda: bool(phone.packets))
        async with phoning(running, word) as (phone, _):
            await phone.until(lambda: phone.over is not None or bool(phone.packets))
            assert phone.over is not None


async def test_sound_behind_the_end_is_nobodys(quick_folder: Path) -> None:
    async with served(quick_folder, orders(), voice=FakeSynthesizer(10), **SETTINGS) as running:
        async with phoning(running) as (phone, bridge):
            await phone.until(lambda: bool(phone.packets))
            await bridge.hang_up()
            await bridge.sound(b"\xff" * 160)
            await bridge.key("1")
            await phone.until(lambda: phone.over is not None)
        text = running.gateway.metrics.exposition().decode()
    assert 'code="internal' not in text


async def test_messages_in_binary_frames_are_read(quick_folder: Path) -> None:
    async with (
        served(quick_folder, orders(), voice=FakeSynthesizer(10), **SETTINGS) as running,
        twilio(running.port, {"statement": statement(CUSTOMER)}) as bridge,
    ):
        plain: Any = bridge.socket.send

        async def in_binary(text: str) -> None:
            await plain(text.encode())

        bridge.socket.send = in_binary  # type: ignore[assignment, method-assign] # as libraries do that know bytes alone
        async with calling(bridge) as phone:
            await phone.until(lambda: bool(phone.packets))


async def test_a_customer_whom_nobody_knows_is_not_announced(quick_folder: Path) -> None:
    port = free_port()
    async with served(quick_folder, orders(), voice=FakeSynthesizer(10), **settings(port)) as running:
        with pytest.raises(AssertionError, match="not_found"):
            await announced(Place(running.port, port), "nobody")


async def test_who_asks_after_a_call_that_could_not_begin_is_told_to_take_it_over(quick_folder: Path) -> None:
    port = free_port()
    async with served(quick_folder, orders(), voice=FakeSynthesizer(10), **settings(port)) as running:
        expected, url = running.gateway.expected, f"{running.http}/v1/ivr/calls/"
        identity, stranger = await expected.announce(CustomerId("nobody")), STRANGER
        for name in (identity, stranger):
            async with audiosocket(port, name) as bridge:
                await bridge.begin()
                if name == stranger:
                    await bridge.hang_up()
                async for _ in bridge.told():
                    pass
        async with httpx.AsyncClient() as client:
            assert (await client.get(url + identity)).text == "transfer"
            assert (await client.get(url + stranger)).status_code == 404
