"""Hostile and clumsy clients of WS /v1/calls, from a seed: each call is a list of steps, each step a message or a deed.

What they send is valid, nearly valid or garbage, in any order, of any size, whole, in pieces or cut off.
"""

import asyncio
import contextlib
import json
import random  # noqa: TID251 - seeded where it is used
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from app.gate.websocket import LONGEST
from schemas.wire.client import MAX_MESSAGE
from tests.harness.fuzz_events import GARBAGE, Says, broken, sound, valid

REPLY_S = 30.0
"""A gateway that answers a question later than this hangs."""
FAREWELLS = {1000, 1002, 1003, 1007, 1008, 1009, 1013, 4408}
"""Close codes a client may earn. 1011 is a fault of ours, 1006 no goodbye at all."""
DENIALS = {400, 401, 403, 404, 429, 503}
"""What an HTTP answer to a handshake may be."""
Deed = Callable[["Client"], Any]
Step = str | bytes | Deed


async def _bad_utf8(client: "Client") -> None:
    await client.socket.send(b'{"type": "\xff\xfe\xed\xa0\x80"}', text=True)


async def _pieces(client: "Client") -> None:
    await client.socket.send(iter(['{"type": "input_audio', "_buffer.", "", 'clear"}']))
    client.cleared += 1


async def _oversize(client: "Client") -> None:
    await client.socket.send(bytes(client.most + 2))


