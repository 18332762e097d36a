"""What a server that we ask says without end costs no more than its bound."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import httpx
import pytest

from app.auth.jwks import HttpKeys
from app.transports.telephone.line import WebRequest
from app.transports.telephone.web import CarrierClient
from schemas.errors import DependencyFailed
from schemas.ids import CustomerId
from schemas.stepup import Challenge
from services.banking.code_senders import WebhookSender
from services.timing.clock import ManualClock

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
MOST = 8 << 20


@asynccontextmanager
async def endless(status: str) -> AsyncIterator[tuple[str, list[int]]]:
    """A server whose answers have no end; its address, and how much of them it was rid of."""
    sent: list[int] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n\r\n".encode())
        try:
            while True:
                writer.write(b" " * 65_536)
                await writer.drain()
                sent.append(65_536)
        except ConnectionError:
            writer.transport.abort()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/", sent
    finally:
        server.close()


Ask = Callable[[str, httpx.AsyncClient], Awaitable[object]]


async def _send_a_code(url: str, client: httpx.AsyncClient) -> None:
    challenge = Challenge("challenge-1", "card", "app", NOW, 3)
    await WebhookSender(url, b"k" * 32, "app", client, ManualClock(NOW)).send(CustomerId("ann"), challenge, "493544")


async def _ask_a_carrier(url: str, client: httpx.AsyncClient) -> None:
    await CarrierClient(client).ask(WebRequest("POST", url, "key", json={}))


async def _fetch_keys(url: str, client: httpx.AsyncClient) -> None:
    await HttpKeys(url, client).fetch()


@pytest.mark.parametrize(
    ("ask", "status", "fails"),
    [
        (_send_a_code, "200 OK", False),
        (_send_a_code, "500 No", True),
        (_ask_a_carrier, "200 OK", False),
        (_ask_a_carrier, "403 No", True),
        (_fetch_keys, "200 OK", True),
        (_fetch_keys, "302 Elsewhere", True),
    ],
)
async def test_an_answer_without_end_is_not_read(ask: Ask, status: str, fails: bool) -> None:
    async with endless(status) as (url, sent), httpx.AsyncClient() as client, asyncio.timeout(3):
        if fails:
            with pytest.raises(DependencyFailed):
                await ask(url, client)
        else:
            await ask(url, client)
        await asyncio.sleep(0.1)
        assert sum(sent) < MOST, "what is read, and what the sockets hold"
