"""What strangers and one bad customer do to a service, each until a time is over; run in a process of its own."""

import asyncio
import contextlib
import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from multiprocessing.synchronize import Event
from typing import Final
from urllib.parse import urlsplit

import httpx
import orjson

from app.client import session, typed
from deploy.bench._abuse import bombs

UPLOADS: Final = 8
"""Recordings that are sent at a time."""
SLOW: Final = 200
"""Connections that dawdle."""
HALF_OPEN: Final = 60
DROPS_S: Final = 200
"""Calls that are opened and dropped a second."""


@dataclass(frozen=True, slots=True)
class Target:
    """The service at `base`, a customer's `token`, and the moment (time.monotonic) when it is enough."""

    base: str
    token: str
    until: float

    @property
    def over(self) -> bool:
        """Whether it is enough."""
        return time.monotonic() >= self.until

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection without a word."""
        place = urlsplit(self.base)
        return await asyncio.open_connection(place.hostname, place.port)

    def handshake(self, headers: str = "", path: str = "/v1/calls") -> bytes:
        """The head that asks for a call."""
        return (
            f"GET {path} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
            f"Authorization: Bearer {self.token}\r\n{headers}\r\n"
        ).encode()


Attack = Callable[[Target], Awaitable[None]]


def frame(opcode: int, data: bytes = b"", *, fin: bool = True, reserved: int = 0) -> bytes:
    """One frame as a client sends it, masked with zeros."""
    head = bytes([fin << 7 | reserved << 4 | opcode])
    if len(data) < 126:  # noqa: PLR2004 - RFC 6455, 5.2
        return head + bytes([128 | len(data)]) + bytes(4) + data
    return head + bytes([128 | 126]) + len(data).to_bytes(2, "big") + bytes(4) + data


async def _again(target: Target, one: Callable[[Target], Awaitable[None]], at_once: int) -> None:
    """Many at a time, again and again."""

    async def repeat() -> None:
        while not target.over:
            with contextlib.suppress(OSError, EOFError, TimeoutError, httpx.HTTPError):
                await one(target)
            await asyncio.sleep(0.01)

    await asyncio.gather(*(repeat() for _ in range(at_once)))


def uploads(*files: bytes) -> Attack:
    """Recordings, UPLOADS at a time."""

    async def attack(target: Target) -> None:
        headers = {"Authorization": f"Bearer {target.token}", "Content-Type": "audio/wav"}
        async with httpx.AsyncClient(base_url=target.base, headers=headers, timeout=10) as client:

            async def one(_: Target) -> None:
                for file in files:
                    await client.post("/v1/utterances?locale=en-US", content=file)

            await _again(target, one, UPLOADS)

    return attack


def slow(head: bytes, *, credential: bool) -> Attack:
    """SLOW connections on which a head comes, and then a byte a second."""

    async def one(target: Target) -> None:
        reader, writer = await target.connect()
        authorization = f"Authorization: Bearer {target.token}\r\n\r\n".encode() if credential else b""
        with contextlib.closing(writer):
            writer.write(head + authorization)
            while not target.over and not reader.at_eof():
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(1)

    return lambda target: _again(target, one, SLOW)


def floods(piece: bytes, *, reads: bool = True, at_once: int = 4) -> Attack:
    """Calls on which the same bytes come as fast as they are taken; cut off, they call again."""

    async def one(target: Target) -> None:
        reader, writer = await target.connect()
        with contextlib.closing(writer):
            writer.write(target.handshake())
            async with asyncio.timeout(10):
                await reader.readuntil(b"\r\n\r\n")
            writer.write(frame(1, orjson.dumps(session("en-US"))))
            reading = asyncio.create_task(_read_all(reader)) if reads else None
            try:
                while not target.over and not (reads and reader.at_eof()):
                    writer.write(piece)
                    async with asyncio.timeout(1):
                        await writer.drain()
            finally:
                if reading is not None:
                    reading.cancel()

    return lambda target: _again(target, one, at_once)


async def _read_all(reader: asyncio.StreamReader) -> None:
    with contextlib.suppress(OSError):
        while await reader.read(65_536):
            pass


async def connects_and_drops(target: Target) -> None:
    """DROPS_S a second ask for a call and are gone, half of them before it is answered."""

    async def one(number: int) -> None:
        with contextlib.suppress(OSError, EOFError, TimeoutError):
            reader, writer = await target.connect()
            with contextlib.closing(writer):
                writer.write(target.handshake())
                if number % 2:
                    async with asyncio.timeout(5):
                        await reader.readuntil(b"\r\n\r\n")
                else:
                    await writer.drain()

    begun, tasks = time.monotonic(), []
    number = 0
    while not target.over:
        tasks.append(asyncio.create_task(one(number)))
        number += 1
        await asyncio.sleep(max(0.0, begun + number / DROPS_S - time.monotonic()))
    await asyncio.gather(*tasks)


async def half_open(target: Target) -> None:
    """Callers who open a call and are never heard of again."""
    held = []
    for _ in range(HALF_OPEN):
        with contextlib.suppress(OSError, EOFError, TimeoutError):
            reader, writer = await target.connect()
            writer.write(target.handshake())
            held.append((reader, writer))
    await asyncio.sleep(max(0.0, target.until - time.monotonic()))
    for _, writer in held:
        writer.transport.abort()


async def _silent_telephone(target: Target) -> None:
    """A bridge that needs no voice of ours, proves nothing, and never says whose call it is."""
    reader, writer = await target.connect()
    with contextlib.closing(writer):
        writer.write(target.handshake(path="/v1/ivr/jambonz?audio=text"))
        async with asyncio.timeout(max(0.0, target.until - time.monotonic())):
            await _read_all(reader)
            await asyncio.sleep(1)


async def _long_token(target: Target) -> None:
    reader, writer = await target.connect()
    with contextlib.closing(writer):
        writer.write(Target(target.base, "a" * 65_536, 0).handshake())
        async with asyncio.timeout(10):
            await reader.read(1_000)


async def _bad_token(target: Target) -> None:
    reader, writer = await target.connect()
    with contextlib.closing(writer):
        writer.write(Target(target.base, target.token[:-8] + "AAAAAAAA", 0).handshake())
        async with asyncio.timeout(10):
            await reader.read(1_000)


async def replays(target: Target) -> None:
    """One request, sent twenty times at once, again and again."""
    headers = {"Authorization": f"Bearer {target.token}"}
    async with httpx.AsyncClient(base_url=target.base, headers=headers, timeout=10) as client:

        async def one(_: Target) -> None:
            await client.post("/v1/text", json={"text": "send fifty dollars to emily", "locale": "en-US"})

        await _again(target, one, 20)


_POST: Final = b"POST /v1/utterances?locale=en-US HTTP/1.1\r\nHost: localhost\r\nContent-Type: audio/wav\r\n"
_TINY: Final = b"POST /v1/text HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
_TYPED: Final = frame(1, orjson.dumps(typed("what's my balance")))
_INVOLVED: Final = frame(1, orjson.dumps(typed("fifty, no, sixty to emily, sorry, " * 15 + "yes no " * 40)))


async def _byte_by_byte(target: Target) -> None:
    reader, writer = await target.connect()
    with contextlib.closing(writer):
        writer.write(_TINY)
        while not target.over and not reader.at_eof():
            writer.write(b"1\r\nx\r\n" * 10_000)
            async with asyncio.timeout(1):
                await writer.drain()


ATTACKS: Final[dict[str, Callable[[], Attack]]] = {
    "bombs: flac": lambda: uploads(bombs.flac_of_silence(2_000)),
    "bombs: ogg": lambda: uploads(bombs.opus_of_hours(25_500), bombs.opus_that_lies(25_500)),
    "bombs: ogg cut to nothing": lambda: uploads(bombs.opus_that_ends_and_ends(255 * 100)),
    "bombs: mp3": lambda: uploads(bombs.mp3_of_hours(100_000)),
    "lying headers": lambda: uploads(bombs.wav_of_chunks(), bombs.flac_of_empty_blocks(), bombs.mp3_of_tags()),
    "endless names": lambda: uploads(bombs.wav_of_names(), bombs.mp3_of_names(), bombs.opus_of_comments()),
    "playlists": lambda: uploads(*bombs.PLAYLISTS.values()),
    "slow uploads": lambda: slow(_POST + b"Content-Length: 100000\r\n", credential=True),
    "slow handshakes": lambda: slow(b"GET /v1/calls HTTP/1.1\r\nHost: localhost\r\nX: ", credential=False),
    "bodies byte by byte": lambda: lambda target: _again(target, _byte_by_byte, 8),
    "endless fragments": lambda: floods(frame(1, fin=False) + frame(0, fin=False) * 4_000),
    "pings": lambda: floods(frame(9) * 4_000),
    "pings between messages": lambda: floods((frame(9) * 40 + frame(1, b"{}")) * 50),
    "unread pongs": lambda: floods((frame(9, bytes(125)) * 40 + frame(2)) * 20, reads=False),
    "tiny messages": lambda: floods(frame(2, bytes(2)) * 2_000),
    "typing without end": lambda: floods(_TYPED * 50),
    "involved words": lambda: floods(_INVOLVED * 50),
    "compressed messages": lambda: floods(frame(1, bytes(20), reserved=4) * 100),
    "deep json": lambda: floods(frame(1, b"[" * 60_000)),
    "speech faster than time": lambda: floods(frame(2, bytes(60_000)) * 4),
    "half-open peers": lambda: half_open,
    "silent telephones": lambda: lambda target: _again(target, _silent_telephone, 2 * HALF_OPEN),
    "connects and drops": lambda: connects_and_drops,
    "tokens of 64 kB": lambda: lambda target: _again(target, _long_token, 20),
    "forged tokens": lambda: lambda target: _again(target, _bad_token, 20),
    "replays": lambda: replays,
}
"""What each is, and how it is made ready."""


def run(name: str, target: Target, seconds: float, ready: Event) -> None:
    """Attack for so long, without precedence over those who are honest, as from another machine. `ready`: it begins."""
    attack = ATTACKS[name]()
    os.nice(19)
    ready.set()
    asyncio.run(_run(attack, replace(target, until=time.monotonic() + seconds)))


async def _run(attack: Attack, target: Target) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(target.until - time.monotonic() + 3):
            await attack(target)
