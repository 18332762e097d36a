"""What is on record of a call whose connection dies: however early it does, a call that began also ended."""

import asyncio
import logging
import random  # noqa: TID251 - seeded where it is used
import socket
import struct
from pathlib import Path

import pytest
import sqlalchemy as sa

from app.client import typed
from services.record import tables as audit_tables
from services.record.chain import verify
from services.store import Store
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.calls import calling, gateway
from tests.harness.rows import rows
from tests.harness.served import Served, served

ALEX = "alex-morgan"
_c = audit_tables.records.c


def handshake(running: Served) -> bytes:
    """The request that opens a call."""
    (authorization,) = running.token(ALEX).values()
    lines = (
        "GET /v1/calls HTTP/1.1", f"Host: 127.0.0.1:{running.port}", "Connection: Upgrade", "Upgrade: websocket",
        "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", f"Authorization: {authorization}",
    )  # fmt: skip
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def knock(running: Served, stay_s: float) -> None:
    """Ask for a call and be gone after a moment, with a reset instead of a goodbye."""
    _, writer = await asyncio.open_connection("127.0.0.1", running.port)
    writer.write(handshake(running))
    await asyncio.sleep(stay_s)
    raw = writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def on_record(store: Store) -> tuple[list[str], list[str]]:
    """The calls that started and those that ended."""
    found = await rows(store, sa.select(_c.call_id, _c.event).where(_c.event.like("call.%")).order_by(_c.call_id))
    started, ended = ([r.call_id for r in found if r.event == f"call.{what}"] for what in ("started", "ended"))
    return started, ended


async def test_a_connection_that_dies_at_any_moment_of_its_opening_ends_on_record(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rng = random.Random(3)
    async with served(tmp_path, FakeRecognizer(lambda _: ""), max_calls=64) as running:
        for _ in range(4):
            await asyncio.gather(*(knock(running, rng.random() * 0.1) for _ in range(16)))
        await asyncio.sleep(0.3)
        async with asyncio.timeout(20):
            await running.gateway.admission.empty.wait()
        store = running.gateway.callers.banking.bank._store  # type: ignore[attr-defined] # the sandbox
        started, ended = await on_record(store)
        assert len(started) > 10
        assert started == ended
        await verify(store)
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


async def test_a_call_that_is_live_when_the_gateway_stops_ends_on_record(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running, calling(running, ALEX, "en-US") as call:
        await call.send(typed("send fifty dollars to catherine nguyen"))
        store = Store(str(running.gateway.settings.database))
    started, ended = await on_record(store)
    await store.close()
    assert len(started) == 1
    assert started == ended
