"""The audit log that takes records also while the database does not: into a spool, from which they follow in order.

A record is in the chain once, whatever crashes when: the transaction that takes spooled records in notes how far it
came, and one whose first writing had no answer is looked for before it is written again.
"""

import logging
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import orjson
import sqlalchemy as sa

from schemas.audit import AuditRecord
from schemas.errors import StoreRefused, StoreUnavailable
from schemas.ids import CallId, CustomerId
from services.disk import on_disk
from services.ports import Clock
from services.record import tables as t
from services.record.audit import ChainedAudit, Given
from services.record.spool import BROKEN, Spool
from services.record.spools import Spools
from services.store import changed, insert_new, instant, micros
from services.timing import finish, within

log = logging.getLogger(__name__)

SIZE: Final = 8 << 20
"""Bytes of a spool: some ten thousand turns."""
FULL: Final = 0.9
"""Above this part of it nobody new is let in: calls under way may still go on record."""
_TRY_S: Final = 1.0
"""The database has so long for a record before the spool takes it."""
_NOBODY: Final = CustomerId("")
"""Whose record cannot be told any more."""


class SpooledAudit:
    """AuditLog over a chain. `spool` is this process's; those `left_behind` by others are taken in as well."""

    def __init__(self, chain: ChainedAudit, clock: Clock, spool: Spool, left_behind: Sequence[Spool] = ()) -> None:
        self._chain = chain
        self._clock = clock
        self._spools = Spools(spool, left_behind)

    @property
    def waiting(self) -> bool:
        """Whether something done is not on record in the database yet: no money moves meanwhile."""
        return self._spools.waiting > 0

    @property
    def full(self) -> bool:
        """Whether there is hardly room for more."""
        return self._spools.fill > FULL

    @property
    def gone(self) -> bool:
        """Whether the spool's file was removed."""
        return self._spools.gone

    def look(self) -> None:
        """Look whether it was; blocks."""
        self._spools.look()

    async def append(self, customer: CustomerId, record: AuditRecord) -> None:
        """Store a record, even if the caller is cancelled. Raises StoreUnavailable: neither database nor disk did."""
        await finish(self._append(customer, record))

    async def _append(self, customer: CustomerId, record: AuditRecord) -> None:
        doubtful = False
        if not self.waiting:
            try:
                with within(_TRY_S):
                    await self._chain.append(customer, record)
            except StoreUnavailable as error:
                log.warning("records wait in the spool: %s", error.message)
                doubtful = not isinstance(error, StoreRefused)
            else:
                return
        await self._spools.put(_packed(customer, record, doubtful=doubtful))

    async def drain(self) -> int:
        """Take what waits into the chain; how many records that were. Raises StoreUnavailable."""
        return await self._spools.empty(self._into_the_chain)

    async def close(self) -> None:
        """Take in what waits before the process ends, as far as the database lets us: the next start does the rest."""
        try:
            await self.drain()
        except StoreUnavailable as error:
            log.warning("records wait in the spool: %s", error.code)
        self.release()

    def release(self) -> None:
        """Let go of the spools; what waits is taken in after the next start."""
        self._spools.close()

    async def _into_the_chain(self, spool: Spool, entries: Sequence[tuple[int, bytes]]) -> None:
        """In one transaction, which holds the chain's end meanwhile."""
        await self._chain.append_with("audit.spool", partial(self._take, spool.name, entries))
        await on_disk.run(None, spool.done, entries[-1][0])

    def _take(self, name: str, entries: Sequence[tuple[int, bytes]], connection: sa.Connection) -> Sequence[Given]:
        """Within a transaction: the records that are not in the chain yet, which are in it from now on."""
        insert_new(connection, t.spools, {"name": name, "through": 0})
        mine = t.spools.c.name == name
        through: int = connection.execute(sa.select(t.spools.c.through).where(mine).with_for_update()).scalar_one()
        fresh = [(number, data) for number, data in entries if number > through]
        if fresh:
            forward = sa.update(t.spools).where(mine & (t.spools.c.through == through)).values(through=fresh[-1][0])
            assert changed(connection.execute(forward)) == 1, "the row is locked"
        return [given for number, data in fresh for given in self._unless_there(connection, name, number, data)]

    def _unless_there(self, connection: sa.Connection, name: str, number: int, data: bytes) -> Sequence[Given]:
        if data == BROKEN:  # that something was done, and what, is lost; that it is lost is not
            facts: dict[str, Any] = {"spool": name, "entry": number}
            return ((_NOBODY, AuditRecord("record.broken", None, self._clock.now(), facts)),)
        customer, record, doubtful = _unpacked(data)
        return () if doubtful and self._chain.has(customer, connection, record) else ((customer, record),)


def _packed(customer: CustomerId, record: AuditRecord, *, doubtful: bool) -> bytes:
    fields: dict[str, Any] = {
        "customer": customer,
        "event": record.event,
        "call": record.call,
        "at": micros(record.at),
        "facts": record.facts,
        "personal": record.personal,
        "doubtful": doubtful,
    }
    return orjson.dumps(fields)


def _unpacked(data: bytes) -> tuple[CustomerId, AuditRecord, bool]:
    given = orjson.loads(data)
    call = None if given["call"] is None else CallId(given["call"])
    facts = given["facts"] | {"spooled": True}
    record = AuditRecord(given["event"], call, instant(given["at"]), facts, given["personal"])
    return CustomerId(given["customer"]), record, given["doubtful"]
