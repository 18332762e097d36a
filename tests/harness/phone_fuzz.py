"""Broken bridges of every telephone protocol on real sockets, from a seed: now and then what they send is spoilt."""

import asyncio
import contextlib
import random  # noqa: TID251 - seeded where it is used
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import orjson
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.harness.fuzz import DENIALS, FAREWELLS
from tests.harness.phone import Bridge, Over
from tests.harness.phone_asterisk import AudioSocketBridge
from tests.harness.phone_lines import LINES, Place

OVER_S = 10.0
"""A call whose bridge hung up, or broke its protocol, is over by then."""
GOODBYES = FAREWELLS | {4401, 4403}
JUNK: tuple[Any, ...] = (
    None,
    True,
    -1,
    2**70,
    1e308,
    "",
    "x" * 600,
    "\u0000",
    "９",
    [],
    [[1]],
    {},
    {"a": {}},
    "-1",
    "NaN",
)


@dataclass
class Spoiler:
    """Spoils messages, one in so many; `spoilt` tells that it has."""

    rng: random.Random
    chance: float
    spoilt: bool = False

    def message(self, given: str | bytes) -> str | bytes:
        """The message, or what a broken bridge makes of it."""
        if self.rng.random() >= self.chance:
            return given
        self.spoilt = True
        kind = self.rng.choice(("cut", "flipped", "other kind", "field", "field", "twice"))
        if kind == "field" and isinstance(given, str) and given.startswith("{"):
            return orjson.dumps(self._field(orjson.loads(given))).decode()
        if kind == "other kind":
            return given.encode() if isinstance(given, str) else given.hex()
        if kind == "twice":
            return given + given  # type: ignore[operator] # both of one kind
        at = self.rng.randrange(len(given) + 1)
        if kind == "cut" or isinstance(given, str):
            return given[:at]
        return given[:at] + bytes([self.rng.randrange(256)]) + given[at + 1 :]

    def _field(self, given: dict[str, Any]) -> dict[str, Any]:
        name = self.rng.choice(sorted(given))
        if isinstance(given[name], dict) and given[name] and self.rng.random() < 0.7:
            return given | {name: self._field(given[name])}
        if self.rng.random() < 0.3:
            return {key: value for key, value in given.items() if key != name}
        junk = self.rng.choice(JUNK)
        return given | {name: junk if junk != 2**70 else float(2**70)}


@dataclass
class SpoilingSocket:
    """A WebSocket, or a stream's writer, whose messages are spoilt on their way out."""

    inner: Any
    spoiler: Spoiler

    async def send(self, message: str | bytes) -> None:
        await self.inner.send(self.spoiler.message(message))

    def write(self, data: bytes) -> None:
        spoilt = self.spoiler.message(data)
        self.inner.write(spoilt if isinstance(spoilt, bytes) else spoilt.encode())

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def __aiter__(self) -> AsyncIterator[str | bytes]:
        messages: AsyncIterator[str | bytes] = aiter(self.inner)
        return messages


@dataclass
class PhoneTally:
    """What a run saw. `faults` must stay empty."""

    calls: int = 0
    spoilt: int = 0
    ends: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def spoil(bridge: Any, spoiler: Spoiler) -> None:
    """From here on the bridge is broken."""
    name = "writer" if isinstance(bridge, AudioSocketBridge) else "socket"
    setattr(bridge, name, SpoilingSocket(getattr(bridge, name), spoiler))


async def one_phone_call(line: str, place: Place, customer: str, seed: int, tally: PhoneTally) -> None:
    """One call of a broken bridge, from its first message or from a later one on."""
    rng = random.Random(seed)
    tally.calls += 1
    try:
        async with LINES[line](place, customer) as bridge:
            spoiler = Spoiler(rng, rng.choice((0.02, 0.1, 0.5)))
            await _live(line, bridge, spoiler, tally)
            tally.spoilt += spoiler.spoilt
    except InvalidStatus as denied:
        if denied.response.status_code not in DENIALS:
            tally.faults.append(f"{line}: denied with {denied.response.status_code}")
    except TimeoutError:
        tally.faults.append(f"{line} {seed}: the call did not end")


async def _live(line: str, bridge: Bridge, spoiler: Spoiler, tally: PhoneTally) -> None:
    rng = spoiler.rng
    if rng.random() < 0.4:
        spoil(bridge, spoiler)
    with contextlib.suppress(ConnectionClosed, AssertionError, OSError):  # it expects to be opened
        async with asyncio.timeout(1.0):
            await bridge.begin()
    if not isinstance(vars(bridge).get("socket", vars(bridge).get("writer")), SpoilingSocket):
        spoil(bridge, spoiler)
    listening = asyncio.create_task(_listen(bridge, tally))
    with contextlib.suppress(ConnectionClosed, AssertionError, OSError):
        for _ in range(rng.choice((5, 20, 60))):
            await _step(bridge, rng)
        await bridge.hang_up()
    vanished = rng.random() < 0.3
    await _leave(bridge, listening, vanished=vanished)
    async with asyncio.timeout(OVER_S):
        await listening
    if not (vanished or isinstance(bridge, AudioSocketBridge)):
        _judge(line, bridge, tally)


def _judge(line: str, bridge: Any, tally: PhoneTally) -> None:
    said = bridge.socket.protocol.close_rcvd
    if said is None or said.code not in GOODBYES:
        tally.faults.append(f"{line}: closed with {said}")


async def _step(bridge: Bridge, rng: random.Random) -> None:
    match rng.randrange(8):
        case 0:
            await bridge.key(rng.choice("0123456789*#AD"))
        case 1 if not isinstance(bridge, AudioSocketBridge):
            await bridge.marked(rng.choice(("", "nobody's", "x" * 300)))
        case 2:
            await asyncio.sleep(rng.choice((0, 0.005)))
        case _:
            await bridge.sound(rng.randbytes(160 * rng.randrange(1, 12)))


async def _leave(bridge: Any, listening: asyncio.Task[None], *, vanished: bool) -> None:
    """The bridge is gone, without a word; or it sends no more, and closes what its own goodbye did not end."""
    stream = isinstance(bridge, AudioSocketBridge)
    if vanished:
        (bridge.writer if stream else bridge.socket).transport.abort()
    elif stream:
        with contextlib.suppress(OSError):
            bridge.writer.write_eof()
    elif not (await asyncio.wait({listening}, timeout=0.5))[0]:
        await bridge.socket.close()


async def _listen(bridge: Bridge, tally: PhoneTally) -> None:
    try:
        async for told in bridge.told():
            if isinstance(told, Over):
                tally.ends.append(told.words)
    except (AssertionError, ConnectionClosed, ValueError) as wrong:  # a broken bridge is answered as it does not expect
        tally.ends.append(type(wrong).__name__)
