"""Where the gateway ends TLS itself, a handshake has the bounds of every other stranger."""

import asyncio
import contextlib
import shutil
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from app.gate import doorman
from tests.harness.certificates import certified
from tests.harness.echo import Raw, echo, frame, raw

GET = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    made = certified(tmp_path_factory.mktemp("tls"))
    return {"ssl_certfile": made["tls_certificate"], "ssl_keyfile": made["tls_key"]}


@pytest.fixture(autouse=True)
def _no_lobby_of_before() -> None:
    doorman._LOBBIES.clear()


@asynccontextmanager
async def secured(port: int, certificate: dict[str, str]) -> AsyncIterator[Raw]:
    context = ssl.create_default_context(cafile=certificate["ssl_certfile"])
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    try:
        yield Raw(reader, writer)
    finally:
        writer.transport.abort()


async def _answered(port: int, certificate: dict[str, str]) -> None:
    async with secured(port, certificate) as client:
        await client.send(GET)
        assert (await client.head()).split()[1] == b"200"


async def test_calls_are_carried_whole(certificate: dict[str, str]) -> None:
    async with echo(**certificate) as port, secured(port, certificate) as client:
        assert (await client.shake()).split()[1] == b"101"
        for data in (b"", b"hello", bytes(60_000), bytes(65_536)):
            await client.send(frame(2, data))
            assert await client.frame() == (2, data)


def certified_in(folder: Path) -> str:
    folder.mkdir()
    return certified(folder)["tls_certificate"]


async def _served_by(port: int) -> bytes | None:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    shown: bytes | None = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.transport.abort()
    return shown


async def test_a_renewed_certificate_is_taken_and_a_broken_one_is_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("app.gate.certificate.EVERY_S", 0.02)
    made = certified(tmp_path)
    async with echo(ssl_certfile=made["tls_certificate"], ssl_keyfile=made["tls_key"]) as port:
        first = await _served_by(port)
        another = certified_in(tmp_path / "another")
        async with asyncio.timeout(20):
            certified(tmp_path)
            while (second := await _served_by(port)) == first:  # noqa: ASYNC110 - nothing tells of it
                await asyncio.sleep(0.02)
            shutil.copy(another, made["tls_certificate"])  # of another key
            while "stays" not in caplog.text:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert await _served_by(port) == second


async def test_files_that_change_while_they_are_read_are_read_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("app.gate.certificate.EVERY_S", 0.02)
    monkeypatch.setattr("app.gate.certificate.pair", lambda *_: iter(()))  # they were a pair when it looked
    made, other = certified(tmp_path), certified_in(tmp_path / "another")
    async with echo(ssl_certfile=made["tls_certificate"], ssl_keyfile=made["tls_key"]) as port:
        first = await _served_by(port)
        await asyncio.sleep(0.1)
        shutil.copy(other, made["tls_certificate"])
        async with asyncio.timeout(20):
            while "not looked at: SSLError" not in caplog.text:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            assert await _served_by(port) == first
            shutil.copy(Path(other).with_suffix(".key"), made["tls_key"])
            while await _served_by(port) == first:  # noqa: ASYNC110
                await asyncio.sleep(0.02)


@pytest.mark.parametrize("said", [b"", b"\x16\x03\x01\x02\x00\x01", b"\x16\x03\x01"])
async def test_a_handshake_that_does_not_come_ends(
    monkeypatch: pytest.MonkeyPatch, certificate: dict[str, str], said: bytes
) -> None:
    monkeypatch.setattr(doorman, "HEAD_S", 0.4)
    monkeypatch.setattr("app.gate.lobby.SWEEP_S", 0.1)
    async with echo(**certificate) as port, raw(port) as client:
        await client.send(said)
        await client.over(within_s=3)
        await _answered(port, certificate)


async def test_what_is_no_tls_ends_at_once(certificate: dict[str, str]) -> None:
    async with echo(**certificate) as port, raw(port) as client:
        await client.send(GET)
        await client.over(within_s=3)
        assert not any(lobby._guests for lobby in doorman._LOBBIES.values())


async def test_handshakes_that_dawdle_make_room(monkeypatch: pytest.MonkeyPatch, certificate: dict[str, str]) -> None:
    monkeypatch.setattr("app.gate.lobby.STRANGERS", 20)
    async with echo(**certificate) as port, contextlib.AsyncExitStack() as crowd:
        for _ in range(60):
            await crowd.enter_async_context(raw(port))
        await _answered(port, certificate)
        assert sum(len(lobby._guests) for lobby in doorman._LOBBIES.values()) <= 21


async def test_past_their_allowance_handshakes_come_in_turn(
    monkeypatch: pytest.MonkeyPatch, certificate: dict[str, str]
) -> None:
    monkeypatch.setattr("app.gate.secured.HANDSHAKE_S", 0.1)
    async with echo(**certificate) as port:
        began = asyncio.get_running_loop().time()
        await asyncio.gather(*(_answered(port, certificate) for _ in range(12)))
        assert asyncio.get_running_loop().time() - began > 2, "0.1 s at once, then 0.2 s a second"
