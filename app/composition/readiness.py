"""Whether the next caller could be served: known by a token, a yes written, and what is done on record."""

import asyncio
from typing import Final

import sqlalchemy as sa

from app.auth.dependencies import Authenticator
from schemas.errors import NotReady, StoreUnavailable
from services.banking import tables
from services.ports import Clock
from services.record import tables as audit_tables
from services.record.audit_spool import SpooledAudit
from services.store import Store, micros, probe
from services.timing import within

_FRESH_S: Final = 1.0
"""An answer serves for so long, however often it is asked for."""
_PATIENCE_S: Final = 1.5
_WRITTEN: Final = (tables.transfers, tables.spending, audit_tables.records, audit_tables.head)
"""What a yes writes to. Nothing of it is changed: whether it could be is checked before any row is looked for."""


class Readiness:
    """Asks the database what it would take, at most once a second."""

    def __init__(self, store: Store, audit: SpooledAudit, callers: Authenticator, clock: Clock) -> None:
        self._store = store
        self._audit = audit
        self._callers = callers
        self._clock = clock
        self._asked_at = -_FRESH_S
        self._asking = asyncio.Lock()
        self._database = ""

    async def check(self) -> None:
        """Raises NotReady, naming what is missing."""
        async with self._asking:
            if self._clock.monotonic() - self._asked_at >= _FRESH_S:
                self._database = await self._ask()
                self._asked_at = self._clock.monotonic()
        missing = [what for what in (self._database, self._records(), await self._identity()) if what]
        if missing:
            raise NotReady("; ".join(missing))

    async def _identity(self) -> str:
        """A gateway with a wrong address for the issuer's keys must not take the place of one that has them."""
        return "" if await self._callers.has_keys() else "identity: the issuer's keys could not be had yet"

    def _records(self) -> str:
        if self._audit.gone:
            return "records: the spool's file was removed from the state folder: start again"
        if self._audit.full:
            return "records: the spool is full"
        return "records: they wait in the spool" if self._audit.waiting else ""

    async def _ask(self) -> str:
        """What is wrong with the database; empty when it takes what it is given."""
        try:
            with within(_PATIENCE_S):
                await try_to_write(self._store, self._clock)
        except StoreUnavailable as error:
            return f"database: {error.message}"
        return ""


async def try_to_write(store: Store, clock: Clock) -> None:
    """Ask the database for all that a yes writes, and change nothing. Raises StoreUnavailable."""

    def trying(connection: sa.Connection) -> None:
        at = {"at": micros(clock.now())}
        if connection.execute(sa.update(probe).where(probe.c.id == 1).values(at)).rowcount == 0:
            connection.execute(sa.insert(probe), {"id": 1} | at)
        for table in _WRITTEN:
            column = next(iter(table.c))
            connection.execute(sa.update(table).where(sa.false()).values({column.name: column}))
            names = [c.name for c in table.c]
            connection.execute(sa.insert(table).from_select(names, sa.select(table).where(sa.false())))

    await store.transact("store.probe", trying)
