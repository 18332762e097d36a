"""A customer who calls too often is told when to come back, before the database is asked; others call as before."""

from pathlib import Path

import pytest
from websockets.asyncio.client import connect

from tests.fakes.recognizer import FakeRecognizer
from tests.harness.app import running_app
from tests.harness.handshakes import refusal, status
from tests.harness.served import served

FEW = {"calls_per_customer": 2, "calls_per_minute": 9, "requests_per_minute": 15, "connections_per_minute": 30}


async def test_calls_of_one_customer_are_bounded_before_the_database_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(tmp_path, FakeRecognizer(lambda _: ""), **FEW) as running:
        opened: list[str] = []
        bank = running.gateway.callers.banking.bank
        profile = bank.profile

        async def counted(customer):
            opened.append(customer)
            return await profile(customer)

        monkeypatch.setattr(bank, "profile", counted)
        told = [await refusal(running.calls, running.token("alex-morgan")) for _ in range(6)]
        assert [one is None for one in told] == [True] * 3 + [False] * 3
        for one in told[3:]:
            assert one is not None
            assert one.status_code == 429
            assert int(one.headers["Retry-After"]) >= 1
        assert len(opened) == 3
        assert await refusal(running.calls, running.token("imogen-hartley")) is None
        assert await status(f"{running.calls}s", running.token("imogen-hartley")) == 404, "no call has this name"


async def test_calls_at_once_of_one_customer_are_bounded(tmp_path: Path) -> None:
    async with served(tmp_path, FakeRecognizer(lambda _: ""), **FEW) as running:
        token = running.token("alex-morgan")
        async with (
            connect(running.calls, compression=None, additional_headers=token),
            connect(running.calls, compression=None, additional_headers=token),
        ):
            assert await refusal(running.calls, token) is not None
            assert await refusal(running.calls, running.token("imogen-hartley")) is None


async def test_an_address_is_bounded_whoever_it_says_it_is(tmp_path: Path) -> None:
    async with served(tmp_path, FakeRecognizer(lambda _: ""), **FEW) as running:
        strangers = [await status(running.calls) for _ in range(12)]
        assert strangers == [401] * 10 + [429] * 2


async def test_an_address_is_what_a_trusted_proxy_says_and_nobody_else(tmp_path: Path) -> None:
    for proxies, allowed in (("127.0.0.1", 12), ("", 10)):
        async with served(tmp_path, FakeRecognizer(lambda _: ""), **FEW, trusted_proxies=proxies) as running:
            told = [await status(running.calls, {"X-Forwarded-For": f"10.0.0.{number}"}) for number in range(12)]
            assert told.count(401) == allowed


async def test_typed_requests_of_one_customer_are_bounded(tmp_path: Path) -> None:
    async with running_app(tmp_path, FakeRecognizer(lambda _: ""), **FEW) as bank:
        said = {"text": "what's my balance", "locale": "en-US"}
        told = [await bank.client.post("/v1/text", json=said, headers=bank.token("alex-morgan")) for _ in range(7)]
        assert [one.status_code for one in told] == [200] * 5 + [429] * 2
        assert told[-1].headers["Retry-After"]
        other = await bank.client.post("/v1/text", json=said, headers=bank.token("imogen-hartley"))
        assert other.status_code == 200
