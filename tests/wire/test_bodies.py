"""Nothing of what a stranger sends is read, and nothing of what is past a customer's share."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from fastapi import FastAPI

from app.transports import http
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.echo import Raw, raw
from tests.harness.served import Served, served

SIZE = 100_000
FORGED = "Authorization: Bearer a.b.c\r\n"
BRIDGE = "X-Tellerline-Signature: ab\r\nX-Tellerline-Key: nobody\r\n"


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, FakeRecognizer(lambda _: "what's my balance"), requests_per_minute=30) as made:
        yield made


def taking_a_body(app: FastAPI) -> list[tuple[str, str]]:
    """Every route that takes what a client sends."""
    return [
        (method.upper(), path.replace("{job}", "x"))
        for path, operations in app.openapi()["paths"].items()
        if not path.startswith("/demo")
        for method in operations
        if method in {"post", "put", "patch", "delete"}
    ]


async def told_without_a_body(client: Raw, method: str, path: str, headers: str) -> bytes:
    """The status of the answer to a head whose body never comes."""
    query = "?locale=en-US" if path == "/v1/utterances" else ""
    head = f"{method} {path}{query} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {SIZE}\r\n{headers}\r\n"
    await client.send(head.encode())
    async with asyncio.timeout(3):
        return (await client.head()).split()[1]


@pytest.mark.parametrize("credential", ["", FORGED, BRIDGE])
async def test_a_stranger_is_refused_before_anything_is_read(running: Served, credential: str) -> None:
    from app.main import create_app

    routes = taking_a_body(create_app(running.gateway))
    assert ("POST", "/v1/text") in routes
    for method, path in routes:
        async with raw(running.port) as client:
            assert await told_without_a_body(client, method, path, credential) == b"401", f"{method} {path}"


def bearer(running: Served, *who: object) -> str:
    return f"Authorization: {running.token(*who)['Authorization']}\r\n"  # type: ignore[arg-type]


@pytest.mark.parametrize("path", ["/v1/text", "/v1/utterances"])
async def test_a_credential_for_something_else_is_refused_before_anything_is_read(running: Served, path: str) -> None:
    async with raw(running.port) as client:
        assert await told_without_a_body(client, "POST", path, bearer(running, "alex-morgan", "admin")) == b"403"


@pytest.mark.parametrize("path", ["/v1/text", "/v1/utterances"])
async def test_past_a_customers_share_nothing_is_read(running: Served, path: str) -> None:
    for _ in range(20):
        async with raw(running.port) as client:
            status = await _sent(client, path, bearer(running, "alex-morgan"), b"{}")
            if status == b"429":
                break
    async with raw(running.port) as client:
        assert await told_without_a_body(client, "POST", path, bearer(running, "alex-morgan")) == b"429"
    async with raw(running.port) as client:
        body = json.dumps({"text": "what's my balance", "locale": "en-US"}).encode()
        assert await _sent(client, "/v1/text", bearer(running, "imogen-hartley"), body) == b"200"


async def _sent(client: Raw, path: str, headers: str, body: bytes) -> bytes:
    query = "?locale=en-US" if path == "/v1/utterances" else ""
    head = f"POST {path}{query} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
    await client.send(head.encode() + body)
    return (await client.head()).split()[1]


async def test_a_customers_bodies_on_their_way_have_a_bound(running: Served) -> None:
    from services.guard.shares import AT_ONCE

    head = (
        f"POST /v1/text HTTP/1.1\r\nHost: localhost\r\nContent-Length: {SIZE}\r\n{bearer(running, 'alex-morgan')}\r\n"
    )
    clients = [raw(running.port) for _ in range(AT_ONCE)]
    held = [await one.__aenter__() for one in clients]
    for client in held:
        await client.send(head.encode())
    await asyncio.sleep(0.3)
    async with raw(running.port) as client:
        assert await told_without_a_body(client, "POST", "/v1/text", bearer(running, "alex-morgan")) == b"429"
    for one in clients:
        await one.__aexit__(None, None, None)


async def test_a_text_is_refused_as_soon_as_it_is_longer_than_any_may_be(running: Served) -> None:
    async with raw(running.port) as client:
        credential = bearer(running, "alex-morgan")
        await client.send(
            f"POST /v1/text HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n{credential}\r\n".encode()
        )
        for _ in range(http.MAX_TEXT_BYTES // SIZE + 2):
            await client.send(b"%x\r\n" % SIZE + bytes(SIZE) + b"\r\n")
        assert (await client.head()).split()[1] == b"413"


async def test_all_bodies_share_one_bound_and_qa_has_no_other_of_a_clients_secret(tmp_path: Path) -> None:
    heard = FakeRecognizer(lambda _: "")
    async with served(tmp_path, heard, max_upload_bytes=40_000) as running, contextlib.AsyncExitStack() as crowd:
        qa, size = bearer(running, "qa", "qa"), 39_000
        for _ in range(8):
            sender = await crowd.enter_async_context(raw(running.port))
            head = f"POST /v1/text HTTP/1.1\r\nHost: x\r\nContent-Length: {size}\r\n{qa}\r\n"
            await sender.send(head.encode() + b" " * (size - 1))
        await asyncio.sleep(0.3)
        async with raw(running.port) as client:
            assert await _sent(client, "/v1/realtime/client_secrets", qa, b" " * 20_000) == b"503"
    async with served(tmp_path, heard) as running, raw(running.port) as client:
        qa = bearer(running, "qa", "qa")
        assert await told_without_a_body(client, "POST", "/v1/realtime/client_secrets", qa) == b"413"


@pytest.mark.parametrize(
    "head",
    [
        "POST /v1/text HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "POST /v1/text HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "POST /v1/text HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n",
    ],
)
async def test_a_body_with_two_lengths_ends_the_connection_and_nothing_behind_it_is_read(
    running: Served, head: str
) -> None:
    async with raw(running.port) as client:
        behind = "0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        await client.send(f"{head}Host: localhost\r\n{bearer(running, 'alex-morgan')}\r\n{behind}".encode())
        async with asyncio.timeout(3):
            said = await client.reader.read()
    assert said.startswith(b"HTTP/1.1 400 ")
    assert said.count(b"HTTP/1.1") == 1
