"""What one customer may begin or ask a minute, counted across every gateway of one database.

A gateway's own bucket comes first (`shares.Rate`), so that a flood is refused before the database is asked anything.
"""

import logging
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from rules.act import CLOCKS_APART
from schemas.errors import RateLimited, StoreUnavailable
from schemas.ids import CustomerId
from services.guard.shares import BURST_S, Allowance
from services.ports import Clock
from services.store import Store, metadata, micros
from services.timing import within

log = logging.getLogger(__name__)

rates: Final = sa.Table(
    "guard_rates",
    metadata,
    sa.Column("kind", sa.String(16), primary_key=True),
    sa.Column("customer_id", sa.String(128), primary_key=True),
    sa.Column("full_at", sa.BigInteger, nullable=False),
    sa.Index("ix_guard_rates_full_at", "full_at"),
)
"""When a customer's bucket will be full again: all that a bucket has to know, and one statement takes from it.

Later than a bucket can take is from before a clock was set back: then it is full.
"""
_COUNTED_S: Final = 0.5
"""A request waits so long to be counted by all; then its answer is what matters."""
_c = rates.c


class Kind(StrEnum):
    """What is counted."""

    CALLS = "calls"
    REQUESTS = "requests"


class SharedRates:
    """Buckets of the same size as a gateway's own. An embedded database has one gateway, whose own are enough."""

    def __init__(self, store: Store, clock: Clock, allowance: Allowance) -> None:
        self._store = store
        self._clock = clock
        self._a_minute = {Kind.CALLS: allowance.calls_a_minute, Kind.REQUESTS: allowance.requests_a_minute}

    def taking(self, connection: sa.Connection, kind: Kind, customer: CustomerId, now: datetime) -> None:
        """Take one within a transaction on PostgreSQL. Raises RateLimited with the time until there is one again."""
        each = timedelta(minutes=1) / self._a_minute[kind]
        most = max(each, timedelta(seconds=BURST_S))
        at = sa.literal(micros(now), sa.BigInteger)
        begins = sa.case((_c.full_at > micros(now + most + CLOCKS_APART), at), else_=sa.func.greatest(_c.full_at, at))
        later = begins + sa.literal(each // timedelta(microseconds=1), sa.BigInteger)
        row = {"kind": kind, "customer_id": customer, "full_at": micros(now + each)}
        taken = insert(rates).values(row).on_conflict_do_update(
            index_elements=[_c.kind, _c.customer_id], set_={"full_at": later}, where=later <= micros(now + most)
        )  # fmt: skip
        if connection.execute(taken.returning(_c.full_at)).first() is None:
            theirs = (_c.kind == kind) & (_c.customer_id == customer)
            full_at = connection.execute(sa.select(_c.full_at).where(theirs)).scalar_one()
            wait_s = (full_at - micros(now + most - each)) / 1_000_000
            raise RateLimited("too many a minute: try again in Retry-After seconds", retry_after_s=max(1.0, wait_s))

    async def request(self, customer: CustomerId) -> None:
        """Take one request. Raises RateLimited; where no database answers, this gateway's own bucket has to do."""
        if self._store.embedded:
            return
        now = self._clock.now()
        try:
            with within(_COUNTED_S):
                await self._store.transact("rates.request", lambda c: self.taking(c, Kind.REQUESTS, customer, now))
        except StoreUnavailable as error:
            log.warning("a request is counted by this gateway alone: %s", error.code)

    async def forget(self) -> None:
        """Drop the buckets that are full. Raises StoreUnavailable."""
        if not self._store.embedded:
            now, longest = self._clock.now(), timedelta(minutes=1) + timedelta(seconds=BURST_S) + CLOCKS_APART
            full = (_c.full_at <= micros(now)) | (_c.full_at > micros(now + longest))
            await self._store.execute("rates.forget", sa.delete(rates).where(full))
