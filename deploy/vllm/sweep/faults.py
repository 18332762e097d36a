"""A model server's faults on a real card, felt through the shipped client: `python -m deploy.vllm.sweep.faults …`.

Eight callers ask for extraction without a pause, each through the adapter, deadline and breaker as they ship; beside
them somebody's commands are understood by rules alone, in the same process. The server, with random weights, is halted,
slowed and killed and started again. --out gets faults.csv and faults.md. Ends with 1 where a caller waited past the
deadline, commands became slower than `MOST_RATIO`, or the breaker did not close by itself.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from app.qa.doctor.offers import offers
from app.text import TextPath
from deploy.reporting import percentile
from deploy.vllm.random_weights import serve, stand_in
from deploy.vllm.serving import load
from deploy.vllm.sweep.payload import complete
from deploy.vllm.sweep.servers import Engine
from schemas.errors import DependencyFailed, TimedOut
from schemas.ids import CustomerId
from schemas.text import TextIn
from services.guard.breaker import BreakerState, CircuitBreaker
from services.timing.clock import SystemClock
from services.understanding.extraction.extract import ExtractionEndpoint, GemmaExtractor

CALLERS: Final = 8
PAUSE_S: Final = 0.03
"""Between a caller's answer and the next question."""
QUIET_S: Final = 8.0
"""Before a fault, and after its end when the breaker has closed."""
FAULT_S: Final = 8.0
PATIENCE_S: Final = 60.0
"""How long a breaker may take to close when the server is well again; it rests up to 30 s."""
LATE_S: Final = 0.1
"""What an answer may be late past the deadline: the loop's own turn."""
MOST_RATIO: Final = 1.1
SAID: Final = "send fifty dollars to Emily Morgan"
"""Understood by rules: it never asks a model."""


@dataclass
class StretchTimes:
    """Milliseconds of each answer in one stretch of time."""

    commands: list[float] = field(default_factory=list)
    answered: list[float] = field(default_factory=list)
    given_up: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class ServerFaultRow:
    """What one fault was like; times in milliseconds, `closed_s` from the end of the fault."""

    fault: str
    extraction_p95_before: float
    answered: int
    given_up: int
    longest_wait: float
    commands_p95_before: float
    commands_p95_during: float
    opened: bool
    closed_s: float
    extraction_p95_after: float

    @property
    def kept(self) -> bool:
        """Whether nobody waited too long, commands kept their pace, and all was well again by itself."""
        in_time = self.longest_wait <= 1000 * (ExtractionEndpoint("", "").deadline_s + LATE_S)
        return in_time and self.commands_p95_during <= MOST_RATIO * self.commands_p95_before and self.closed_s >= 0


class ModelWorld:
    """The server, those who ask, and what they feel at the moment."""

    def __init__(self, engine: Callable[[], Engine], url: str, model: str) -> None:
        clock = SystemClock()
        self._start = engine
        self.engine = engine()
        self.breaker = CircuitBreaker(clock)
        self.extractor = GemmaExtractor(ExtractionEndpoint(url, model), self.breaker, clock)
        self.felt = StretchTimes()
        self.opened = False
        self._path = TextPath.of_payees(clock)

    def signal(self, number: signal.Signals) -> None:
        """To the server and all its processes."""
        assert self.engine.pid is not None
        os.killpg(self.engine.pid, number)

    async def start_again(self) -> None:
        """A new server in the place of the one that is gone."""
        self.engine.stop()
        self.engine = self._start()
        if not await asyncio.to_thread(self.engine.ready):
            raise SystemExit("the server did not come up again")

    async def ask(self, seed: int) -> None:
        """One caller after another of this seed, for ever."""
        while True:
            for offer in offers(64, seed):
                began = time.monotonic()
                try:
                    await self.extractor.extract(CustomerId("alex-morgan"), offer)
                except (DependencyFailed, TimedOut):
                    self.felt.given_up.append(1000 * (time.monotonic() - began))
                else:
                    self.felt.answered.append(1000 * (time.monotonic() - began))
                self.opened |= self.breaker.state is not BreakerState.CLOSED
                await asyncio.sleep(PAUSE_S)

    async def command(self) -> None:
        """Commands as the service understands them, in a thread, for ever."""
        given = TextIn(text=SAID, locale="en-US")
        while True:
            began = time.monotonic()
            await asyncio.to_thread(self._path.take, given)
            self.felt.commands.append(1000 * (time.monotonic() - began))
            await asyncio.sleep(PAUSE_S)

    async def stretch(self, what: Awaitable[None]) -> StretchTimes:
        """What is felt while something goes on."""
        self.felt = StretchTimes()
        felt = self.felt
        await what
        return felt


