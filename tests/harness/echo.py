"""Our HTTP and WebSocket stack before an application that says back what it hears; and a client of raw bytes."""

import asyncio
import contextlib
import os
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from tests.harness.listening import listening

ANSWER_S = 60
"""How long an answer may take: the largest messages go back and forth many at once."""
HANDSHAKE = (
    "GET /echo HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
)


async def _echo(socket: WebSocket) -> None:
    await socket.accept()
    with contextlib.suppress(WebSocketDisconnect):
        while True:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            text, data = message.get("text"), message.get("bytes")
            await (socket.send_text(text) if text is not None else socket.send_bytes(data or b""))


async def _read(request: Request) -> PlainTextResponse:
    return PlainTextResponse(str(len(await request.body())))


async def _hello(_: Request) -> PlainTextResponse:
    return PlainTextResponse("hello")


@asynccontextmanager
async def echo(**settings: Any) -> AsyncIterator[int]:
    """A server; its port."""
    app = Starlette(
        routes=[
            WebSocketRoute("/echo", _echo),
            Route("/read", _read, methods=["POST"]),
            Route("/", _hello),
            Route("/refuse", _hello, methods=["POST"]),
        ]
    )
    async with listening(app, **settings) as port:
        yield port


def frame(opcode: int, data: bytes = b"", *, fin: bool = True, reserved: int = 0, masked: bool = True) -> bytes:
    """One frame as a client sends it, or should not."""
    head = bytes([fin << 7 | reserved << 4 | opcode])
    bit = masked << 7
    if len(data) < 126:
        head += bytes([bit | len(data)])
    elif len(data) < 2**16:
        head += bytes([bit | 126]) + struct.pack("!H", len(data))
    else:
        head += bytes([bit | 127]) + struct.pack("!Q", len(data))
    if not masked:
        return head + data
    mask = os.urandom(4)
    return head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(data))


@dataclass
class Raw:
    """A client of bytes."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        with contextlib.suppress(ConnectionError):
            await self.writer.drain()

    async def shake(self, headers: str = "") -> bytes:
        """The handshake; its answer's head."""
        await self.send((HANDSHAKE + headers + "\r\n").encode())
        return await self.head()

    async def head(self) -> bytes:
        async with asyncio.timeout(ANSWER_S):
            return await self.reader.readuntil(b"\r\n\r\n")

    async def frame(self) -> tuple[int, bytes] | None:
        """The next frame's opcode and payload; none when the line is cut."""
        try:
            async with asyncio.timeout(ANSWER_S):
                first, second = await self.reader.readexactly(2)
                size = second & 127
                if size > 125:
                    size = int.from_bytes(await self.reader.readexactly(2 if size == 126 else 8), "big")
                return first & 15, await self.reader.readexactly(size)
        except (asyncio.IncompleteReadError, ConnectionError):
            return None

    async def closed_with(self) -> int | None:
        """The code of the close that comes, past whatever else does; none when there is only the end."""
        while (got := await self.frame()) is not None:
            if got[0] == 8:
                return int.from_bytes(got[1][:2], "big") if got[1] else 1005
        return None

    async def over(self, within_s: float = 20) -> None:
        """The line ends within a time."""
        with contextlib.suppress(ConnectionError):
            async with asyncio.timeout(within_s):
                while await self.reader.read(65536):
                    pass


@asynccontextmanager
async def raw(port: int) -> AsyncIterator[Raw]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield Raw(reader, writer)
    finally:
        writer.transport.abort()  # a flood that is still to be sent is not waited for
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
