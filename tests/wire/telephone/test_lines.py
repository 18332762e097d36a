"""Every telephone protocol on a real socket, in front of the whole application: a recorded caller's transfer is booked,
and a read-back that was cut short is not agreed to."""

import base64
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.auth.signature import SignedRequest, sign
from app.transports.telephone import web
from schemas.errors import RateLimited
from services.guard.shared_calls import SharedCalls
from tests.fakes.recognizer import FakeRecognizer
from tests.fakes.synthesizer import FakeSynthesizer
from tests.harness.phone import (
    BOOKED,
    CUT_SHORT,
    KEYS,
    READ_BACK,
    Bridge,
    Phone,
    calling,
    said,
    settles,
    statement,
    transfers_of,
)
from tests.harness.phone_asterisk import audiosocket, chan_websocket, free_port
from tests.harness.phone_carriers import TOKEN, twilio
from tests.harness.phone_genesys import API_KEY, SECRET, genesys
from tests.harness.phone_jambonz import jambonz
from tests.harness.served import Served, served

CUSTOMER = "alex-morgan"
Line = Callable[[Served, str | None], AbstractAsyncContextManager[Bridge]]


def recogniser() -> FakeRecognizer:
    """Long sound orders, short sound agrees."""
    return FakeRecognizer(lambda seconds: "send fifty dollars to my sister" if seconds > 1.5 else "yes")


async def announced(running: Served, customer: str) -> str:
    """The id of a call that the bridge announces."""
    clock = running.gateway.clock
    at, nonce = str(int(clock.now().timestamp())), clock.new_id()
    request = SignedRequest("pbx", "POST", "/v1/ivr/calls", at, nonce, customer, b"", "")
    headers = {"Key": "pbx", "Time": at, "Nonce": nonce, "Customer": customer}
    headers["Signature"] = sign(KEYS["pbx"].encode(), request)
    async with httpx.AsyncClient(base_url=running.http) as client:
        answer = await client.post("/v1/ivr/calls", headers={f"X-Tellerline-{k}": v for k, v in headers.items()})
    assert answer.status_code == 200
    return str(answer.json()["id"])


@asynccontextmanager
async def by_twilio(running: Served, customer: str | None) -> AsyncIterator[Bridge]:
    async with twilio(running.port, {"statement": statement(customer)} if customer else {}) as bridge:
        yield bridge


@asynccontextmanager
async def by_audiosocket(running: Served, customer: str | None) -> AsyncIterator[Bridge]:
    identity = await announced(running, customer) if customer else "00000000-0000-4000-8000-000000000001"
    port = int(running.gateway.settings.audiosocket.rpartition(":")[2])
    async with audiosocket(port, identity) as bridge:
        yield bridge


@asynccontextmanager
async def by_chan_websocket(running: Served, customer: str | None) -> AsyncIterator[Bridge]:
    given = {"statement": statement(customer)} if customer else {}
    headers = {"Authorization": httpx.BasicAuth("pbx", KEYS["pbx"])._auth_header}
    async with chan_websocket(running.port, json=True, headers=headers, **given) as bridge:
        yield bridge


@asynccontextmanager
async def by_plain_chan_websocket(running: Served, customer: str | None) -> AsyncIterator[Bridge]:
    identity = await announced(running, customer or "nobody")
    headers = {"Authorization": httpx.BasicAuth("pbx", KEYS["pbx"])._auth_header}
    call = identity if customer else "another"
    async with chan_websocket(running.port, json=False, headers=headers, call=call) as bridge:
        yield bridge


@asynccontextmanager
async def by_genesys(running: Served, customer: str | None) -> AsyncIterator[Bridge]:
    given = {"statement": statement(customer)} if customer else {"ani": "+15550123"}
    async with genesys(running.port, given) as bridge:
        yield bridge


@asynccontextmanager
async def by_jambonz(running: Served, customer: str | None) -> AsyncIterator[Bridge]:
    given = {"statement": statement(customer)} if customer else {}
    headers = {"Authorization": httpx.BasicAuth("pbx", KEYS["pbx"])._auth_header}
    async with jambonz(running.port, given, headers) as bridge:
        yield bridge


LINES: dict[str, Line] = {
    "twilio": by_twilio,
    "audiosocket": by_audiosocket,
    "chan_websocket": by_chan_websocket,
    "audiohook": by_genesys,
    "jambonz": by_jambonz,
    "chan_websocket-plain": by_plain_chan_websocket,
}
EVERY_LINE = pytest.mark.parametrize("line", LINES)


@asynccontextmanager
async def phoning(
    folder: Path, line: str, customer: str | None, heard: FakeRecognizer, voice: FakeSynthesizer
) -> AsyncIterator[tuple[Phone, Served]]:
    settings: dict[str, Any] = {"ivr_keys": KEYS, "twilio_token": TOKEN, "audiosocket": f"127.0.0.1:{free_port()}"}
    settings |= {"audiohook_key": API_KEY, "audiohook_secret": base64.b64encode(SECRET).decode()}
    async with (
        served(folder, heard, voice=voice, **settings) as running,
        LINES[line](running, customer) as bridge,
        calling(bridge) as phone,
    ):
        yield phone, running


@EVERY_LINE
async def test_a_recorded_callers_transfer_is_booked(quick_folder: Path, line: str) -> None:
    voice = FakeSynthesizer(25)
    async with phoning(quick_folder, line, CUSTOMER, recogniser(), voice) as (phone, _):
        await phone.until(lambda: bool(phone.packets))
        phone.say(said("transfer-1"))
        await settles(quick_folder, READ_BACK)
        assert "Emily" in voice.spoken
        phone.say(said("transfer-2"))
        await settles(quick_folder, BOOKED)


@EVERY_LINE
async def test_a_read_back_that_is_cut_short_can_not_be_agreed_to(quick_folder: Path, line: str) -> None:
    voice, heard = FakeSynthesizer(25), recogniser()
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


@EVERY_LINE
async def test_a_stranger_who_wants_money_moved_is_handed_off(
    quick_folder: Path, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ask(_self: object, _request: object) -> None:
        return None

    monkeypatch.setattr(web.CarrierClient, "ask", ask)
    voice = FakeSynthesizer(25)
    async with phoning(quick_folder, line, None, recogniser(), voice) as (phone, _):
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
    async with phoning(quick_folder, line, CUSTOMER, recogniser(), FakeSynthesizer(10)) as (phone, _):
        await phone.until(lambda: phone.over is not None)
    assert asked == [CUSTOMER]
    assert not phone.packets
