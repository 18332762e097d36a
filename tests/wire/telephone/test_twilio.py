"""Twilio Media Streams on a real socket, in front of the whole application: what a caller hears, and what is booked."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosedError, InvalidStatus

from app.transports.telephone import web
from app.transports.telephone.line import WebRequest
from schemas.errors import CarrierUnavailable, SpeechUnavailable
from tests.fakes.recognizer import FakeRecognizer, orders
from tests.fakes.synthesizer import FakeSynthesizer
from tests.harness.phone import BOOKED, KEYS, READ_BACK, Phone, calling, said, settles, statement, transfers_of
from tests.harness.phone_carriers import TOKEN, TwilioBridge, signed, twilio
from tests.harness.served import Served, served

CUSTOMER = "alex-morgan"
SETTINGS = {"ivr_keys": KEYS, "twilio_token": TOKEN, "transfer_to": "+15550100"}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[WebRequest]:
    """What the carrier is asked, without asking it."""
    requests: list[WebRequest] = []

    async def ask(_self: object, request: WebRequest) -> None:
        requests.append(request)

    monkeypatch.setattr(web.CarrierClient, "ask", ask)
    return requests


@asynccontextmanager
async def phoning(running: Served, **parameters: str) -> AsyncIterator[tuple[Phone, TwilioBridge]]:
    async with twilio(running.port, parameters) as bridge, calling(bridge) as phone:
        yield phone, bridge


async def test_a_recorded_caller_orders_a_transfer_and_it_is_booked(
    quick_folder: Path, asked: list[WebRequest]
) -> None:
    voice = FakeSynthesizer(25)
    async with (
        served(quick_folder, None, voice=voice, **SETTINGS) as running,
        phoning(running, statement=statement(CUSTOMER), locale="en-US") as (phone, bridge),
    ):
        await phone.hears_out(1)
        phone.say(said("transfer-1"))
        await settles(quick_folder, READ_BACK)
        assert "Emily" in voice.spoken
        phone.say(said("transfer-2"))
        await settles(quick_folder, BOOKED)
        await bridge.hang_up()
        await phone.until(lambda: phone.over is not None)
    assert set(phone.packets) == {160}
    assert asked == []


async def test_a_caller_of_whom_the_bridge_says_nothing_is_handed_off(
    quick_folder: Path, asked: list[WebRequest]
) -> None:
    voice = FakeSynthesizer(25)
    async with served(quick_folder, orders(), voice=voice, **SETTINGS) as running:
        async with phoning(running, From="+15550123") as (phone, _):
            await phone.hears_out(1)
            phone.say(said("transfer-1"))
            await phone.until(lambda: phone.over is not None)
        assert "person." in voice.spoken
        assert await transfers_of(quick_folder) == []
    (request,) = asked
    assert request.url == "https://api.twilio.com/2010-04-01/Accounts/AC1/Calls/CA1.json"
    assert request.form == {"Twiml": "<Response><Dial><Number>+15550100</Number></Dial></Response>"}


async def test_a_stranger_is_answered_from_the_documents(quick_folder: Path, asked: list[WebRequest]) -> None:
    voice = FakeSynthesizer(10)
    heard = FakeRecognizer(lambda seconds: "what is the fee for an international transfer" if seconds > 0.5 else "")
    async with served(quick_folder, heard, voice=voice, **SETTINGS) as running:
        async with phoning(running) as (phone, _):
            await phone.hears_out(1)
            voice.spoken.clear()
            phone.say(said("policy-1"))
            await phone.hears_out(2)
            assert phone.over is None
        assert "person" not in " ".join(voice.spoken)
        assert "transfer" in " ".join(voice.spoken).lower()


async def test_a_transfer_that_the_carrier_does_not_make_is_told(
    quick_folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def ask(_self: object, _request: WebRequest) -> None:
        raise CarrierUnavailable("the carrier answered 500")

    monkeypatch.setattr(web.CarrierClient, "ask", ask)
    async with served(quick_folder, orders(), voice=FakeSynthesizer(10), **SETTINGS) as running:
        async with phoning(running) as (phone, _):
            await phone.hears_out(1)
            phone.say(said("transfer-1"))
            await phone.until(lambda: phone.over is not None)
        text = running.gateway.metrics.exposition().decode()
    assert 'tellerline_errors_total{code="carrier_unavailable"} 1.0' in text
    assert "the carrier answered 500" in caplog.text


async def test_keys_are_taken_and_stand_in_no_log(
    quick_folder: Path, asked: list[WebRequest], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with (
        served(quick_folder, orders(), voice=FakeSynthesizer(10), **SETTINGS) as running,
        phoning(running, statement=statement(CUSTOMER)) as (phone, bridge),
    ):
        await phone.hears_out(1)
        for digit in "739154#":
            await bridge.key(digit)
        await phone.hears_out(2)
    told = "\n".join(
        record.getMessage() for record in caplog.records if record.name.split(".")[0] in {"app", "services"}
    )
    assert "739154" not in told
    assert b"739154" not in stored(quick_folder)


def stored(folder: Path) -> bytes:
    """All that was written."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


