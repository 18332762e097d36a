"""The transactional outbox of the audit: what became of each transfer goes on record once, whatever crashes when.

A transfer's row says which of its states is on record (`recorded`). A state that is not is durable together with that
very fact, and marking it and appending its record are one transaction: nothing is lost and nothing is there twice.
"""

import logging
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Final, Protocol

import sqlalchemy as sa

from schemas.audit import AuditRecord, AuditValue
from schemas.errors import TellerlineError
from schemas.ids import CallId, CustomerId
from services.banking.tables import UNRECORDED, transfers
from services.ports import Clock
from services.store import instant

log = logging.getLogger(__name__)

BATCH: Final = 100
"""Records of one transaction, which holds the chain's end meanwhile."""
MOST_BATCHES: Final = 100
"""Batches of one pass."""
LATE: Final = timedelta(seconds=30)
"""What waited longer was left by a crash or an outage: a pass comes every few seconds."""

_c = transfers.c

Work = Callable[[sa.Connection], Sequence[tuple[CustomerId, AuditRecord]]]


class Chain(Protocol):
    """The audit log of the ledger's own database."""

    async def append_with(self, name: str, work: Work) -> int:
        """Append the records that `work` gives, in the transaction in which it runs; how many there were."""
        ...


class Outbox:
    """Puts the states of transfers on record. Any number of processes may; none waits for another's rows."""

    def __init__(self, chain: Chain, clock: Clock) -> None:
        self._chain = chain
        self._clock = clock

    async def drain(self) -> int:
        """Record what waits, up to a bound; how many records that took. Raises StoreUnavailable."""
        done = 0
        for _ in range(MOST_BATCHES):
            taken = await self._chain.append_with("audit.transfers", self._take)
            done += taken
            if taken < BATCH:
                break
        return done

    async def close(self) -> None:
        """Record what waits before the process ends, as far as the database lets us: the next start does the rest."""
        try:
            await self.drain()
        except TellerlineError as error:
            log.warning("transfers wait to be put on record: %s", error.code)

    def _take(self, connection: sa.Connection) -> Sequence[tuple[CustomerId, AuditRecord]]:
        rows = sorted(claim(connection, BATCH), key=lambda row: (row.updated_at, row.id))
        return [(CustomerId(row.customer_id), self._record(row)) for row in rows]

    def _record(self, row: sa.Row[Any]) -> AuditRecord:
        """What became of a transfer. Its seal stands for all that was agreed to, which is not repeated here."""
        now = self._clock.now()
        facts: dict[str, AuditValue] = {
            "proposal": row.id,
            "seal": row.seal,
            "state": row.state,
            "reason": row.reason,
            "reference": row.reference,
            "retries": row.attempts,
            "heard_at": _iso(row.delivered_at),
            "submitted_at": _iso(row.submitted_at),
            "since": _iso(row.updated_at),
            "recovered": now - instant(row.updated_at) > LATE,
        }
        return AuditRecord(f"transfer.{row.state}", CallId(row.call_id), now, facts)


def claim(connection: sa.Connection, most: int) -> Sequence[sa.Row[Any]]:
    """Mark as recorded the states that are not, longest waiting first; their rows. Of all customers.

    Rows that another process is writing are left for the next pass.
    """
    waiting = sa.select(_c.id).where(sa.text(UNRECORDED)).order_by(_c.updated_at).limit(most)
    found = waiting.with_for_update(skip_locked=True).cte("waiting")
    marked = sa.update(transfers).where(_c.id.in_(sa.select(found.c.id))).values(recorded=_c.state)
    return connection.execute(marked.returning(*_SHOWN)).all()


_SHOWN: Final = (
    _c.id, _c.customer_id, _c.call_id, _c.seal, _c.state, _c.reason, _c.reference, _c.attempts, _c.delivered_at,
    _c.submitted_at, _c.updated_at,
)  # fmt: skip


def _iso(at: int | None) -> str | None:
    return None if at is None else instant(at).isoformat(timespec="milliseconds")
