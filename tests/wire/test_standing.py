"""A call lasts as long as its token, or a newer one; and whoever is in one is told when the service goes away."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from app.client import demo_token, typed
from app.demo.run import service
from app.transports.live import lease
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.app import running_app
from tests.harness.gateway import Caller, caller, gateway
from tests.harness.served import served


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "WARNING_S", 0.5)


async def the_end(call: Caller) -> tuple[str, int]:
    """The last error's code and the code that the line is closed with."""
    with pytest.raises(ConnectionClosed) as closed:
        await call.for_a_while(5)
    assert closed.value.rcvd is not None
    return call.of("error")[-1]["error"]["code"], closed.value.rcvd.code


async def test_a_call_ends_with_its_token_and_says_so_before() -> None:
    async with gateway(lambda _: "", token_seconds=0.8) as running, caller(running) as call:
        assert (await call.next("tellerline.token.expiring"))["expires_in_s"] <= 1
        assert await the_end(call) == ("unauthenticated", 4401)
        assert running.admission.inside == 0


async def test_a_newer_token_keeps_it_alive() -> None:
    async with gateway(lambda _: "", token_seconds=0.8) as running, caller(running) as call:
        await call.next("tellerline.token.expiring")
        await call.send({"type": "tellerline.token", "token": "good"})
        assert (await call.next("tellerline.token.renewed"))["expires_in_s"] == 60
        await call.for_a_while(1.0)
        await call.send({"type": "input_audio_buffer.clear"})
        await call.next("input_audio_buffer.cleared")


@pytest.mark.parametrize(
    ("token", "code", "close"), [("bad", "unauthenticated", 4401), ("good bob", "not_allowed", 4403)]
)
async def test_a_token_that_is_no_good_or_anothers_ends_the_call(token: str, code: str, close: int) -> None:
    async with gateway(lambda _: "", token_seconds=30.0) as running, caller(running) as call:
        await call.send({"type": "tellerline.token", "token": token})
        assert await the_end(call) == (code, close)


async def test_a_call_without_a_token_of_its_own_has_no_such_end() -> None:
    async with gateway(lambda _: "") as running, caller(running) as call:
        await call.for_a_while(0.3)
        assert not call.of("tellerline.token.expiring")


async def test_tokens_of_the_demo_tell_their_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "WARNING_S", 899.5)
    async with served(tmp_path, FakeRecognizer(lambda _: "")) as running:
        token = running.token("alex-morgan")
        async with connect(running.calls, compression=None, additional_headers=token) as opened:
            call = Caller(opened)
            assert 890 <= (await call.next("tellerline.token.expiring"))["expires_in_s"] <= 900
            newer = running.token("alex-morgan")["Authorization"].partition(" ")[2]
            await call.send({"type": "tellerline.token", "token": newer})
            await call.next("tellerline.token.renewed")


async def test_consent_to_a_recording_is_the_callers_and_is_told_back(tmp_path: Path) -> None:
    async with served(tmp_path, FakeRecognizer(lambda _: ""), recording_days=1) as running:
        kept = tmp_path / "recordings"
        for agreed, folders in ((None, 0), (True, 1), (False, 1)):
            token = running.token("alex-morgan")
            async with connect(running.calls, compression=None, additional_headers=token) as opened:
                call = Caller(opened)
                own: dict[str, Any] = {"locale": "en-US"} | ({} if agreed is None else {"recording": agreed})
                await call.send({"type": "session.update", "session": {"type": "realtime", "tellerline": own}})
                told = (await call.next("session.updated"))["session"]["tellerline"]["recording"]
                assert told is bool(agreed)
                await call.send(typed("help"))
                await call.next("response.done")
            async with asyncio.timeout(5):
                await running.gateway.admission.empty.wait()
            assert len(list(kept.iterdir())) == folders


