"""Asterisk's ends of AudioSocket and chan_websocket, as its source has them."""

import asyncio
import socket as sockets
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlencode

import orjson
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from schemas.audio import AudioFormat, Encoding
from tests.harness.phone import Cleared, Marked, Over, Sound, Told


def free_port() -> int:
    """A port that nobody listens on."""
    with sockets.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port: int = bound.getsockname()[1]
        return port


class AudioSocketBridge:
    """The dialplan application AudioSocket(): it plays what comes as it comes."""

    form = AudioFormat(Encoding.PCM16, 8_000)
    tells_silence = False

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, identity: str) -> None:
        self._reader = reader
        self.writer = writer
        self._identity = identity

    async def send(self, kind: int, payload: bytes) -> None:
        self.writer.write(bytes([kind]) + len(payload).to_bytes(2, "big") + payload)
        await self.writer.drain()

    async def begin(self) -> None:
        await self.send(0x01, uuid.UUID(self._identity).bytes)

    async def sound(self, data: bytes) -> None:
        await self.send(0x10, data)

    async def key(self, digit: str) -> None:
        await self.send(0x03, digit.encode())

    async def marked(self, name: str) -> None:
        raise AssertionError("there are no marks")

    async def flushed(self, names: list[str]) -> None:
        raise AssertionError("nothing is flushed")

    async def hang_up(self) -> None:
        await self.send(0x00, b"")

    async def told(self) -> AsyncIterator[Told]:
        try:
            while True:
                head = await self._reader.readexactly(3)
                payload = await self._reader.readexactly(int.from_bytes(head[1:], "big"))
                if head[0] == 0x00:
                    yield Over("hangup")
                    return
                assert head[0] == 0x10, "Asterisk takes nothing else"
                assert payload, "nor no sound at all"
                yield Sound(payload)
        except (asyncio.IncompleteReadError, OSError):
            yield Over("closed")


@asynccontextmanager
async def audiosocket(port: int, identity: str) -> AsyncIterator[AudioSocketBridge]:
    """A call that a dialplan sends to an AudioSocket."""
    reader, writer = await _connected(port)
    try:
        yield AudioSocketBridge(reader, writer, identity)
    finally:
        writer.close()


async def _connected(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to a server that may be about to listen."""
    async with asyncio.timeout(10):
        while True:
            try:
                return await asyncio.open_connection("127.0.0.1", port)
            except ConnectionRefusedError:
                await asyncio.sleep(0.05)


class ChanWebsocketBridge:
    """A channel of chan_websocket with ulaw, whose control messages are JSON or plain text."""

    form = AudioFormat(Encoding.MULAW, 8_000)
    tells_silence = False

    def __init__(self, socket: ClientConnection, *, json: bool) -> None:
        self.socket = socket
        self._json = json

    async def _event(self, name: str, **more: str) -> None:
        if self._json:
            await self.socket.send(orjson.dumps({"event": name, "channel_id": "1.1"} | more).decode())
        elif name == "MEDIA_MARK_PROCESSED":
            await self.socket.send(f"{name} {more['correlation_id']}")
        else:
            given = (f"{key}:{value}" for key, value in ({"channel_id": "1.1"} | more).items())
            await self.socket.send(" ".join((name, *given)))

    async def begin(self) -> None:
        told = {"connection_id": "c-1", "channel": "WebSocket/x/0x7f", "format": "ulaw", "optimal_frame_size": "160"}
        await self._event("MEDIA_START", **told, ptime="20")

    async def sound(self, data: bytes) -> None:
        await self.socket.send(data)

    async def key(self, digit: str) -> None:
        await self._event("DTMF_END", digit=digit)

    async def marked(self, name: str) -> None:
        await self._event("MEDIA_MARK_PROCESSED", correlation_id=name)

    async def flushed(self, names: list[str]) -> None:
        """Marks are flushed with the sound, and nothing is said of them."""

    async def hang_up(self) -> None:
        await self.socket.close()

    async def told(self) -> AsyncIterator[Told]:
        try:
            async for message in self.socket:
                if isinstance(message, bytes):
                    yield Sound(message)
                    continue
                assert len(message) <= 127, "Asterisk reads no more"
                command, _, name = message.partition(" ")
                if self._json:
                    given = orjson.loads(message)
                    command, name = given["command"], given.get("correlation_id", "")
                match command:
                    case "MARK_MEDIA":
                        yield Marked(name)
                    case "FLUSH_MEDIA":
                        yield Cleared()
                    case "HANGUP":
                        yield Over("hangup")
                        return
                    case _:
                        raise AssertionError(message)
        except ConnectionClosed:
            pass
        yield Over(f"{self.socket.close_code} {self.socket.close_reason}")


@asynccontextmanager
async def chan_websocket(
    port: int, *, json: bool, headers: dict[str, str] | None = None, **query: str
) -> AsyncIterator[ChanWebsocketBridge]:
    """A call that a dialplan dials to a WebSocket."""
    url = f"ws://127.0.0.1:{port}/v1/ivr/asterisk?{urlencode(query)}"
    async with connect(
        url, subprotocols=[Subprotocol("media")], additional_headers=headers or {}, compression=None
    ) as socket:
        assert socket.subprotocol == "media"
        yield ChanWebsocketBridge(socket, json=json)
