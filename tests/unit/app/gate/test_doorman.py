"""The rounds at the door: what is past its allowance waits, and is not asked for again and again meanwhile."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.server import ServerState

from app.gate.doorman import BODY_BYTE_S, LONG_S, REFUSAL_S, ConnectionGate
from app.gate.lobby import NEWCOMERS_BURST_S, NEWCOMERS_S, PARSING_BURST_S, PAUSE_S, SURPLUS_S, Turns


class Ticking:
    """A loop whose clock moves by whole milliseconds, as uvloop's does; it tells how often it was asked to call."""

    def __init__(self) -> None:
        self.at = 0.0
        self.calls = 0
        self._due: list[tuple[float, Callable[..., None], tuple[Any, ...]]] = []

    def time(self) -> float:
        return self.at

    def call_soon(self, work: Callable[..., None], *given: Any) -> None:
        self.call_later(0, work, *given)

    def call_later(self, delay: float, work: Callable[..., None], *given: Any) -> None:
        self.calls += 1
        self._due.append((self.at + int(delay * 1000) / 1000, work, given))

    def run(self, seconds: float) -> None:
        """Let so long pass; each round of callbacks takes a tenth of a millisecond."""
        end, rounds = self.at + seconds, 0
        while self.at < end:
            due = [one for one in self._due if one[0] <= self.at]
            self._due = [one for one in self._due if one[0] > self.at]
            for _, work, given in due:
                work(*given)
            rounds += 1
            if rounds % 10 == 0:
                self.at = round(self.at + 0.001, 6)


class Reader:
    """Stands for a door: each of its turns costs the lobby something."""

    def __init__(self, lobby: Turns, cost: Callable[[], None]) -> None:
        self._lobby = lobby
        self._cost = cost
        self.turns = 0

    def feed(self) -> None:
        self.turns += 1
        self._cost()
        self._lobby.queue(self)  # type: ignore[arg-type]


def test_a_lobby_past_its_allowance_waits_without_turning_round(monkeypatch: pytest.MonkeyPatch) -> None:
    spent = [0.0]
    monkeypatch.setattr("app.gate.lobby.time.thread_time", lambda: spent[0])
    loop = Ticking()
    lobby = Turns(loop, SURPLUS_S)  # type: ignore[arg-type]

    def cost() -> None:
        spent[0] += 0.0002

    readers = [Reader(lobby, cost) for _ in range(8)]
    for reader in readers:
        lobby.queue(reader)  # type: ignore[arg-type]
    loop.run(3.0)
    turns = sum(reader.turns for reader in readers)
    allowed = (PARSING_BURST_S + 3.0 * SURPLUS_S) / 0.0002
    assert 0.8 * allowed < turns < 1.2 * allowed
    assert loop.calls < 1.2 * turns + 3.0 / PAUSE_S, "it spins"


def test_those_who_come_and_go_while_nobody_may_leave_one_round_behind_them() -> None:
    loop = Ticking()
    lobby = Turns(loop, SURPLUS_S)  # type: ignore[arg-type]
    lobby.charge(PARSING_BURST_S + SURPLUS_S)
    for _ in range(200):
        reader = Reader(lobby, lambda: None)
        lobby.queue(reader)  # type: ignore[arg-type]
        loop.run(0.001)
        lobby.leave(reader)  # type: ignore[arg-type]
    assert loop.calls < 10
    lobby.queue(reader)  # type: ignore[arg-type]
    loop.run(1.1)
    assert reader.turns > 0


def test_a_door_past_its_allowance_waits_without_being_asked() -> None:
    loop = Ticking()
    door = ConnectionGate(Config(lambda: None, log_config=None), ServerState(), {}, _loop=loop)  # type: ignore[arg-type]
    door._transport, door._pending = _Open(), bytearray(b"x")  # type: ignore[assignment]
    door._left, door._at = -1e-7, loop.time()
    door.feed()
    assert not door._transport.reading  # type: ignore[attr-defined, union-attr]
    loop.run(PAUSE_S * 0.9)
    assert loop.calls == 1


REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer y\r\n\r\n"


