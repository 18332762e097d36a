"""The TCP server that Asterisk's AudioSocket connects to."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from app.transports.live.together import Hung
from app.transports.telephone.audiosocket import AudioSocket
from app.transports.telephone.connection import PhoneDeps
from app.transports.telephone.driver import serve
from app.transports.telephone.line import Wire
from schemas.errors import ConfigInvalid, TellerlineError
from services.guard.expected_calls import ExpectedCalls

log = logging.getLogger(__name__)

PIECE = 4_096
"""Bytes that are read at a time; a packet of speech has 323."""
UNSENT = 64 * 1024
"""Bytes that may wait for the other side."""


def place(setting: str) -> tuple[str, int]:
    """Host and port, as the setting has them."""
    host, _, port = setting.rpartition(":")
    return host.strip("[]"), int(port)


class TcpConnection:
    """One line."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        writer.transport.set_write_buffer_limits(UNSENT)

    async def open(self) -> None:
        """It is open."""

    async def receive(self) -> Wire | None:
        """What has come; null where the other side has closed."""
        try:
            return await self._reader.read(PIECE) or None
        except OSError:
            return None

    async def send(self, message: Wire) -> None:
        """Send bytes. Raises Hung."""
        assert isinstance(message, bytes)
        try:
            self._writer.write(message)
            await self._writer.drain()
        except (OSError, RuntimeError):
            raise Hung from None

    async def close(self, error: TellerlineError | None) -> None:  # noqa: ARG002 - nothing can be said
        """Close it, once all was sent that the other side takes."""
        self._writer.close()
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(1.0):
                await self._writer.wait_closed()
                return
        self._writer.transport.abort()


@asynccontextmanager
async def listening(host: str, port: int, deps: PhoneDeps, expected: ExpectedCalls) -> AsyncIterator[int]:
    """Take calls at an address while the block lasts; its port. Raises ConfigInvalid where that can't be had."""
    taking = replace(deps, vouch=expected.take, ended=expected.ended)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = TcpConnection(reader, writer)
        try:
            deps.calls.shares.connection(str(writer.get_extra_info("peername")[0]))
            await serve(connection, AudioSocket(), taking, proven=True)
        except TellerlineError as refused:
            deps.calls.metrics.error(refused.code)
            await connection.close(refused)
        except Exception as fault:
            log.exception("a call on the AudioSocket failed: %s", type(fault).__name__)
            await connection.close(None)

    try:
        server = await asyncio.start_server(answer, host, port, limit=UNSENT)
    except OSError as error:
        raise ConfigInvalid(f"TELLERLINE_AUDIOSOCKET: {host}:{port} can't be listened on") from error
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
