"""Genesys' end of an AudioHook session, with the signature of its handshake."""

import base64
import hashlib
import hmac
import secrets
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import orjson
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from schemas.audio import AudioFormat, Encoding
from tests.harness.phone import Cleared, Over, Sound, Told

API_KEY, SECRET = "genesys-key", b"s" * 32
PATH = "/v1/ivr/audiohook"


def signed(host: str, session: str, secret: bytes = SECRET, **changes: Any) -> dict[str, str]:
    """The headers of a handshake, signed as Genesys signs them; `changes` go into the signature's parameters."""
    headers = {
        "audiohook-organization-id": str(uuid.UUID(int=7)),
        "audiohook-session-id": session,
        "audiohook-correlation-id": str(uuid.UUID(int=8)),
        "x-api-key": API_KEY,
    }
    at = int(time.time())  # noqa: TID251 - Genesys' own clock
    given: dict[str, Any] = {"keyid": API_KEY, "nonce": secrets.token_hex(16), "alg": "hmac-sha256"}
    given |= {"created": at, "expires": at + 30} | changes
    names = " ".join(f'"{name}"' for name in ("@request-target", "@authority", *headers))
    options = "".join(
        f";{key}={value if isinstance(value, int) else chr(34) + value + chr(34)}" for key, value in given.items()
    )
    lines = [f'"@request-target": {PATH}', f'"@authority": {host}', *(f'"{k}": {v}' for k, v in headers.items())]
    base = "\n".join([*lines, f'"@signature-params": ({names}){options}'])
    made = base64.b64encode(hmac.new(secret, base.encode(), hashlib.sha256).digest()).decode()
    return headers | {"signature-input": f"sig1=({names}){options}", "signature": f"sig1=:{made}:"}


class GenesysBridge:
    """One session. It tells that all was played whenever it has nothing more to play."""

    form = AudioFormat(Encoding.MULAW, 8_000)
    tells_silence = True

    def __init__(
        self, socket: ClientConnection, session: str, config: dict[str, str] | None, stereo: bool = True
    ) -> None:
        self.socket = socket
        self._session = session
        self._config = config
        self._stereo = stereo
        self._seq = self._serverseq = 0
        self.disconnected: dict[str, Any] | None = None

    async def send(self, kind: str, **parameters: Any) -> None:
        self._seq += 1
        numbers = {"seq": self._seq, "serverseq": self._serverseq, "position": "PT1.2S"}
        message = {"version": "2", "id": self._session, "type": kind, "parameters": parameters} | numbers
        await self.socket.send(orjson.dumps(message).decode())

    async def begin(self) -> None:
        media = [
            {"type": "audio", "format": form, "channels": channels, "rate": 8000}
            for channels in ([["external", "internal"]] if self._stereo else [["external", "internal"], ["external"]])
            for form in ("L16", "PCMU")
        ]
        participant = {"id": str(uuid.UUID(int=5)), "ani": "+15550123", "aniName": "A", "dnis": "+15550100"}
        await self.send(
            "open",
            organizationId=str(uuid.UUID(int=7)),
            conversationId=str(uuid.UUID(int=4)),
            participant=participant,
            media=media,
            language="en-US",
            **({} if self._config is None else {"inputVariables": self._config}),
        )
        opened = self._read(await self.socket.recv())
        assert opened["type"] == "opened"
        channels = ["external", "internal"] if self._stereo else ["external"]
        assert opened["parameters"]["media"] == [
            {"type": "audio", "format": "PCMU", "channels": channels, "rate": 8000}
        ]

    def _read(self, message: str | bytes) -> dict[str, Any]:
        told: dict[str, Any] = orjson.loads(message)
        assert (told["version"], told["id"]) == ("2", self._session)
        assert told["seq"] == self._serverseq + 1
        assert told["clientseq"] <= self._seq
        assert isinstance(told["parameters"], dict), "Genesys refuses messages without"
        self._serverseq = told["seq"]
        return told

    async def sound(self, data: bytes) -> None:
        if self._stereo:
            data = bytes(byte for one in data for byte in (one, 0xFF))  # the agent's side is silent
        await self.socket.send(data)

    async def key(self, digit: str) -> None:
        await self.send("dtmf", digit=digit)

    async def marked(self, name: str) -> None:
        await self.send("playback_completed")

    async def flushed(self, names: list[str]) -> None:
        await self.send("playback_completed")

    async def hang_up(self) -> None:
        await self.send("close", reason="end")

    async def told(self) -> AsyncIterator[Told]:
        try:
            async for message in self.socket:
                if isinstance(message, bytes):
                    assert len(message) >= 1_600, "Genesys answers smaller ones with 429"
                    assert self._config is not None, "a monitor answers any with 415"
                    yield Sound(message)
                    continue
                told = self._read(message)
                match told["type"]:
                    case "event":
                        assert told["parameters"]["entities"] == [{"type": "barge_in", "data": {}}]
                        yield Cleared()
                    case "disconnect":
                        self.disconnected = told["parameters"]
                        await self.send("close", reason="disconnect")
                    case "closed":
                        await self.socket.close()
                    case "pong" | "updated":
                        pass
                    case other:
                        raise AssertionError(other)
        except ConnectionClosed:
            pass
        yield Over(str((self.disconnected or {}).get("outputVariables")))


@asynccontextmanager
async def genesys(port: int, config: dict[str, str] | None, *, stereo: bool = True) -> AsyncIterator[GenesysBridge]:
    """A signed session; a monitor's, where there is no `config`."""
    session, host = str(uuid.UUID(bytes=secrets.token_bytes(16))), f"127.0.0.1:{port}"
    async with connect(f"ws://{host}{PATH}", additional_headers=signed(host, session), compression=None) as socket:
        yield GenesysBridge(socket, session, config, stereo)