def opened(loop: asyncio.AbstractEventLoop, state: ServerState, status: int) -> ConnectionGate:
    """A connection that is served, every request answered with `status`."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": status, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    app.state = SimpleNamespace(subject=lambda token: "ann" if token == "y.of-ann" else None)  # type: ignore[attr-defined]
    config = Config(app, log_config=None)
    config.load()
    door = ConnectionGate(config, state, {}, _loop=loop)
    door.connection_made(_Open())
    return door


async def test_who_is_refused_again_and_again_waits_behind_those_who_are_answered() -> None:
    loop, state = asyncio.get_running_loop(), ServerState()
    honest, stubborn = opened(loop, state, 200), [opened(loop, state, 429) for _ in range(8)]
    for door in (honest, *stubborn):
        door.data_received(REQUEST)
    await asyncio.sleep(0.01)
    for _ in range(50):
        for door in stubborn:
            door.data_received(REQUEST)
        await asyncio.sleep(0)
    assert honest._lobby.surplus.in_debt
    before = sum(door.inner.answered for door in stubborn)  # type: ignore[attr-defined]
    honest.data_received(REQUEST)
    stubborn[0].data_received(REQUEST)
    await asyncio.sleep(0.001)
    assert honest.inner.answered == 2  # type: ignore[attr-defined]
    assert sum(door.inner.answered for door in stubborn) == before, "nobody of them goes before the allowance is back"  # type: ignore[attr-defined]
    await asyncio.sleep(0.3)
    assert sum(door.inner.answered for door in stubborn) > before, "they wait, they are not dropped"  # type: ignore[attr-defined]


@pytest.mark.parametrize("status", [200, 401])
async def test_newcomers_at_once_are_read_as_their_refusals_are_paid(status: int) -> None:
    loop, state = asyncio.get_running_loop(), ServerState()
    doors = [opened(loop, state, status) for _ in range(200)]
    for door in doors:
        door.data_received(REQUEST)
    await asyncio.sleep(0.1)
    told = sum(door.inner.answered for door in doors)  # type: ignore[attr-defined]
    paid = (NEWCOMERS_BURST_S + 0.2 * NEWCOMERS_S) / REFUSAL_S
    assert told <= paid if status == 401 else told == 200, "who is answered well pays nothing"


async def test_a_customer_comes_before_those_who_will_be_told_no_so_often() -> None:
    loop, state = asyncio.get_running_loop(), ServerState()
    forged = [opened(loop, state, 401) for _ in range(200)]
    for door in forged:
        door.data_received(REQUEST)
    forged[0]._lobby.newcomers.charge(10.0)
    customers = [opened(loop, state, 200) for _ in range(20)]
    for door in customers:
        door.data_received(REQUEST.replace(b"Bearer y\r\n\r\n", b"Bearer y.of-ann\r\nContent-Length: 1\r\n\r\n"))
        door.data_received(b"x")
    await asyncio.sleep(0.05)
    told = sum(door.inner.answered for door in customers)  # type: ignore[attr-defined]
    assert told == 10, "they go first, and what they send with it, but one customer does not so without end"


async def test_bodies_have_an_allowance_together() -> None:
    door = opened(asyncio.get_running_loop(), ServerState(), 200)
    before = door._lobby.surplus._left
    door._charge_body(8_000_000)
    assert door._lobby.surplus._left == pytest.approx(before - 8_000_000 * BODY_BYTE_S)


class _Open(asyncio.Transport):
    reading = True

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Nobody reads it."""

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default

    def resume_reading(self) -> None:
        self.reading = True

    def is_closing(self) -> bool:
        return False

    def pause_reading(self) -> None:
        self.reading = False


def test_what_takes_long_to_parse_comes_in_smaller_pieces_until_it_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    spent, cost, sizes = [0.0], [2 * LONG_S], list[int]()
    monkeypatch.setattr("app.gate.doorman.time.thread_time", lambda: spent[0])

    class FakeParser(asyncio.Protocol):
        """Every piece takes so long."""

        def data_received(self, data: bytes) -> None:
            sizes.append(len(data))
            spent[0] += cost[0]

    door = ConnectionGate(Config(lambda: None, log_config=None), ServerState(), {}, _loop=Ticking())  # type: ignore[arg-type]
    door.inner = FakeParser()
    for _ in range(8):
        door._parse(bytes(door._piece))
    assert sizes == [4096, 2048, 1024, 512, 256, 256, 256, 256]
    cost[0] = LONG_S / 10
    for _ in range(6):
        door._parse(bytes(door._piece))
    assert door._piece == 4096
