"""Calls that count for nothing: each at a demo bank of its own, at the time its test says. Replay plays cases here.

Everything is what a gateway runs: the ledger, the sandbox bank, the audit chain. Only their database lives no longer
than the call, a copy of one that was prepared once for each moment.
"""

import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from app.bootstrap import sandbox
from app.composition.callers import Callers
from app.composition.models import answerer, extractor
from app.composition.money import Books, money_services
from app.migrate import migrate
from app.qa.scratch import Scratch
from app.settings import Settings
from rules.bank import DemoCustomer, demo_customers
from schemas.ids import CallId, CustomerId, Locale
from services.answering.quote import Library, QuotingAnswerer
from services.banking.banks.seed import open_demo_bank
from services.banking.code_senders import DemoPhone
from services.banking.promises import Promises
from services.observability import Metrics
from services.payees import IndexCache
from services.ports import Clock, CoreBank, TurnHandler
from services.record.audit import ChainedAudit
from services.record.audit_keys import AuditKeys
from services.record.audit_spool import SpooledAudit
from services.record.heads import FileHead
from services.record.spool import Spool, own
from services.store import Store
from services.timing import ManualClock, SystemClock

_KEY: Final = b"a rehearsal's key seals no money."
_SPOOL_BYTES: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class RehearsedCall:
    """A call that is open, and the bank at which its customer's money and cards lie."""

    handler: TurnHandler
    customer: CustomerId
    bank: CoreBank

    async def holdings(self) -> dict[str, int]:
        """The customer's balances in minor units by account; cards, 1 where locked. Raises BankUnavailable."""
        profile = await self.bank.profile(self.customer)
        balances = {f"{account.id} {account.balance.currency}": account.balance.minor for account in profile.accounts}
        return balances | {f"{card.id} locked": int(card.locked) for card in profile.cards}


class Rehearsal:
    """Opens calls that move nobody's money. One a process; `close` when done."""

    def __init__(self, settings: Settings) -> None:
        self._scratch = Scratch("tellerline-rehearsal")
        self._folder = self._scratch.path
        self._banks: dict[datetime, Path] = {}
        self._library = Library.load()
        self._metrics = Metrics()
        self._indexes = IndexCache()
        self._open = AsyncExitStack()
        self._extractor = extractor(self._open, settings, SystemClock())
        self._answerer = answerer(self._open, settings, self._library, SystemClock())
        self._records, self._promises = self._spools()
        self._opened = self._stores = 0
        self._idle: list[tuple[Path, Store]] = []  # used again: an engine remembers the statements that it compiled

    @asynccontextmanager
    async def call(self, customer: CustomerId, locale: Locale, clock: Clock) -> AsyncIterator[TurnHandler]:
        """`opened`, less the bank."""
        async with self.opened(customer, locale, clock) as call:
            yield call.handler

    @asynccontextmanager
    async def opened(
        self, customer: CustomerId, locale: Locale, clock: Clock, customers: tuple[DemoCustomer, ...] = ()
    ) -> AsyncIterator[RehearsedCall]:
        """A call of `customer` that begins at `clock`'s now, at a bank that nobody has touched. Raises NotFound.

        The bank has `customers`, or those of the demo.
        """
        bank = await self._empty() if customers else await self._bank(clock.now())
        if self._records.waiting or self._promises.waiting:
            self._forget()
        path, store = self._idle.pop() if self._idle else self._another()
        shutil.copyfile(bank, path)
        try:
            if customers:
                await open_demo_bank(store, clock, customers)
            callers = self._callers(store, path.with_suffix(".head"), clock)
            handler = await callers.open(customer, CallId(clock.new_id()), locale)
            yield RehearsedCall(handler, customer, callers.banking.bank)
            await handler.close()
        finally:
            await store.release()
            for leftover in self._folder.glob(f"{path.stem}.*"):
                leftover.unlink(missing_ok=True)
            self._idle.append((path, store))

    def _spools(self) -> tuple[Spool, Spool]:
        return own(self._folder, "audit", _KEY, _SPOOL_BYTES), own(self._folder, "promises", _KEY, _SPOOL_BYTES)

    def _forget(self) -> None:
        """What a call left that failed is no other call's: it would fill the spools until no call finds room."""
        for spool in (self._records, self._promises):
            for number, _ in spool.oldest(spool.waiting)[-1:]:
                spool.done(number)

    def _another(self) -> tuple[Path, Store]:
        """A store for one call at a time, and the file it is at."""
        self._stores += 1
        path = self._folder / f"call-{self._stores}.db"
        return path, Store(_url(path), pool_size=4)

    async def close(self) -> None:
        """Close the models' connections and remove the databases."""
        await self._open.aclose()
        for _, store in self._idle:
            await store.close()
        self._records.close()
        self._promises.close()
        self._scratch.close()

    async def _bank(self, now: datetime) -> Path:
        """The database of a bank that opened at `now`."""
        if now not in self._banks:
            self._opened += 1  # a file of its own each time: one that failed may still be written to
            path = self._folder / f"bank-{self._opened}.db"
            shutil.copyfile(await self._empty(), path)
            store = Store(_url(path))
            try:
                await open_demo_bank(store, ManualClock(now), demo_customers())
            finally:
                await store.close()
            self._banks[now] = path
        return self._banks[now]

    async def _empty(self) -> Path:
        """The database of a bank without customers."""
        path = self._folder / "empty.db"
        if not path.exists():
            making = path.with_suffix(".making")
            store = Store(_url(making))
            await migrate(store)
            await store.close()
            making.rename(path)
        return path

    def _callers(self, store: Store, heads: Path, clock: Clock) -> Callers:
        audit = SpooledAudit(ChainedAudit(store, AuditKeys(_KEY), FileHead(heads)), clock, self._records)
        books = Books(store, audit, Promises(store, clock, self._promises))
        banking = money_services(sandbox(store, clock), books, DemoPhone(), [_KEY], clock).banking
        answers = self._answerer or QuotingAnswerer(self._library, clock)
        return Callers(banking, self._extractor, answers, audit, self._metrics, self._indexes)


def _url(path: Path) -> str:
    return f"sqlite:///{path}"
