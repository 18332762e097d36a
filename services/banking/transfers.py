"""Rows of the ledger. States change only by compare-and-set, and only along the arrows below.

PROPOSED → SUBMITTING → SUCCEEDED | FAILED | UNKNOWN          (a yes for today, confirmed and handed over in one commit)
PROPOSED → CONFIRMED → SUBMITTING                             (a yes for a later day)
UNKNOWN → SUCCEEDED | FAILED                                  (the reconciler)
PROPOSED → EXPIRED | CANCELLED
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa

from schemas.banking import TransferState
from schemas.ids import CallId, CustomerId, ProposalId
from schemas.transfer import OPEN_STATES, Owed, TransferReceipt
from services.banking.entries import OPEN, SEALED, LedgerEntry, Spending, entry_of, sealed_columns
from services.banking.tables import transfers
from services.store import Store, changed, micros

_c = transfers.c
UNSETTLED = (TransferState.CONFIRMED, TransferState.SUBMITTING, TransferState.UNKNOWN)
"""States in which a promise to the caller is still to be kept."""

# The statements are built once: building one takes longer than running it. Each names the customer it is for.
_mine: Final = _c.customer_id == sa.bindparam("customer")
_this: Final = _mine & (_c.id == sa.bindparam("transfer"))
_live: Final = _mine & (_c.state == OPEN.value) & (_c.expires_at > sa.bindparam("now"))
_of_call: Final = _live & (_c.call_id == sa.bindparam("call"))

_FIND: Final = sa.select(transfers).where(_this)
_LIVE: Final = sa.select(transfers).where(_live).order_by(_c.created_at.desc(), _c.id.desc()).limit(1)
_DELIVER: Final = sa.update(transfers).where(_of_call & (_c.id == sa.bindparam("transfer")) & _c.delivered_at.is_(None))
_CANCEL_OPEN: Final = sa.update(transfers).where(
    _mine & (_c.call_id == sa.bindparam("call")) & (_c.state == OPEN.value)
)
_CANCEL_UNTIL: Final = _CANCEL_OPEN.where(_c.created_at <= sa.bindparam("until"))
_YES_COUNTS: Final = (
    _of_call
    & (_c.id == sa.bindparam("transfer"))
    & _c.delivered_at.is_not(None)
    & (_c.seal == sa.bindparam("sealed"))
    & sa.and_(*(_c[name].is_not_distinct_from(sa.bindparam(f"sealed_{name}")) for name in SEALED))
)
"""Heard, live, and to the letter what was sealed: whatever else is in memory or was written behind our back."""
_SPEND: Final = sa.update(transfers).where(_YES_COUNTS)
_MOVE: Final = sa.update(transfers).where(
    _this & _c.state.in_([sa.bindparam("one_before"), sa.bindparam("other_before")])
)
_LEASE: Final = (
    sa.update(transfers)
    .where(_this & (_c.state == sa.bindparam("seen_state")) & (_c.next_try_at == sa.bindparam("seen_try")))
    .values(attempts=_c.attempts + 1)
)


def insert(customer: CustomerId, connection: sa.Connection, entry: LedgerEntry, at: datetime) -> None:
    """Store a proposal with its idempotency key and fingerprint: both are durable before anything can be confirmed."""
    proposal = entry.proposal
    row = {
        "id": proposal.id,
        "customer_id": customer,
        "call_id": proposal.call,
        "seal": proposal.seal,
        "verification": proposal.verification.value,
        "state": OPEN.value,
        "bank_key": entry.bank_key,
        "fingerprint": entry.fingerprint,
        "created_at": micros(at),
        "updated_at": micros(at),
    }
    connection.execute(sa.insert(transfers), row | sealed_columns(proposal))


def find(customer: CustomerId, connection: sa.Connection, proposal: ProposalId) -> LedgerEntry | None:
    """One transfer of the customer."""
    row = connection.execute(_FIND, {"customer": customer, "transfer": proposal}).first()
    return None if row is None else entry_of(row)


def live(customer: CustomerId, connection: sa.Connection, now: datetime) -> LedgerEntry | None:
    """The customer's newest open proposal that has not expired."""
    row = connection.execute(_LIVE, {"customer": customer, "now": micros(now)}).first()
    return None if row is None else entry_of(row)


