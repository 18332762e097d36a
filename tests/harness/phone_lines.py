"""Every telephone protocol as a bridge that calls a running service, by name."""

import base64
import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpx

from app.auth.signature import SignedRequest
from tests.harness.handshakes import headers_of
from tests.harness.phone import KEYS, Bridge, statement
from tests.harness.phone_asterisk import audiosocket, chan_websocket
from tests.harness.phone_carriers import TOKEN, twilio, unsigned
from tests.harness.phone_genesys import API_KEY, SECRET, genesys
from tests.harness.phone_jambonz import jambonz

AUTHORIZED = {"Authorization": "Basic " + base64.b64encode(f"pbx:{KEYS['pbx']}".encode()).decode()}
STRANGER = "00000000-0000-4000-8000-000000000001"


@dataclass(frozen=True)
class Place:
    """Where a service on this machine is called: its port, and the AudioSocket's."""

    port: int
    audiosocket: int


Line = Callable[[Place, str | None], AbstractAsyncContextManager[Bridge]]
"""A call for a customer; nobody's, where none is named."""


def settings(audiosocket_port: int) -> dict[str, Any]:
    """The settings of a service that takes them all."""
    return {
        "ivr_keys": KEYS,
        "twilio_token": TOKEN,
        "audiosocket": f"127.0.0.1:{audiosocket_port}",
        "audiohook_key": API_KEY,
        "audiohook_secret": base64.b64encode(SECRET).decode(),
    }


async def announced(place: Place, customer: str) -> str:
    """The id of a call that the bridge announces."""
    at, nonce = str(int(time.time())), secrets.token_hex(16)  # noqa: TID251 - the bridge's own clock
    request = SignedRequest("pbx", "POST", "/v1/ivr/calls", at, nonce, customer, b"", "")
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{place.port}") as client:
        answer = await client.post("/v1/ivr/calls", headers=headers_of(request, KEYS["pbx"]))
    assert answer.status_code == 200, answer.text
    return str(answer.json()["id"])


def _stated(customer: str | None) -> dict[str, str]:
    return {"statement": statement(customer)} if customer else {}


@asynccontextmanager
async def by_twilio(place: Place, customer: str | None) -> AsyncIterator[Bridge]:
    async with twilio(place.port, _stated(customer)) as bridge:
        yield bridge


@asynccontextmanager
async def by_unsigned(carrier: str, place: Place, customer: str | None) -> AsyncIterator[Bridge]:
    async with unsigned(carrier, place.port, _stated(customer)) as bridge:
        yield bridge


@asynccontextmanager
async def by_audiosocket(place: Place, customer: str | None) -> AsyncIterator[Bridge]:
    identity = await announced(place, customer) if customer else STRANGER
    async with audiosocket(place.audiosocket, identity) as bridge:
        yield bridge


@asynccontextmanager
async def by_chan_websocket(place: Place, customer: str | None) -> AsyncIterator[Bridge]:
    async with chan_websocket(place.port, json=True, headers=AUTHORIZED, **_stated(customer)) as bridge:
        yield bridge


@asynccontextmanager
async def by_plain_chan_websocket(place: Place, customer: str | None) -> AsyncIterator[Bridge]:
    call = await announced(place, customer) if customer else "another"
    async with chan_websocket(place.port, json=False, headers=AUTHORIZED, call=call) as bridge:
        yield bridge


@asynccontextmanager
async def by_genesys(place: Place, customer: str | None) -> AsyncIterator[Bridge]:
    async with genesys(place.port, _stated(customer) or {"ani": "+15550123"}) as bridge:
        yield bridge


@asynccontextmanager
async def by_jambonz(place: Place, customer: str | None) -> AsyncIterator[Bridge]:
    async with jambonz(place.port, _stated(customer), AUTHORIZED) as bridge:
        yield bridge


LINES: dict[str, Line] = {
    "twilio": by_twilio,
    "telnyx": partial(by_unsigned, "telnyx"),
    "plivo": partial(by_unsigned, "plivo"),
    "audiosocket": by_audiosocket,
    "asterisk-ws": by_chan_websocket,
    "audiohook": by_genesys,
    "jambonz": by_jambonz,
    "asterisk-ws-plain": by_plain_chan_websocket,
}
UNSIGNED = ("telnyx", "plivo")
"""Only a statement opens a call on these."""