async def halted(world: ModelWorld) -> None:
    """It takes what is sent, and answers nothing."""
    world.signal(signal.SIGSTOP)
    await asyncio.sleep(FAULT_S)
    world.signal(signal.SIGCONT)


async def slow(world: ModelWorld) -> None:
    """It works for a fifth of the time."""
    until = time.monotonic() + FAULT_S
    while time.monotonic() < until:
        world.signal(signal.SIGSTOP)
        await asyncio.sleep(0.4)
        world.signal(signal.SIGCONT)
        await asyncio.sleep(0.1)


async def killed(world: ModelWorld) -> None:
    """It is gone in the middle of eight answers, and started again."""
    world.signal(signal.SIGKILL)
    await world.start_again()


FAULTS: Final = {"halted": halted, "slow": slow, "killed and started again": killed}


async def played(name: str, world: ModelWorld) -> ServerFaultRow:
    """One fault, with what came before it and after."""
    before = await world.stretch(asyncio.sleep(QUIET_S))
    world.opened = False
    during = await world.stretch(FAULTS[name](world))
    began = time.monotonic()
    while world.breaker.state is not BreakerState.CLOSED and time.monotonic() - began < PATIENCE_S:  # noqa: ASYNC110
        await asyncio.sleep(0.02)
    closed = time.monotonic() - began if world.breaker.state is BreakerState.CLOSED else -1.0
    after = await world.stretch(asyncio.sleep(QUIET_S))
    return ServerFaultRow(
        name,
        percentile(before.answered, 95),
        len(during.answered),
        len(during.given_up),
        max((*during.answered, *during.given_up)),
        percentile(before.commands, 95),
        percentile(during.commands, 95),
        world.opened,
        round(closed, 2),
        percentile(after.answered, 95),
    )


@asynccontextmanager
async def callers(world: ModelWorld) -> AsyncIterator[None]:
    """Those who ask, as long as a block lasts."""
    tasks = [asyncio.create_task(world.ask(seed)) for seed in range(CALLERS)] + [asyncio.create_task(world.command())]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await world.extractor.close()


async def _rows(world: ModelWorld) -> list[ServerFaultRow]:
    rows = []
    async with callers(world):
        await asyncio.sleep(QUIET_S)  # connections, grammar and graphs are warm
        for name in FAULTS:
            rows.append(await played(name, world))
            print(rows[-1], flush=True)
    return rows


def _written(rows: list[ServerFaultRow], out: Path) -> None:
    names = list(asdict(rows[0]))
    with (out / "faults.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, names)
        table.writeheader()
        table.writerows(asdict(row) for row in rows)
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(_told(value) for value in asdict(row).values()) + " |" for row in rows]
    (out / "faults.md").write_text("\n".join([*lines, ""]), encoding="utf-8")


def _told(value: object) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def main(arguments: list[str]) -> int:
    """Start the server, play every fault, stop it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--payload", type=Path, required=True, help="vLLM's packages and the models, see gpu/README.md")
    parser.add_argument("--out", type=Path, default=Path("out/sweep"))
    parser.add_argument("--profile", default="extraction-h100")
    parser.add_argument("--python", default="python3", help="the interpreter that runs vLLM")
    given = parser.parse_args(arguments)
    payload, out = given.payload.absolute(), given.out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    profile = stand_in(load(given.profile), payload, 8140, 0)
    if not complete(payload, [load(given.profile)]):
        return 1
    world = ModelWorld(lambda: serve(profile, payload, out / "faults.log", given.python), f"http://127.0.0.1:{profile.port}",
                  profile.served_name)  # fmt: skip
    try:
        if not world.engine.ready():
            print("the server did not start", file=sys.stderr)
            return 1
        rows = asyncio.run(_rows(world))
    finally:
        world.engine.stop()
    _written(rows, out)
    return 0 if all(row.kept for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
