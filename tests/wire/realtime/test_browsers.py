"""Browsers: keys in subprotocols, client secrets, and no trace of either."""

import io
import logging
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from openai import AuthenticationError
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from app.logs import configure
from services.guard.redact import redactor
from tests.harness.realtime import Realtime, realtime, talking

AGENTS = "openai-agents-sdk.0.20.0"


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """All that is logged, at its most talkative."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    configure("DEBUG", redactor())
    written = io.StringIO()
    root.handlers[0].stream = written  # type: ignore[attr-defined] # a stream handler
    root.setLevel(logging.DEBUG)
    try:
        yield written
    finally:
        root.handlers[:] = before
        root.setLevel(level)


def offers(*names: str) -> list[Subprotocol]:
    return [Subprotocol(name) for name in names]


def url(running: Realtime) -> str:
    return f"ws://127.0.0.1:{running.port}/v1/realtime?model=gpt-realtime"


async def refused(running: Realtime, key: str) -> int:
    with pytest.raises(InvalidStatus) as denied:
        await connect(url(running), subprotocols=offers("realtime", f"openai-insecure-api-key.{key}", AGENTS))
    return denied.value.response.status_code


async def test_a_key_in_a_subprotocol_opens_a_call_and_is_not_logged(quick_folder: Path, log: io.StringIO) -> None:
    async with realtime(quick_folder) as running:
        key = running.key()
        offered = offers("realtime", f"openai-insecure-api-key.{key}", AGENTS)
        async with connect(url(running), subprotocols=offered) as socket:
            assert socket.subprotocol == "realtime"
            assert '"session.created"' in str(await socket.recv())
        async with connect(url(running), subprotocols=offers("tellerline.v1", f"tellerline.bearer.{key}")) as socket:
            assert socket.subprotocol == "tellerline.v1"
            assert '"events":true' in str(await socket.recv())
        assert await refused(running, f"{key}x") == 401
        assert await refused(running, "ek_wrong") == 401
        with pytest.raises(InvalidStatus):
            await connect(url(running))
    assert key not in log.getvalue()
    assert key.rpartition(".")[2] not in log.getvalue()


async def test_a_client_secret_opens_a_call_and_nothing_else(quick_folder: Path, log: io.StringIO) -> None:
    async with realtime(quick_folder) as running, running.sdk() as client, httpx.AsyncClient() as http:
        made = await client.realtime.client_secrets.create(
            expires_after={"anchor": "created_at", "seconds": 60}, session={"type": "realtime", "model": "gpt-realtime"}
        )
        now = running.gateway.clock.now().timestamp()
        assert made.value.startswith("ek_")
        assert 55 <= made.expires_at - now <= 60
        offered = offers("realtime", f"openai-insecure-api-key.{made.value}")
        async with connect(url(running), subprotocols=offered) as socket:
            assert '"session.created"' in str(await socket.recv())
        async with talking(running, key=made.value) as talk:
            assert "checking" in await talk.type("what's my balance")
        for path in ("/v1/text", "/v1/realtime/client_secrets"):
            answer = await http.post(
                running.http + path,
                json={"text": "hi", "locale": "en-US"},
                headers={"Authorization": f"Bearer {made.value}"},
            )
            assert answer.status_code == 401
        with pytest.raises(InvalidStatus):
            await connect(running.calls, additional_headers={"Authorization": f"Bearer {made.value}"})
        async with running.sdk(key="nobody's") as nobody:
            with pytest.raises(AuthenticationError):
                await nobody.realtime.client_secrets.create()
    assert made.value not in log.getvalue()
    assert made.value.rpartition(".")[2] not in log.getvalue()


async def test_a_secret_is_its_customers(quick_folder: Path) -> None:
    async with realtime(quick_folder) as running, running.sdk("imogen-hartley") as client:
        made = await client.realtime.client_secrets.create()
        async with talking(running, key=made.value, locale="en-GB") as talk:
            assert "pounds" in await talk.type("what's my balance")
