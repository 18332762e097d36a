"""The rounds at the door: what is past its allowance waits, and is not asked for again and again meanwhile."""

from collections.abc import Callable
from typing import Any

import pytest
from uvicorn.config import Config
from uvicorn.server import ServerState

from app.doorman import Door
from app.lobby import PARSING_BURST_S, PAUSE_S, SURPLUS_S, Lobby


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

    def __init__(self, lobby: Lobby, cost: Callable[[], None]) -> None:
        self._lobby = lobby
        self._cost = cost
        self.turns = 0

    def feed(self) -> None:
        self.turns += 1
        self._cost()
        self._lobby.queue(self)  # type: ignore[arg-type]


def test_a_lobby_past_its_allowance_waits_without_turning_round(monkeypatch: pytest.MonkeyPatch) -> None:
    spent = [0.0]
    monkeypatch.setattr("app.lobby.time.thread_time", lambda: spent[0])
    loop = Ticking()
    lobby = Lobby(loop)  # type: ignore[arg-type]

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


def test_a_door_past_its_allowance_waits_without_being_asked() -> None:
    loop = Ticking()
    door = Door(Config(lambda: None, log_config=None), ServerState(), {}, _loop=loop)  # type: ignore[arg-type]
    door._transport, door._pending = _Open(), bytearray(b"x")  # type: ignore[assignment]
    door._left, door._at = -1e-7, loop.time()
    door.feed()
    assert not door._transport.reading  # type: ignore[attr-defined, union-attr]
    loop.run(PAUSE_S * 0.9)
    assert loop.calls == 1


class _Open:
    reading = True

    def is_closing(self) -> bool:
        return False

    def pause_reading(self) -> None:
        self.reading = False
