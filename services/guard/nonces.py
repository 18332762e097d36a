"""Numbers that count once, whichever gateway of those that share a database they reach, and however many at a time."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa

from schemas.errors import Unauthenticated
from services.store import Store, insert_new, metadata, micros

nonces: Final = sa.Table(
    "guard_nonces",
    metadata,
    sa.Column("key_id", sa.String(128), primary_key=True),
    sa.Column("nonce", sa.String(128), primary_key=True),
    sa.Column("until", sa.BigInteger, nullable=False),
    sa.Index("ix_guard_nonces_until", "until"),
)
PURGE_EVERY: Final = timedelta(seconds=60)


class Nonces:
    """The nonces of bridges' requests, each kept for `kept`, after which its request is too old anyway."""

    def __init__(self, store: Store, kept: timedelta, doubted: Callable[[], bool] = lambda: False) -> None:
        """While the clock is `doubted` none is given up: once it is right again its request may be young."""
        self._doubted = doubted
        self._store = store
        self._kept = kept
        self._purged: datetime | None = None

    async def take(self, key_id: str, nonce: str, now: datetime) -> None:
        """Take one. Raises Unauthenticated where it was taken before, StoreUnavailable where nobody can know."""
        purge = not self._doubted() and (self._purged is None or not now - PURGE_EVERY < self._purged <= now)

        def taking(connection: sa.Connection) -> bool:
            if purge:
                connection.execute(sa.delete(nonces).where(nonces.c.until < micros(now)))
            row = {"key_id": key_id, "nonce": nonce, "until": micros(now + self._kept)}
            return insert_new(connection, nonces, row)

        taken = await self._store.transact("nonce", taking)
        self._purged = now if purge else self._purged
        if not taken:
            raise Unauthenticated("the request was sent before")
