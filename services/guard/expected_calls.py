"""Calls that a bridge announces before they come, where their protocol has no room for a statement but only for an id.

The bridge signs a request that names the customer, and gets an id that nobody can guess; the call that brings it, once
and within a minute, to whichever gateway, is that customer's. Afterwards the id tells what is to become of the call.
"""

import hashlib
import secrets
import uuid
from datetime import timedelta
from typing import Final

import sqlalchemy as sa

from rules.act import CLOCKS_APART
from schemas.errors import Busy, NotFound
from schemas.ids import CustomerId
from services.ports import Clock
from services.store import Store, changed, metadata, micros

expected_calls: Final = sa.Table(
    "guard_expected_calls",
    metadata,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("customer_id", sa.String(128)),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Column("outcome", sa.String(16)),
    sa.Index("ix_guard_expected_calls_at", "at"),
)
LIFE: Final = timedelta(seconds=60)
"""So long an announced call may take to come,"""
KEPT: Final = timedelta(hours=1)
"""and so long after its announcement its outcome can be asked for, at the most."""
MAX_EXPECTED: Final = 10_000
"""Announced calls that may still come."""
MAX_ENDED: Final = 50_000
"""Outcomes, strangers' too; past it the oldest is forgotten first."""
_c = expected_calls.c


class ExpectedCalls:
    """The announced calls of all gateways of one database, which has no id itself, only its digest."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def announce(self, customer: CustomerId) -> str:
        """The id that the customer's call is to bring: a UUID. Raises Busy, StoreUnavailable."""
        identity = str(uuid.UUID(bytes=secrets.token_bytes(16)))
        now = self._clock.now()
        row = {"digest": _digest(identity), "customer_id": customer, "at": micros(now)}

        def announcing(connection: sa.Connection) -> None:
            self._forget(connection)
            if _count(connection, _c.customer_id.is_not(None) & (_c.at >= micros(now - LIFE))) >= MAX_EXPECTED:
                raise Busy("too many calls were announced", retry_after_s=LIFE.total_seconds())
            connection.execute(sa.insert(expected_calls), row)

        await self._store.transact("expected.announce", announcing)
        return identity

    async def take(self, identity: str, _call: str) -> CustomerId | None:
        """Whose call it is, once; null where it was not announced, or not a minute ago. Raises StoreUnavailable."""
        now = self._clock.now()
        young = _c.at.between(micros(now - LIFE), micros(now + CLOCKS_APART))
        it = (_c.digest == _digest(identity)) & _c.customer_id.is_not(None) & young

        def taking(connection: sa.Connection) -> CustomerId | None:
            customer = connection.execute(sa.select(_c.customer_id).where(it)).scalar_one_or_none()
            taken = changed(connection.execute(sa.update(expected_calls).where(it).values(customer_id=None)))
            return CustomerId(customer) if customer is not None and taken else None

        return await self._store.transact("expected.take", taking)

    async def ended(self, identity: str, outcome: str) -> None:
        """What is to become of the call; of a stranger's too. Raises StoreUnavailable."""
        row = {"digest": _digest(identity), "at": micros(self._clock.now()), "outcome": outcome}

        def ending(connection: sa.Connection) -> None:
            self._forget(connection)
            connection.execute(sa.delete(expected_calls).where(_c.digest == row["digest"]))
            if _count(connection, over := _c.outcome.is_not(None)) >= MAX_ENDED:
                oldest = sa.select(_c.digest).where(over).order_by(_c.at).limit(1).scalar_subquery()
                connection.execute(sa.delete(expected_calls).where(_c.digest == oldest))
            connection.execute(sa.insert(expected_calls), row)

        await self._store.transact("expected.ended", ending)

    async def outcome(self, identity: str) -> str:
        """What is to become of a call that is over. Raises NotFound where it is not, or nobody knows it."""
        wanted = sa.select(_c.outcome).where(_c.digest == _digest(identity))
        found = await self._store.look(lambda connection: connection.execute(wanted).scalar_one_or_none())
        if found is None:
            raise NotFound("no call with this id has ended")
        return str(found)

    def _forget(self, connection: sa.Connection) -> None:
        """What is too old, or was written before a clock was set back."""
        now = self._clock.now()
        over = (_c.at < micros(now - KEPT)) | (_c.at > micros(now + CLOCKS_APART))
        connection.execute(sa.delete(expected_calls).where(over))


def _count(connection: sa.Connection, which: sa.ColumnElement[bool]) -> int:
    return connection.execute(sa.select(sa.func.count()).select_from(expected_calls).where(which)).scalar_one()


def _digest(identity: str) -> str:
    return hashlib.sha256(identity.encode()).hexdigest()
