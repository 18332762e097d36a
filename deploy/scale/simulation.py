"""Calls as events: who speaks, what is decoded, what waits for whom. Times are in seconds of the simulated clock.

Callers speak, hear the reply, think, and speak again. Speech causes partials as the listener asks for them (one under
way at a time), its end a final, which goes before all partials; frames and turns cost their gateway time. The first
response leaves when both the silence was long enough and the final is there.
"""

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Final

import numpy as np

P95: Final = 1.645
"""Standard deviations from the median to the 95th percentile."""
FINAL, TURN, FRAMES, PARTIAL = 0, 1, 1, 2
"""What goes first where there is a line."""
FRAMES_EVERY_S: Final = 0.1
"""Frames are accounted for together."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A log-normal duration by two percentiles."""

    p50: float
    p95: float

    def draw(self, chance: np.random.Generator) -> float:
        """One of them."""
        return float(self.p50 * math.exp(chance.normal() * math.log(self.p95 / self.p50) / P95))


@dataclass(frozen=True, slots=True)
class Costs:
    """What was measured (`deploy/scale.md` says where), and what is assumed of callers."""

    silence: Spread = Spread(0.176, 0.237)
    """Last sound → end of turn, where nothing waits for the recogniser."""
    eager: float = 0.060
    """Last sound → the final's start."""
    final: Spread = Spread(0.062, 0.084)
    partial: Spread = Spread(0.028, 0.038)
    turn: Spread = Spread(0.008, 0.020)
    """Understanding, decision, booking, wire."""
    frames: float = 0.021
    """Processor time of a gateway for a second of a call."""
    model: Spread = Spread(0.076, 0.101)
    """Extraction with as many at once as a replica has places."""
    interpreted: float = 0.25
    """Share of a decode that is Python, for which a process has one lock."""
    asked: float = 0.1
    """Share of turns that the small model sees."""
    speech: Spread = Spread(1.85, 3.0)
    reply_and_thought: Spread = Spread(7.0, 14.0)


@dataclass(frozen=True, slots=True)
class Fleet:
    """What there is. `shared`: one plain process, gateway and recogniser on the same cores."""

    calls: int
    gateways: int
    recognizer_cores: int
    model_places: int = 16
    shared: bool = False
    beside: float = 0.0
    """Processor time that the callers themselves take on those cores, for a second of a call."""
    together: bool = False
    """Whether all begin to speak at once, as a benchmark's do."""


class Host:
    """Cores that are shared fairly by the threads that want one."""

    def __init__(self, world: "World", cores: int) -> None:
        self._world, self.cores = world, cores
        self._left: dict[int, tuple[float, Callable[[], None]]] = {}
        self._number, self._at, self._round = count(), 0.0, 0
        self.busy = 0.0

    def work(self, seconds: float, done: Callable[[], None]) -> None:
        """Take so much processor time, then call `done`."""
        self._pass()
        self._left[next(self._number)] = (seconds, done)
        self._plan()

    def use(self, seconds: float) -> float:
        """Share of the time that cores were busy."""
        return self.busy / (seconds * self.cores)

    def _pass(self) -> None:
        gone = (self._world.now - self._at) * min(1.0, self.cores / max(1, len(self._left)))
        self._left = {number: (left - gone, done) for number, (left, done) in self._left.items()}
        self.busy += gone * len(self._left)
        self._at = self._world.now

    def _plan(self) -> None:
        self._round += 1
        if self._left:
            number, (left, _) = min(self._left.items(), key=lambda one: one[1][0])
            slow = max(1.0, len(self._left) / self.cores)
            self._world.after(max(0.0, left) * slow, lambda asked=self._round: self._end(asked, number))  # type: ignore[misc]

    def _end(self, asked: int, number: int) -> None:
        if asked == self._round:
            self._pass()
            _, done = self._left.pop(number)
            self._plan()
            done()


class Pool:
    """Threads of a host before one line, in which the lower rank goes first; `kept` of them take no partials."""

    def __init__(self, host: Host, threads: int, kept: int = 0) -> None:
        self.host, self._free, self._kept = host, threads, kept
        self._line: list[tuple[int, int, float, Callable[[], None], list[bool]]] = []
        self._number = count()

    def ask(self, rank: int, work: float, done: Callable[[], None]) -> list[bool]:
        """Do so much work, then call `done`. What is returned may be emptied while it waits: it is then left out."""
        wanted = [True]
        heapq.heappush(self._line, (rank, next(self._number), work, done, wanted))
        self._start()
        return wanted

    def _start(self) -> None:
        while self._free and self._line and (self._line[0][0] != PARTIAL or self._free > self._kept):
            _, _, work, done, wanted = heapq.heappop(self._line)
            if wanted:
                self._free -= 1
                self.host.work(work, lambda done=done: self._end(done))  # type: ignore[misc]

    def _end(self, done: Callable[[], None]) -> None:
        self._free += 1
        done()
        self._start()


