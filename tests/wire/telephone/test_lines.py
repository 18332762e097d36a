"""Every telephone protocol on a real socket, in front of the whole application: a recorded caller's transfer is booked,
and a read-back that was cut short is not agreed to."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect

from app.transports.telephone import unproven, web
from schemas.errors import CallIdle, RateLimited
from services.guard.shared_calls import SharedCalls
from tests.fakes.recognizer import FakeRecognizer, orders
from tests.fakes.synthesizer import FakeSynthesizer
from tests.harness.phone import BOOKED, CUT_SHORT, READ_BACK, Phone, calling, said, settles, transfers_of
from tests.harness.phone_asterisk import free_port
from tests.harness.phone_lines import LINES, UNSIGNED, Place, settings
from tests.harness.served import Served, served

CUSTOMER = "alex-morgan"


EVERY_LINE = pytest.mark.parametrize("line", LINES)
PROVEN_LINES = pytest.mark.parametrize("line", [line for line in LINES if line not in UNSIGNED])


@asynccontextmanager
async def phoning(
    folder: Path, line: str, customer: str | None, heard: FakeRecognizer, voice: FakeSynthesizer
) -> AsyncIterator[tuple[Phone, Served]]:
    audiosocket = free_port()
    async with (
        served(folder, heard, voice=voice, **settings(audiosocket)) as running,
        LINES[line](Place(running.port, audiosocket), customer) as bridge,
        calling(bridge) as phone,
    ):
        yield phone, running


@EVERY_LINE
async def test_a_recorded_callers_transfer_is_booked(quick_folder: Path, line: str) -> None:
    voice = FakeSynthesizer(25)
    async with phoning(quick_folder, line, CUSTOMER, orders(), voice) as (phone, _):
        await phone.until(lambda: bool(phone.packets))
        phone.say(said("transfer-1"))
        await settles(quick_folder, READ_BACK)
        assert "Emily" in voice.spoken
        phone.say(said("transfer-2"))
        await settles(quick_folder, BOOKED)


@pytest.mark.parametrize("line", [line for line in LINES if line != "audiohook"])  # it always says a language
async def test_who_calls_without_a_word_on_the_language_is_greeted_in_their_own(quick_folder: Path, line: str) -> None:
    voice = FakeSynthesizer(25)
    async with phoning(quick_folder, line, "takahashi-misaki", orders(), voice) as (phone, _):
        await phone.until(lambda: bool(phone.packets))
        assert "アシスタント" in "".join(voice.spoken)


@EVERY_LINE
async def test_a_read_back_that_is_cut_short_can_not_be_agreed_to(quick_folder: Path, line: str) -> None:
    voice, heard = FakeSynthesizer(25), orders()
    async with phoning(quick_folder, line, CUSTOMER, heard, voice) as (phone, _):
        await phone.until(lambda: bool(phone.packets))
        voice.word_ms = 400
        phone.say(said("transfer-1"))
        await settles(quick_folder, CUT_SHORT)
        before = len(phone.packets)
        await phone.until(lambda: sum(phone.packets[before:]) >= 1.5 * phone.second)
        voice.word_ms = 25
        heard.words = lambda _: ""
        phone.say(said("transfer-1"))  # a voice whose words nobody makes out
        await phone.fallen_silent()
        assert await transfers_of(quick_folder) == CUT_SHORT
        heard.words = lambda _: "yes"
        phone.say(said("transfer-2"))
        await settles(quick_folder, READ_BACK)  # once more: a yes to what was not heard is none
        phone.say(said("transfer-2"))
        await settles(quick_folder, BOOKED)


@PROVEN_LINES
async def test_a_stranger_who_wants_money_moved_is_handed_off(
    quick_folder: Path, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ask(_self: object, _request: object) -> None:
        return None

    monkeypatch.setattr(web.CarrierClient, "ask", ask)
    voice = FakeSynthesizer(25)
    async with phoning(quick_folder, line, None, orders(), voice) as (phone, _):
        await phone.until(lambda: bool(phone.packets))
        phone.say(said("transfer-1"))
        await phone.until(lambda: phone.over is not None)
        assert "person." in voice.spoken
        assert await transfers_of(quick_folder) == []


@EVERY_LINE
async def test_a_customers_calls_at_other_gateways_count(
    quick_folder: Path, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    @asynccontextmanager
    async def full(_: SharedCalls, customer: str, __: str) -> AsyncIterator[None]:
        asked.append(customer)
        raise RateLimited("too many calls at once")
        yield

    monkeypatch.setattr(SharedCalls, "call", full)
    async with phoning(quick_folder, line, CUSTOMER, orders(), FakeSynthesizer(10)) as (phone, running):
        await phone.until(lambda: phone.over is not None)
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{running.port}") as client:
            told = (await client.get("/metrics")).text
    assert 'tellerline_refused_total{reason="allowance"} 1.0' in told
    assert asked == [CUSTOMER]
    assert not phone.packets


@pytest.mark.parametrize("door", ["telnyx", "plivo", "jambonz", "asterisk"])
async def test_lines_that_prove_nothing_take_no_place(
    quick_folder: Path, door: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unproven, "MOST", 4)
    voice, audiosocket, address = FakeSynthesizer(10), free_port(), f"ws://127.0.0.1:%d/v1/ivr/{door}"
    async with (
        served(quick_folder, orders(), voice=voice, max_calls=1, **settings(audiosocket)) as running,
        AsyncExitStack() as doors,
    ):
        silent = [await doors.enter_async_context(connect(address % running.port)) for _ in range(8)]
        for made_room in silent[:4]:
            assert await _closed(made_room, 2.0) == CallIdle.ws_close
        async with LINES["telnyx"](Place(running.port, audiosocket), CUSTOMER) as bridge, calling(bridge) as phone:
            await phone.until(lambda: bool(phone.packets))
        for impatient in silent[4:]:
            assert await _closed(impatient, 5.0) == CallIdle.ws_close


async def _closed(silent: ClientConnection, within_s: float) -> int | None:
    async with asyncio.timeout(within_s):
        await silent.wait_closed()
    return silent.close_code
