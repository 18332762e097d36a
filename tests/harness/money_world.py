"""Where the state machine over money lives: a bank on a bad line, and a process that dies and starts again."""

import asyncio
import shutil
from collections import deque
from collections.abc import Awaitable
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import TypeVar

from hypothesis.stateful import RuleBasedStateMachine, initialize

from schemas.errors import NotCarriedOut, StoreUnavailable, TellerlineError
from schemas.transfer import Proposal
from services.banking.banks.sandbox import SandboxBank
from services.banking.ledger import MOST_OWED
from services.store import Store
from tests.fakes.bank import UnreliableBank
from tests.harness.invariants import at_rest
from tests.harness.money import ANN, House, RunClock, build, open_bank
from tests.harness.silence import Silence
from tests.harness.stores import new_sqlite

T = TypeVar("T")


class Killed(BaseException):
    """The process ended here."""


UNSURE = (Killed, StoreUnavailable, NotCarriedOut)
"""After these, what became of a write is what the database says."""


@dataclass
class Promise:
    """A proposal as the caller knows it. `heard` at most once; `dead` for good; `kept` once the yes was taken."""

    proposal: Proposal
    heard: bool = False
    dead: bool = False
    yes: bool = False
    stepped_up: bool = False
    followed_up: bool = False
    """They were told that it is looked after: a word on its end is owed."""


class MoneyWorld(RuleBasedStateMachine):
    """One customer, two calls, one bank on a bad line."""

    template: Path

    @initialize()
    def open(self) -> None:
        self.runner = asyncio.Runner()
        memory = Path("/dev/shm")
        self.folder = Path(mkdtemp(dir=memory if memory.is_dir() else None))
        self.url = new_sqlite(self.template, self.folder)
        self.clock = RunClock()
        self.promises: list[Promise] = []
        self.seen: dict[str, str] = {}
        self.line: deque[str] = deque()
        self.silence = Silence()
        self.told: dict[str, str] = {}
        self.fuse = self.outage = -1
        self.run(self._start(fresh=True))

    async def _start(self, *, fresh: bool = False) -> None:
        store = self.silence.over(Store(self.url, pool_size=3))
        bank = UnreliableBank(SandboxBank(store, self.clock), self.line)
        store.probe, bank.probe = self._write, self._burn
        if fresh:
            await open_bank(store)
        self.bank = bank
        self.house: House = build(store, self.clock, bank, self.folder, submit_timeout_s=5.0)

    def run(self, work: Awaitable[T]) -> T:
        async def awaited() -> T:
            return await work

        return self.runner.run(awaited())

    def _burn(self, _: str) -> None:
        if self.fuse == 0:
            self.fuse = -1
            raise Killed
        self.fuse -= self.fuse > 0

    def _write(self, point: str) -> None:
        self._burn(point)
        if self.outage == 0:
            self.outage = -1
            raise OSError
        self.outage -= self.outage > 0

    def attempt(self, work: Awaitable[T]) -> T | TellerlineError | Killed:
        """Do something; a crash is followed by a restart."""
        try:
            return self.run(work)
        except TellerlineError as refusal:
            return refusal
        except Killed as killed:
            self.run(self._restart())
            return killed
        finally:
            self.fuse = self.outage = -1
            self.silence.writes = 0

    async def _restart(self) -> None:
        self.silence.writes = 0
        self.house.let_go()
        await self.house.store.close()
        await self._start()

    def teardown(self) -> None:
        if not hasattr(self, "house"):
            return
        self.fuse = self.outage = -1
        self.silence.writes = 0
        self.line.clear()
        try:
            self.run(self._wind_up())
            self.house.let_go()
        finally:
            self.run(self.house.store.close())
            self.runner.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    async def _wind_up(self) -> None:
        for _ in range(3):
            self.clock.advance(1800)
            await self.house.reconciler.run_once()
        await self.house.outbox.drain()
        if self.clock.now() < RunClock().now().replace(hour=23):  # while every key may still be sent again
            await at_rest(self.house.store)
            owed = {item.receipt.proposal for item in await self.house.ledger.owed(ANN) if item.ended}
            for promise in self.promises:
                if promise.yes or promise.followed_up:
                    known = owed | set(self.told)
                    assert promise.proposal.id in known or len(owed) >= MOST_OWED, "a promise without an end"
