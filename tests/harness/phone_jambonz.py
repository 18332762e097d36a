"""jambonz' end of a `listen` with bidirectional streaming."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import orjson
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from schemas.audio import AudioFormat, Encoding
from tests.harness.phone import Cleared, Marked, Over, Sound, Told


class JambonzBridge:
    """One call at 8 kHz."""

    form = AudioFormat(Encoding.PCM16, 8_000)
    tells_silence = False

    def __init__(self, socket: ClientConnection, metadata: dict[str, str]) -> None:
        self.socket = socket
        self._metadata = metadata
        self.words: list[str] = []
        """What it was given to speak itself."""

    async def _send(self, **message: object) -> None:
        await self.socket.send(orjson.dumps(message).decode())

    async def begin(self) -> None:
        told = {"callSid": "c-1", "direction": "inbound", "from": "+15550123", "sampleRate": 8000, "mixType": "mono"}
        await self._send(**told, **self._metadata)

    async def sound(self, data: bytes) -> None:
        await self.socket.send(data)

    async def key(self, digit: str) -> None:
        await self._send(event="dtmf", dtmf=digit, duration="200")

    async def marked(self, name: str) -> None:
        await self._send(type="mark", data={"name": name, "event": "playout"})

    async def flushed(self, names: list[str]) -> None:
        for name in names:
            await self._send(type="mark", data={"name": name, "event": "cleared"})

    async def hang_up(self) -> None:
        await self.socket.close()

    async def told(self) -> AsyncIterator[Told]:  # noqa: C901 - one case a message
        try:
            async for message in self.socket:
                if isinstance(message, bytes):
                    yield Sound(message)
                    continue
                given = orjson.loads(message)
                match given["type"]:
                    case "json" if "say" in given["data"]:
                        (kind,) = given["data"]["say"].keys() - {"language"}
                        self.words.append(given["data"]["say"][kind])
                        yield Sound(bytes(16 * 50))  # so long the bridge's own voice takes
                    case "json":
                        yield Marked(given["data"]["mark"])
                    case "mark":
                        yield Marked(given["data"]["name"])
                    case "killAudio":
                        yield Cleared()
                    case "error":
                        continue  # why the call is given back, which follows
                    case "transfer":
                        yield Over("transfer")
                    case "disconnect":
                        yield Over("disconnect")
                    case other:
                        raise AssertionError(other)
        except ConnectionClosed:
            pass
        yield Over(f"{self.socket.close_code} {self.socket.close_reason}")


@asynccontextmanager
async def jambonz(
    port: int, metadata: dict[str, str], headers: dict[str, str], query: str = ""
) -> AsyncIterator[JambonzBridge]:
    """A call that an application lets listen."""
    url = f"ws://127.0.0.1:{port}/v1/ivr/jambonz{query}"
    subprotocols = [Subprotocol("audio.jambonz.org")]
    async with connect(url, subprotocols=subprotocols, additional_headers=headers, compression=None) as socket:
        assert socket.subprotocol == "audio.jambonz.org"
        yield JambonzBridge(socket, metadata)