@pytest.mark.parametrize("path", ["/v1/calls", "/v1/realtime"])
@pytest.mark.parametrize("days", [0, 1])
async def test_a_recording_that_nobody_makes_is_not_confirmed(tmp_path: Path, path: str, days: int) -> None:
    async with served(tmp_path, FakeRecognizer(lambda _: ""), recording_days=days) as running:
        url, token = running.calls.replace("/v1/calls", path), running.token("alex-morgan")
        async with connect(url, compression=None, additional_headers=token) as opened:
            call = Caller(opened)
            wish = {"type": "session.update", "session": {"type": "realtime", "tellerline": {"recording": True}}}
            await call.send(wish)
            told = (await call.next("session.updated"))["session"]["tellerline"]
            assert told["recording"] is bool(days)
            assert bool(list((tmp_path / "recordings").glob("*"))) <= bool(days)


@pytest.mark.parametrize("told_by", [signal.SIGTERM, signal.SIGHUP])
async def test_a_process_that_stops_says_so_lets_calls_end_and_ends_with_0(told_by: signal.Signals) -> None:
    with service(TELLERLINE_DRAIN_SECONDS="1.0") as base:
        pid = children()[-1]
        token = await demo_token(base, "alex-morgan")
        headers = {"Authorization": f"Bearer {token}"}
        url = base.replace("http", "ws") + "/v1/calls"
        async with connect(url, compression=None, additional_headers=headers) as opened:
            call = Caller(opened)
            await call.next("session.created")
            os.kill(pid, told_by)
            told = await call.next("tellerline.draining")
            assert told["closes_in_s"] == 1
            assert told["retry_after_s"] >= 1
            await call.send({"type": "input_audio_buffer.clear"})
            await call.next("input_audio_buffer.cleared")
            assert await the_end(call) == ("draining", 1013)
        _, status = await asyncio.to_thread(os.waitpid, pid, 0)
        assert os.waitstatus_to_exitcode(status) == 0


def children() -> list[int]:
    """Our own child processes."""
    return [int(child) for child in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()]


OURS = {"Host": "localhost:8080"}
DEMO = (
    ("POST", "/demo/token?customer=alex-morgan"),
    ("GET", "/demo/customers"),
    ("GET", "/demo/code?customer=alex-morgan"),
)


@pytest.mark.parametrize(("method", "path"), DEMO)
async def test_the_demo_gives_its_own_pages_alone_anything(tmp_path: Path, method: str, path: str) -> None:
    async with running_app(tmp_path, FakeRecognizer(lambda _: "")) as bank:
        for headers, allowed in (
            (OURS, True),
            ({"Host": "127.0.0.1:9"}, True),
            ({"Host": "[::1]:9"}, True),
            (OURS | {"Origin": "http://localhost:8080"}, True),
            (OURS | {"Origin": "http://evil.example"}, False),
            (OURS | {"Origin": "http://localhost:9999"}, False),
            (OURS | {"Origin": "null"}, False),
            ({"Host": "evil.example"}, False),
            ({"Host": "evil.example", "Origin": "http://evil.example"}, False),
            ({"Host": "localhost.evil.example"}, False),
            ({"Host": "[::1"}, False),
            ({"Host": "evil@localhost"}, False),
            ({"Host": "[::1].evil.example"}, False),
            ({"Host": "[::1]evil"}, False),
            ({"Host": "localhost/evil"}, False),
            (OURS | {"Origin": "http://["}, False),
            (OURS | {"Origin": "localhost:8080"}, False),
            (OURS | {"Origin": ""}, False),
        ):
            answer = await bank.client.request(method, path, headers=headers)
            assert (answer.status_code != 403) is allowed, headers
            assert answer.status_code != 500, headers
        away = httpx.ASGITransport(app=bank.app, client=("10.0.0.7", 1))
        async with httpx.AsyncClient(transport=away, base_url="http://localhost") as stranger:
            assert (await stranger.request(method, path)).status_code == 403