@dataclass
class World:
    """A clock, and what came of it."""

    costs: Costs
    fleet: Fleet
    chance: np.random.Generator
    now: float = 0.0
    waits: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._number = count()
        cores = self.fleet.recognizer_cores
        host = Host(self, cores)
        self.recognizer = Pool(host, cores, 1 if self.fleet.shared else 0)
        self.gateways = [Pool(host if self.fleet.shared else Host(self, 1), 1) for _ in range(self.fleet.gateways)]
        self.model = Pool(Host(self, self.fleet.model_places), self.fleet.model_places)
        self.callers = Pool(host if self.fleet.shared else Host(self, 1), 1)

    def decode(self, rank: int, work: float, done: Callable[[], None]) -> list[bool]:
        """Recognise; where a gateway is in the same process, it and the decodes' Python wait for each other."""
        if not self.fleet.shared:
            return self.recognizer.ask(rank, work, done)
        python = work * self.costs.interpreted

        def computed() -> None:
            self.gateways[0].ask(TURN, python, done)

        return self.recognizer.ask(rank, work - python, computed)

    def after(self, seconds: float, what: Callable[[], None]) -> None:
        """Let something happen later."""
        heapq.heappush(self._due, (self.now + seconds, next(self._number), what))

    def run(self, seconds: float) -> None:
        """Let so much time pass from now."""
        until = self.now + seconds
        while self._due and self._due[0][0] <= until:
            self.now, _, what = heapq.heappop(self._due)
            what()
        self.now = until

    def forget(self) -> None:
        """The start is over: measure from now."""
        self.waits.clear()
        for pool in (self.recognizer, *self.gateways, self.model):
            pool.host.busy = 0.0


class ReckonedCaller:
    """One call, for ever."""

    def __init__(self, world: World, gateway: Pool) -> None:
        self._world, self._gateway = world, gateway
        self._pending: list[bool] = []
        self._turn = 0
        world.after(float(world.chance.uniform(0, FRAMES_EVERY_S)), self._frames)
        latest = 0.0 if world.fleet.together else world.costs.reply_and_thought.p50
        world.after(float(world.chance.uniform(0, latest)), self._speak)

    def _frames(self) -> None:
        self._gateway.ask(FRAMES, self._world.costs.frames * FRAMES_EVERY_S, lambda: None)
        if beside := self._world.fleet.beside:
            self._world.callers.ask(FRAMES, beside * FRAMES_EVERY_S, lambda: None)
        self._world.after(FRAMES_EVERY_S, self._frames)

    def _speak(self) -> None:
        self._turn += 1
        length = self._world.costs.speech.draw(self._world.chance)
        self._partial(self._turn, self._world.now, 0.16)
        self._world.after(length, self._silent)

    def _partial(self, turn: int, began: float, wait: float) -> None:
        """Ask for partials, from `wait` on, as `rules/endpointing` has them."""

        def due() -> None:
            if turn == self._turn:
                work = self._world.costs.partial.draw(self._world.chance)
                self._pending = self._world.decode(PARTIAL, work, again)

        def again() -> None:
            self._partial(turn, began, max(0.3, 0.2 * (self._world.now - began)))

        self._world.after(wait, due)

    def _silent(self) -> None:
        """The last sound: the clock of what callers feel runs from here."""
        self._turn += 1
        self._pending.clear()
        costs, chance, world, heard = self._world.costs, self._world.chance, self._world, self._world.now
        wait, asks = heard + costs.silence.draw(chance), chance.random() < costs.asked

        def decided() -> None:
            world.waits.append(world.now - heard)
            world.after(costs.reply_and_thought.draw(chance), self._speak)

        def act() -> None:
            self._gateway.ask(TURN, costs.turn.draw(chance), decided)

        def understood() -> None:
            world.model.ask(TURN, costs.model.draw(chance), act) if asks else act()

        def decoded() -> None:
            world.after(max(0.0, wait - world.now), understood)

        def decode() -> None:
            world.decode(FINAL, costs.final.draw(chance), decoded)

        world.after(costs.eager, decode)


def simulate(costs: Costs, fleet: Fleet, seconds: float = 40.0, seed: int = 47) -> World:
    """So many seconds after as many to settle."""
    world = World(costs, fleet, np.random.default_rng(seed))
    for number in range(fleet.calls):
        ReckonedCaller(world, world.gateways[number % len(world.gateways)])
    world.run(seconds)
    world.forget()
    world.run(seconds)
    return world