REFUSED = {
    "no signature": {},
    "another token": signed("/v1/ivr/twilio", "another", "HOST"),
    "another address": signed("/v1/ivr/telnyx", TOKEN, "HOST"),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_only_the_carrier_opens_a_stream(quick_folder: Path, case: str) -> None:
    async with served(quick_folder, orders(), voice=FakeSynthesizer(10), **SETTINGS) as running:
        headers = REFUSED[case]
        with pytest.raises(InvalidStatus) as refused:
            async with twilio(running.port, {"statement": statement(CUSTOMER)}, headers):
                pass
        assert refused.value.response.status_code == 401


@pytest.mark.parametrize(
    "wrong",
    [
        statement(CUSTOMER, exp=1),
        statement(CUSTOMER, call="CA2"),
        statement(CUSTOMER)[:-3] + "abc",
        "no statement",
    ],
    ids=["old", "another call's", "forged", "none"],
)
async def test_a_statement_that_does_not_hold_opens_nothing(quick_folder: Path, wrong: str) -> None:
    async with (
        served(quick_folder, orders(), voice=FakeSynthesizer(10), **SETTINGS) as running,
        twilio(running.port, {"statement": wrong}) as bridge,
    ):
        await bridge.begin()
        with pytest.raises(ConnectionClosedError):
            await bridge.socket.recv()
        assert bridge.socket.close_code == 4401


async def test_a_statement_opens_one_call(quick_folder: Path) -> None:
    async with served(quick_folder, orders(), voice=FakeSynthesizer(10), **SETTINGS) as running:
        once = statement(CUSTOMER, call="CA1")
        async with twilio(running.port, {"statement": once}) as bridge:
            await bridge.begin()
            assert await bridge.socket.recv()
        async with twilio(running.port, {"statement": once}) as bridge:
            await bridge.begin()
            with pytest.raises(ConnectionClosedError):
                await bridge.socket.recv()


async def test_without_a_voice_no_telephone_is_answered(quick_folder: Path) -> None:
    async with served(quick_folder, orders(), **SETTINGS) as running:
        with pytest.raises(InvalidStatus) as refused:
            async with twilio(running.port, {}):
                pass
        assert refused.value.response.status_code == 503
        assert b"speech_unavailable" in refused.value.response.body


async def test_where_words_get_no_sound_a_person_takes_over(quick_folder: Path, asked: list[WebRequest]) -> None:
    voice = FakeSynthesizer(10)
    voice.error = SpeechUnavailable()
    async with (
        served(quick_folder, orders(), voice=voice, **SETTINGS) as running,
        phoning(running, statement=statement(CUSTOMER)) as (phone, _),
    ):
        await phone.until(lambda: phone.over is not None)
    assert [request.form and "Twiml" in request.form for request in asked] == [True]


async def test_a_caller_who_is_muted_is_not_torn_down(quick_folder: Path, asked: list[WebRequest]) -> None:
    async with (
        served(quick_folder, orders(), voice=FakeSynthesizer(10), **SETTINGS) as running,
        twilio(running.port, {"statement": statement(CUSTOMER)}) as bridge,
    ):
        await bridge.begin()
        phone = Phone(bridge)
        works = [asyncio.create_task(work) for work in (phone.listen(), phone.hear())]
        await phone.hears_out(1)
        await asyncio.sleep(2.0)
        assert phone.over is None
        for work in works:
            work.cancel()
        await asyncio.gather(*works, return_exceptions=True)