async def _oversize_pieces(client: "Client") -> None:
    await client.socket.send(iter([bytes(30_000)] * (client.most // 30_000 + 2)))


async def _ping(client: "Client") -> None:
    async with asyncio.timeout(REPLY_S):
        await (await client.socket.ping(b"p" * 125))


FRAMELESS = (b"\xf1\x80", b"\x83\x80", b"\x81\x02{}", b"\x89\xfe\x01\x00", b"GET / HTTP/1.1\r\n\r\n", b"\x80\x80")


async def _raw(client: "Client") -> None:
    """Bytes that are no frame: reserved bits, unknown opcodes, unmasked text, a control frame too long."""
    client.socket.transport.write(client.rng.choice(FRAMELESS) + bytes(300))


async def _half_close(client: "Client") -> None:
    client.socket.transport.write_eof()


async def _vanish(client: "Client") -> None:
    client.socket.transport.abort()


async def _close_oddly(client: "Client") -> None:
    await client.socket.close(client.rng.choice([1000, 1001, 3000, 4999]), "canceled " * 10)


async def _wait(client: "Client") -> None:
    await asyncio.sleep(client.rng.choice([0, 0.001, 0.02]))


ENDS: tuple[Deed, ...] = (_bad_utf8, _oversize, _oversize_pieces, _raw, _half_close, _vanish, _close_oddly)
"""Deeds after which the call is over."""


def script(rng: random.Random, length: int, replies: list[str], says: Says = valid) -> Iterator[Step]:
    """The steps of one call. A client that is mostly garbage is let go early; most are mostly sane."""
    sanity = rng.choice([0.5, 0.9, 0.97, 1.0])
    for _ in range(length):
        kind = rng.random()
        if kind > sanity:
            yield broken(rng, replies, says) if rng.random() < 0.7 else rng.choice(GARBAGE)(rng)
        elif kind < sanity * 0.35:
            yield sound(rng)
        elif kind < sanity * 0.92:
            yield json.dumps(says(rng, replies))
        else:
            yield rng.choice((_wait, _wait, _ping, _pieces))
    if rng.random() < 0.5:
        yield rng.choice(ENDS)


@dataclass
class Tally:
    """What a run saw. `faults` must stay empty."""

    calls: int = 0
    messages: int = 0
    answers: int = 0
    closes: Counter[int] = field(default_factory=Counter)
    denials: Counter[int] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    slowest_s: float = 0.0
    faults: list[str] = field(default_factory=list)


class Client:
    """One call. It reads all the time, so that what the gateway says back is judged too."""

    def __init__(self, socket: ClientConnection, rng: random.Random, tally: Tally, says: Says = valid) -> None:
        self._says = says
        self.most = LONGEST.get(urlsplit(socket.request.path).path, MAX_MESSAGE) if socket.request else MAX_MESSAGE
        self.socket = socket
        self.rng = rng
        self.replies: list[str] = []
        self.cleared = 0
        self._tally = tally
        self._last = ""
        self._heard_cleared = 0
        self._changed = asyncio.Event()
        self._reading = asyncio.create_task(self._read())

    async def live(self, length: int) -> None:
        """Do the whole script, then ask whether the gateway is still there."""
        over = False
        try:
            for step in script(self.rng, length, self.replies, self._says):
                self._tally.messages += 1
                self._last = step.__name__ if callable(step) else str(step)[:80]
                if isinstance(step, str | bytes):
                    async with asyncio.timeout(REPLY_S):
                        await self.socket.send(step)
                else:
                    await step(self)
                    over = step in ENDS
            if not over:
                await self._still_answers()
                await self.socket.close()
        except ConnectionClosed:
            pass
        except TimeoutError:
            self._fault("was not taken or not answered in time")
        finally:
            await self._leave()

    def _fault(self, what: str) -> None:
        self._tally.faults.append(f"{self._last!r} {what}")

    async def _still_answers(self) -> None:
        """Everything sent before this was worked off once it is answered."""
        began = asyncio.get_running_loop().time()
        await self.socket.send('{"type": "input_audio_buffer.clear"}')
        self.cleared += 1
        async with asyncio.timeout(REPLY_S):
            while self._heard_cleared < self.cleared and not self._reading.done():
                self._changed.clear()
                await self._changed.wait()
        self._tally.slowest_s = max(self._tally.slowest_s, asyncio.get_running_loop().time() - began)

    async def _leave(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(REPLY_S):
                await asyncio.shield(self._reading)
        if not self._reading.done():
            self._fault("got no goodbye")
            self.socket.transport.abort()
        await asyncio.gather(self._reading, return_exceptions=True)
        if self.socket.protocol.close_rcvd is not None:
            self._tally.closes[self.socket.protocol.close_rcvd.code] += 1

    async def _read(self) -> None:
        try:
            async for message in self.socket:
                self._hear(json.loads(message))
        except ConnectionClosed:
            pass
        finally:
            self._changed.set()

    def _hear(self, event: dict[str, Any]) -> None:
        self._tally.answers += 1
        match event["type"]:
            case "input_audio_buffer.cleared":
                self._heard_cleared += 1
            case "response.created":
                self.replies.append(event["response"]["id"])
                del self.replies[:-8]
            case "error":
                self._tally.codes[event["error"]["code"]] += 1
        self._changed.set()


async def one_call(url: str, headers: dict[str, str], seed: int, length: int, tally: Tally, says: Says = valid) -> None:
    """Open a call and live it; a handshake that is denied is counted."""
    tally.calls += 1
    try:
        async with asyncio.timeout(REPLY_S):
            socket = await connect(url, additional_headers=headers, compression=None, close_timeout=2.0)
    except InvalidStatus as denied:
        tally.denials[denied.response.status_code] += 1
        return
    except TimeoutError:
        tally.faults.append("a handshake was not answered")
        return
    await Client(socket, random.Random(seed), tally, says).live(length)


def judge(tally: Tally) -> list[str]:
    """What went wrong, as far as a client can tell, and how often."""
    wrong = [f"{times} times: {fault}" for fault, times in Counter(tally.faults).items()]
    wrong += [f"closed with {code}" for code in tally.closes if code not in FAREWELLS | {1001, 3000, 4999}]
    wrong += [f"denied with {status}" for status in tally.denials if status not in DENIALS]
    return [*wrong, "told of an internal fault"] if tally.codes["internal_fault"] else wrong