async def deliver(customer: CustomerId, store: Store, call: CallId, proposal: ProposalId, now: datetime) -> bool:
    """Note that the read-back was heard; False unless the proposal is this call's, open, live and not yet heard."""
    at = micros(now)
    values = {"customer": customer, "call": call, "transfer": proposal, "now": at}
    return await store.execute("ledger.delivered", _DELIVER, values | {"delivered_at": at, "updated_at": at}) == 1


async def void(customer: CustomerId, store: Store, call: CallId, now: datetime) -> int:
    """Void every open proposal of a call; how many there were."""
    return await store.execute("ledger.void", _CANCEL_OPEN, _cancelling(customer, call, "voided", now))


async def void_until(customer: CustomerId, store: Store, call: CallId, until: datetime, now: datetime) -> int:
    """Void what a call had proposed by a moment that is past; how many there were."""
    which = _cancelling(customer, call, "voided", now) | {"until": micros(until)}
    return await store.execute("ledger.void", _CANCEL_UNTIL, which)


def cancel_open(customer: CustomerId, connection: sa.Connection, call: CallId, reason: str, now: datetime) -> int:
    """Within a transaction: void every open proposal of a call; how many there were."""
    return changed(connection.execute(_CANCEL_OPEN, _cancelling(customer, call, reason, now)))


def _cancelling(customer: CustomerId, call: CallId, reason: str, now: datetime) -> dict[str, Any]:
    change = {"state": TransferState.CANCELLED.value, "reason": reason, "updated_at": micros(now)}
    return {"customer": customer, "call": call} | change


def spend(customer: CustomerId, connection: sa.Connection, spending: Spending) -> bool:
    """Spend the confirmation: exactly one caller of many gets True, and only while the proposal is heard and live."""
    return changed(connection.execute(_SPEND, spending.which(customer) | spending.change())) == 1


Change = tuple[Sequence[TransferState], TransferState]
"""From one of one or two states to another."""
TO_CANCELLED: Final[Change] = ((OPEN,), TransferState.CANCELLED)


def move(
    customer: CustomerId, connection: sa.Connection, proposal: ProposalId, change: Change, values: Mapping[str, Any]
) -> bool:
    """Compare-and-set along `change`; whether the transfer was in one of the states before it."""
    return changed(connection.execute(_MOVE, _moving(customer, proposal, change, values))) == 1


async def move_alone(
    customer: CustomerId, store: Store, name: str, proposal: ProposalId, change: Change, values: Mapping[str, Any]
) -> bool:
    """As `move`, in a write of its own, called `name`."""
    return await store.execute(name, _MOVE, _moving(customer, proposal, change, values)) == 1


def _moving(customer: CustomerId, proposal: ProposalId, change: Change, values: Mapping[str, Any]) -> dict[str, Any]:
    before, after = change
    which = {"customer": customer, "transfer": proposal}
    which |= {"one_before": before[0].value, "other_before": before[-1].value}
    return which | {"state": after.value, **values}


def lease(customer: CustomerId, connection: sa.Connection, entry: LedgerEntry, until: datetime) -> bool:
    """Take an unsettled transfer for one attempt; False when another worker has it."""
    seen = None if entry.next_try_at is None else micros(entry.next_try_at)
    which = {"customer": customer, "transfer": entry.proposal.id, "seen_state": entry.state.value, "seen_try": seen}
    return changed(connection.execute(_LEASE, which | {"next_try_at": micros(until)})) == 1


_PUT_OFF: Final = sa.update(transfers).where(_this & _c.state.in_([state.value for state in UNSETTLED]))


