"""Who someone is comes from a credential that verifies, over real requests: never from a header, a body or a replay."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import httpx
import orjson
import pytest

from app.auth.dependencies import HEADERS, SIGNATURE
from app.auth.principal import Scope
from app.auth.signature import SignedRequest
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.app import RunningApp, running_app
from tests.harness.handshakes import headers_of

SECRET = "bridge-secret-" + "s" * 32
ALEX, MISAKI = "alex-morgan", "takahashi-misaki"
BODY = orjson.dumps({"text": "send fifty dollars to catherine nguyen", "locale": "en-US"})
JSON = {"Content-Type": "application/json"}


@pytest.fixture
async def bank(quick_folder: Path) -> AsyncIterator[RunningApp]:
    async with running_app(quick_folder, FakeRecognizer(lambda _: ""), ivr_keys={"bridge": SECRET}) as app:
        yield app


def signed(bank: RunningApp, nonce: str = "nonce-0001", **changes: object) -> dict[str, str]:
    """The headers of a bridge's request; `changes` are made before it is signed."""
    now = str(int(bank.gateway.clock.now().timestamp()))
    request = SignedRequest("bridge", "POST", "/v1/text", now, nonce, ALEX, BODY, "")
    request = replace(request, **changes)  # type: ignore[arg-type] # built loosely by the tests
    return headers_of(request, SECRET) | JSON


async def post(
    bank: RunningApp, headers: dict[str, str], content: bytes = BODY, path: str = "/v1/text"
) -> httpx.Response:
    return await bank.client.post(path, content=content, headers=headers)


async def test_a_bridge_speaks_for_its_caller_once(bank: RunningApp) -> None:
    headers = signed(bank)
    first = await post(bank, headers)
    assert first.json()["slots"]["payee"] == "catherine-nguyen"
    replayed = await post(bank, headers)
    assert (replayed.status_code, replayed.json()["error"]["code"]) == (401, "unauthenticated")


@pytest.mark.parametrize("seconds", [-61, 61, -3_600])
async def test_a_request_of_another_time_is_refused(bank: RunningApp, seconds: int) -> None:
    then = str(int(bank.gateway.clock.now().timestamp()) + seconds)
    assert (await post(bank, signed(bank, timestamp=then))).status_code == 401


async def test_nothing_signed_can_be_changed(bank: RunningApp) -> None:
    good = signed(bank)
    for name in (*HEADERS, SIGNATURE):
        assert (await post(bank, good | {name: MISAKI})).status_code == 401
    assert (await post(bank, good, BODY.replace(b"fifty", b"sixty"))).status_code == 401
    assert (await post(bank, good, path="/v1/text?locale=en-US")).status_code == 401
    assert (await post(bank, good)).status_code == 200, "what was refused had used the nonce up"


async def test_a_bridge_is_no_staff(bank: RunningApp) -> None:
    submitted = await post(bank, signed(bank, path="/v1/replays", body=b""), path="/v1/replays")
    assert (submitted.status_code, submitted.json()["error"]["code"]) == (403, "missing_scope")


async def test_a_customer_can_not_be_named_beside_a_token(bank: RunningApp) -> None:
    token = bank.token(ALEX) | JSON
    plain = (await post(bank, token)).json()
    named = await post(bank, token | {HEADERS[3]: MISAKI, HEADERS[0]: "bridge"})
    assert named.json() | {"micros": 0} == plain | {"micros": 0}
    asked = await post(bank, token, orjson.dumps(orjson.loads(BODY) | {"customer": MISAKI}))
    assert (asked.status_code, asked.json()["error"]["code"]) == (400, "bad_input")
    assert (await post(bank, token, path=f"/v1/text?customer={MISAKI}")).json()["slots"] == plain["slots"]


@pytest.mark.parametrize(
    ("scopes", "route", "status"),
    [
        ((Scope.QA,), "/v1/text", 200), (("admin",), "/v1/text", 403), ((Scope.CALL,), "/v1/text", 200),
        ((Scope.CALL,), "/v1/replays", 403), (("admin",), "/v1/replays", 403), ((Scope.QA,), "/v1/replays", 400),
    ],
)  # fmt: skip
async def test_a_scope_opens_its_own_doors(bank: RunningApp, scopes: tuple[str, ...], route: str, status: int) -> None:
    assert (await post(bank, bank.token(ALEX, *scopes) | JSON, path=route)).status_code == status
