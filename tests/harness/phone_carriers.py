"""Carriers' ends of their streams, as their documents describe them."""

import base64
import hashlib
import hmac
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import orjson
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from schemas.audio import AudioFormat, Encoding
from tests.harness.phone import Cleared, Marked, Over, Sound, Told

TOKEN = "t0ken-of-the-account"


def signed(path: str, token: str = TOKEN, host: str = "127.0.0.1") -> dict[str, str]:
    """Twilio's header for an address."""
    made = hmac.new(token.encode(), f"wss://{host}{path}".encode(), hashlib.sha1).digest()
    return {"X-Twilio-Signature": base64.b64encode(made).decode()}


class TwilioBridge:
    """Twilio's end of a stream."""

    form = AudioFormat(Encoding.MULAW, 8_000)
    tells_silence = False
    stream = "MZ18ad3ab5a668481ce02b83e7395059f0"

    def __init__(self, socket: ClientConnection, parameters: dict[str, str]) -> None:
        self.socket = socket
        self._parameters = parameters
        self._count = 0

    async def _send(self, event: str, **more: Any) -> None:
        self._count += 1
        await self.socket.send(
            orjson.dumps({"event": event, "sequenceNumber": str(self._count), "streamSid": self.stream} | more).decode()
        )

    async def begin(self) -> None:
        await self.socket.send('{"event":"connected","protocol":"Call","version":"1.0.0"}')
        start = {
            "accountSid": "AC1",
            "streamSid": self.stream,
            "callSid": "CA1",
            "tracks": ["inbound"],
            "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1},
            "customParameters": self._parameters,
        }
        await self._send("start", start=start)

    async def sound(self, data: bytes) -> None:
        payload = base64.b64encode(data).decode()
        media = {"track": "inbound", "chunk": str(self._count), "timestamp": str(20 * self._count), "payload": payload}
        await self._send("media", media=media)

    async def key(self, digit: str) -> None:
        await self._send("dtmf", dtmf={"track": "inbound_track", "digit": digit})

    async def marked(self, name: str) -> None:
        await self._send("mark", mark={"name": name})

    async def flushed(self, names: list[str]) -> None:
        for name in names:  # Twilio tells of marks that a clear drops, too
            await self.marked(name)

    async def hang_up(self) -> None:
        await self._send("stop", stop={"accountSid": "AC1", "callSid": "CA1"})

    async def told(self) -> AsyncIterator[Told]:
        async for told in _told(self.socket, "streamSid", self.stream):
            yield told


class TelnyxBridge(TwilioBridge):
    """Telnyx's end of a stream."""

    async def _send(self, event: str, **more: Any) -> None:
        self._count += 1
        told = {"event": event, "sequence_number": str(self._count), "stream_id": self.stream} | more
        await self.socket.send(orjson.dumps(told).decode())

    async def begin(self) -> None:
        start = {
            "user_id": "u1",
            "call_control_id": "v2:T02",
            "media_format": {"encoding": "PCMU", "sample_rate": 8000, "channels": 1},
            "custom_parameters": self._parameters,
        }
        await self._send("start", start=start)

    async def told(self) -> AsyncIterator[Told]:
        async for told in _told(self.socket, "stream_id", self.stream):
            yield told


class PlivoBridge(TwilioBridge):
    """Plivo's end of a stream."""

    async def _send(self, event: str, **more: Any) -> None:
        self._count += 1
        told = {"event": event, "sequenceNumber": self._count, "streamId": self.stream} | more
        await self.socket.send(orjson.dumps(told).decode())

    async def begin(self) -> None:
        start = {
            "callId": "c1",
            "streamId": self.stream,
            "accountId": "500025",
            "tracks": ["inbound"],
            "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000},
        }
        await self._send("start", start=start, extra_headers=orjson.dumps(self._parameters).decode())

    async def marked(self, name: str) -> None:
        await self._send("playedStream", name=name)

    async def flushed(self, names: list[str]) -> None:
        """Nothing is said of what a clear drops."""

    async def told(self) -> AsyncIterator[Told]:
        async for told in _told(self.socket, "streamId", self.stream):
            yield told


async def _told(socket: ClientConnection, name: str, stream: str) -> AsyncIterator[Told]:
    """What comes on a stream whose `name` is to be `stream`."""
    try:
        async for message in socket:
            event = orjson.loads(message)
            assert event[name] == stream
            match event["event"]:
                case "media" | "playAudio":
                    yield Sound(base64.b64decode(event["media"]["payload"]))
                case "mark":
                    yield Marked(event["mark"]["name"])
                case "checkpoint":
                    yield Marked(event["name"])
                case "clear" | "clearAudio":
                    yield Cleared()
                case other:
                    raise AssertionError(other)
    except ConnectionClosed:
        pass
    yield Over(f"{socket.close_code} {socket.close_reason}")


@asynccontextmanager
async def unsigned(carrier: str, port: int, parameters: dict[str, str]) -> AsyncIterator[TwilioBridge]:
    """A stream of `telnyx` or `plivo` that only its statement vouches for."""
    async with connect(f"ws://127.0.0.1:{port}/v1/ivr/{carrier}", compression=None) as socket:
        yield (TelnyxBridge if carrier == "telnyx" else PlivoBridge)(socket, parameters)


@asynccontextmanager
async def twilio(
    port: int, parameters: dict[str, str], headers: dict[str, str] | None = None
) -> AsyncIterator[TwilioBridge]:
    """A stream that Twilio opens, with its signature."""
    given = signed("/v1/ivr/twilio", host=f"127.0.0.1:{port}") if headers is None else headers
    url = f"ws://127.0.0.1:{port}/v1/ivr/twilio"
    async with connect(url, additional_headers=given, compression=None) as socket:
        yield TwilioBridge(socket, parameters)