async def put_off(customer: CustomerId, store: Store, proposal: ProposalId, until: datetime) -> None:
    """Leave an unsettled transfer, whatever its row holds, alone for a while."""
    which = {"customer": customer, "transfer": proposal, "next_try_at": micros(until)}
    await store.execute("reconcile.put_off", _PUT_OFF, which)


_OWED: Final = sa.select(transfers).where(_mine & (_c.owed_at > sa.bindparam("since"))).order_by(_c.owed_at)
_ENDS: Final = _c.state.not_in([state.value for state in OPEN_STATES])


async def owed(customer: CustomerId, store: Store, since: datetime, most: int) -> Sequence[Owed]:
    """What the customer has yet to be told the end of, oldest first: `most` that ended, then `most` that did not."""
    values = {"customer": customer, "since": micros(since)}

    def looked(connection: sa.Connection) -> list[sa.Row[Any]]:
        each = (connection.execute(_OWED.where(which).limit(most), values) for which in (_ENDS, ~_ENDS))
        return [row for rows in each for row in rows]

    rows = await store.look(looked)
    return [Owed(entry.proposal.order, entry.receipt) for entry in map(entry_of, rows)]


_TOLD: Final = sa.update(transfers).where(_this & (_c.state == sa.bindparam("as_told"))).values(owed_at=None)


async def told(customer: CustomerId, store: Store, receipt: TransferReceipt) -> None:
    """Note that the customer heard where a transfer stands; nothing where it stands elsewhere by now."""
    which = {"customer": customer, "transfer": receipt.proposal, "as_told": receipt.state.value}
    await store.execute("ledger.told", _TOLD, which)


_NEVER_SPENT: Final = (OPEN.value, TransferState.EXPIRED.value, TransferState.CANCELLED.value)
_OWE: Final = (
    sa.update(transfers)
    .where(_this & _c.state.in_(_NEVER_SPENT) & _c.owed_at.is_(None))
    .values(state=sa.case((_c.state == OPEN.value, TransferState.CANCELLED.value), else_=_c.state))
)


async def close_owing(customer: CustomerId, store: Store, proposal: ProposalId, now: datetime) -> None:
    """Of a yes that was never spent, though the customer was told that it is looked after: say so in the end."""
    change = {"reason": "not_carried_out", "owed_at": micros(now), "updated_at": micros(now)}
    await store.execute("ledger.owe", _OWE, {"customer": customer, "transfer": proposal} | change)


async def due(
    store: Store, now: datetime, longest_wait: timedelta, most: int, *, submitted_alone: bool = False
) -> Sequence[tuple[CustomerId, ProposalId]]:
    """Of all customers: the unsettled transfers whose next attempt is due, oldest first.

    `submitted_alone` leaves out those that wait for their day.
    One that is further off than any wait was put there by a clock that has since gone back: it is due.
    """
    submitted = _c.state.in_((TransferState.SUBMITTING.value, TransferState.UNKNOWN.value))
    astray = submitted & (_c.next_try_at > micros(now + longest_wait))
    wanted = submitted if submitted_alone else _c.state.in_([state.value for state in UNSETTLED])
    unsettled = wanted & ((_c.next_try_at <= micros(now)) | astray)
    waiting = sa.select(_c.customer_id, _c.id).where(unsettled).order_by(_c.next_try_at).limit(most)
    rows = await store.look(lambda connection: connection.execute(waiting).all())
    return [(CustomerId(row.customer_id), ProposalId(row.id)) for row in rows]


async def expire(store: Store, now: datetime, longest_life: timedelta) -> int:
    """Of all customers: close open proposals whose time is over, or has yet to begin; how many there were."""
    over = (_c.expires_at <= micros(now)) | (_c.expires_at > micros(now + longest_life))
    late = (_c.state == OPEN.value) & over
    values = {"state": TransferState.EXPIRED.value, "updated_at": micros(now)}
    return await store.execute("ledger.expire", sa.update(transfers).where(late), values)
