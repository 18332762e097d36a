"""Calls of a customer at once, counted across every gateway of one database.

A call is a row that its gateway renews. A gateway that dies renews nothing: its calls count a little longer, no more.
"""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final

import sqlalchemy as sa

from rules.act import CLOCKS_APART
from schemas.errors import RateLimited, StoreUnavailable
from schemas.ids import CallId, CustomerId
from services.guard.shared_rates import Kind, SharedRates
from services.ports import Clock
from services.store import Store, alone, changed, insert_new, metadata, micros
from services.timing import finish

log = logging.getLogger(__name__)

calls: Final = sa.Table(
    "guard_calls",
    metadata,
    sa.Column("call_id", sa.String(64), primary_key=True),
    sa.Column("customer_id", sa.String(128), nullable=False),
    sa.Column("until", sa.BigInteger, nullable=False),
    sa.Index("ix_guard_calls_customer", "customer_id"),
)
LEASE: Final = timedelta(seconds=15)
RENEW_EVERY_S: Final = 4.0
_c = calls.c


class SharedCalls:
    """At most `most` calls of a customer at once. An embedded database has one gateway, whose own count is enough."""

    def __init__(self, store: Store, clock: Clock, most: int, rates: SharedRates) -> None:
        self._store = store
        self._clock = clock
        self._most = most
        self._rates = rates
        self._mine: dict[CallId, CustomerId] = {}

    @asynccontextmanager
    async def call(self, customer: CustomerId, call: CallId) -> AsyncIterator[None]:
        """A call, as long as it lasts. Raises RateLimited, StoreUnavailable."""
        if self._store.embedded:
            yield
            return
        await self._enter(customer, call)
        self._mine[call] = customer
        try:
            yield
        finally:
            del self._mine[call]
            await finish(self._leave(call))

    async def renew(self) -> None:
        """Say that this gateway's calls are still there. Raises StoreUnavailable."""
        mine, until = dict(self._mine), micros(self._clock.now() + LEASE)
        renewed = sa.update(calls).where(_c.call_id.in_(sorted(mine))).values(until=until)

        def renewing(connection: sa.Connection) -> None:
            if changed(connection.execute(renewed)) < len(mine):  # no database answered for longer than a lease
                for call in mine.keys() & self._mine.keys():
                    insert_new(connection, calls, {"call_id": call, "customer_id": mine[call], "until": until})

        if mine:
            await self._store.transact("calls.renew", renewing)

    async def _enter(self, customer: CustomerId, call: CallId) -> None:
        now = self._clock.now()
        theirs = _c.customer_id == customer

        def entering(connection: sa.Connection) -> None:
            alone(connection, f"calls:{customer}")
            longest = now + LEASE + CLOCKS_APART  # what lasts longer is from before a clock was set back
            over = (_c.until <= micros(now)) | (_c.until > micros(longest))
            connection.execute(sa.delete(calls).where(theirs & over))
            if connection.execute(sa.select(sa.func.count()).where(theirs)).scalar_one() >= self._most:
                raise RateLimited("too many calls at once", retry_after_s=5.0)
            self._rates.taking(connection, Kind.CALLS, customer, now)
            row = {"call_id": call, "customer_id": customer, "until": micros(now + LEASE)}
            connection.execute(sa.insert(calls), row)

        await self._store.transact("calls.enter", entering)

    async def _leave(self, call: CallId) -> None:
        try:
            await self._store.execute("calls.leave", sa.delete(calls).where(_c.call_id == call))
        except StoreUnavailable as error:
            log.warning("a call that is over counts a little longer: %s", error.code)
