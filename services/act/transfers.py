"""Rows of the ledger. States change only by compare-and-set, and only along the arrows below.

PROPOSED → SUBMITTING → SUCCEEDED | FAILED | UNKNOWN          (a yes for today, confirmed and handed over in one commit)
PROPOSED → CONFIRMED → SUBMITTING                             (a yes for a later day)
UNKNOWN → SUCCEEDED | FAILED                                  (the reconciler)
PROPOSED → EXPIRED | CANCELLED
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from schemas.banking import PayeeVerification, TransferOrder, TransferState
from schemas.errors import LimitExceeded
from schemas.ids import AccountId, BillId, CallId, CustomerId, PayeeId, ProposalId
from schemas.money import Money
from schemas.transfer import Proposal, TransferReceipt
from services.act.tables import spending, transfers
from services.store import Store, changed, insert_new, instant, micros

_c = transfers.c
OPEN = TransferState.PROPOSED
UNSETTLED = (TransferState.CONFIRMED, TransferState.SUBMITTING, TransferState.UNKNOWN)
"""States in which a promise to the caller is still to be kept."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A transfer as the ledger keeps it. `bank_key` is its one idempotency key, fixed when it was proposed."""

    proposal: Proposal
    state: TransferState
    bank_key: str
    fingerprint: str
    reference: str
    reason: str
    spend_day: date | None
    attempts: int
    next_try_at: datetime | None
    submitted_at: datetime | None

    @property
    def receipt(self) -> TransferReceipt:
        """Where it stands."""
        return TransferReceipt(self.proposal.id, self.state, self.reference, self.reason)


def _proposal(row: sa.Row[Any]) -> Proposal:
    order = TransferOrder(
        source=AccountId(row.source),
        payee_id=None if row.payee_id is None else PayeeId(row.payee_id),
        payee_version=row.payee_version,
        amount=Money(row.amount_minor, row.currency),
        to_account=None if row.to_account is None else AccountId(row.to_account),
        on=None if row.on_date is None else date.fromisoformat(row.on_date),
        bill_id=None if row.bill_id is None else BillId(row.bill_id),
    )
    return Proposal(
        id=ProposalId(row.id),
        customer=CustomerId(row.customer_id),
        call=CallId(row.call_id),
        order=order,
        nonce=row.nonce,
        seal=row.seal,
        expires_at=instant(row.expires_at),
        verification=PayeeVerification(row.verification),
        step_up_required=bool(row.step_up_required),
        delivered_at=None if row.delivered_at is None else instant(row.delivered_at),
    )


def _entry(row: sa.Row[Any]) -> Entry:
    return Entry(
        proposal=_proposal(row),
        state=TransferState(row.state),
        bank_key=row.bank_key,
        fingerprint=row.fingerprint,
        reference=row.reference,
        reason=row.reason,
        spend_day=None if row.spend_day is None else date.fromisoformat(row.spend_day),
        attempts=row.attempts,
        next_try_at=None if row.next_try_at is None else instant(row.next_try_at),
        submitted_at=None if row.submitted_at is None else instant(row.submitted_at),
    )


async def insert(
    customer: CustomerId, connection: AsyncConnection, proposal: Proposal, bank_key: str, fingerprint: str, at: datetime
) -> None:
    """Store a proposal with its idempotency key and fingerprint: both are durable before anything can be confirmed."""
    order = proposal.order
    await connection.execute(
        sa.insert(transfers).values(
            id=proposal.id,
            customer_id=customer,
            call_id=proposal.call,
            source=order.source,
            payee_id=order.payee_id,
            payee_version=order.payee_version,
            to_account=order.to_account,
            amount_minor=order.amount.minor,
            currency=order.amount.currency,
            on_date=order.on.isoformat() if order.on else None,
            bill_id=order.bill_id,
            nonce=proposal.nonce,
            seal=proposal.seal,
            expires_at=micros(proposal.expires_at),
            verification=proposal.verification.value,
            step_up_required=proposal.step_up_required,
            state=OPEN.value,
            bank_key=bank_key,
            fingerprint=fingerprint,
            created_at=micros(at),
            updated_at=micros(at),
        )
    )


async def find(customer: CustomerId, connection: AsyncConnection, proposal: ProposalId) -> Entry | None:
    """One transfer of the customer."""
    mine = (_c.customer_id == customer) & (_c.id == proposal)
    row = (await connection.execute(sa.select(transfers).where(mine))).first()
    return None if row is None else _entry(row)


async def live(customer: CustomerId, connection: AsyncConnection, now: datetime) -> Entry | None:
    """The customer's newest open proposal that has not expired."""
    mine = (_c.customer_id == customer) & (_c.state == OPEN.value) & (_c.expires_at > micros(now))
    newest = sa.select(transfers).where(mine).order_by(_c.created_at.desc(), _c.id.desc()).limit(1)
    row = (await connection.execute(newest)).first()
    return None if row is None else _entry(row)


async def mark_delivered(
    customer: CustomerId, connection: AsyncConnection, call: CallId, proposal: ProposalId, now: datetime
) -> bool:
    """Note that the read-back was heard; False unless the proposal is this call's, open, live and not yet heard."""
    fits = _is_open(customer, call, now) & (_c.id == proposal) & _c.delivered_at.is_(None)
    values = {"delivered_at": micros(now), "updated_at": micros(now)}
    return changed(await connection.execute(sa.update(transfers).where(fits).values(**values))) == 1


async def cancel_open(
    customer: CustomerId, connection: AsyncConnection, call: CallId, reason: str, now: datetime
) -> int:
    """Void every open proposal of a call; how many there were."""
    fits = (_c.customer_id == customer) & (_c.call_id == call) & (_c.state == OPEN.value)
    values = {"state": TransferState.CANCELLED.value, "reason": reason, "updated_at": micros(now)}
    return changed(await connection.execute(sa.update(transfers).where(fits).values(**values)))


async def spend(
    customer: CustomerId, connection: AsyncConnection, entry: Entry, next_try: datetime, day: date, now: datetime
) -> bool:
    """Spend the confirmation: exactly one caller of many gets True, and only while the proposal is heard and live.

    `entry.state` is what it becomes: CONFIRMED, or SUBMITTING when it is handed to the bank at once.
    """
    fits = (
        _is_open(customer, entry.proposal.call, now)
        & (_c.id == entry.proposal.id)
        & (_c.seal == entry.proposal.seal)
        & _c.delivered_at.is_not(None)
    )
    values = {
        "state": entry.state.value,
        "spend_day": day.isoformat(),
        "submitted_at": micros(now) if entry.state is TransferState.SUBMITTING else None,
        "next_try_at": micros(next_try),
        "updated_at": micros(now),
    }
    return changed(await connection.execute(sa.update(transfers).where(fits).values(**values))) == 1


async def move(
    customer: CustomerId,
    connection: AsyncConnection,
    proposal: ProposalId,
    change: tuple[Sequence[TransferState], TransferState],
    values: dict[str, Any],
) -> bool:
    """Compare-and-set from one of some states to another; whether it was in one of them."""
    before, after = change
    fits = (_c.customer_id == customer) & (_c.id == proposal) & _c.state.in_([state.value for state in before])
    changes = {"state": after.value, **values}
    return changed(await connection.execute(sa.update(transfers).where(fits).values(**changes))) == 1


async def lease(customer: CustomerId, connection: AsyncConnection, entry: Entry, until: datetime) -> bool:
    """Take an unsettled transfer for one attempt; False when another worker has it."""
    seen = None if entry.next_try_at is None else micros(entry.next_try_at)
    fits = (
        (_c.customer_id == customer)
        & (_c.id == entry.proposal.id)
        & (_c.state == entry.state.value)
        & (_c.next_try_at == seen)
    )
    values = {"attempts": _c.attempts + 1, "next_try_at": micros(until)}
    return changed(await connection.execute(sa.update(transfers).where(fits).values(**values))) == 1


async def reserve(customer: CustomerId, connection: AsyncConnection, amount: Money, day: date, per_day: int) -> None:
    """Count an amount against the day's limit, atomically. Raises LimitExceeded; nothing is counted then."""
    await insert_new(connection, spending, _spending_key(customer, amount.currency, day) | {"spent_minor": 0})
    raised = spending.c.spent_minor + amount.minor
    fits = _spending_of(customer, amount.currency, day) & (raised <= per_day)
    if changed(await connection.execute(sa.update(spending).where(fits).values(spent_minor=raised))) != 1:
        raise LimitExceeded("above the limit per day")


async def release(customer: CustomerId, connection: AsyncConnection, amount: Money, day: date) -> None:
    """Take a failed transfer off its day's count."""
    lowered = spending.c.spent_minor - amount.minor
    fits = _spending_of(customer, amount.currency, day)
    await connection.execute(sa.update(spending).where(fits).values(spent_minor=lowered))


async def spent(customer: CustomerId, connection: AsyncConnection, currency: str, day: date) -> int:
    """What the day's confirmed transfers come to, in minor units."""
    fits = _spending_of(customer, currency, day)
    return (await connection.execute(sa.select(spending.c.spent_minor).where(fits))).scalar() or 0


async def due(store: Store, now: datetime, most: int) -> Sequence[tuple[CustomerId, ProposalId]]:
    """Of all customers: the unsettled transfers whose next attempt is due, oldest first."""
    unsettled = _c.state.in_([state.value for state in UNSETTLED]) & (_c.next_try_at <= micros(now))
    wanted = sa.select(_c.customer_id, _c.id).where(unsettled).order_by(_c.next_try_at).limit(most)
    async with store.read() as connection:
        return [(CustomerId(row.customer_id), ProposalId(row.id)) for row in await connection.execute(wanted)]


async def expire(store: Store, now: datetime) -> int:
    """Of all customers: close open proposals whose time is over; how many there were."""
    late = (_c.state == OPEN.value) & (_c.expires_at <= micros(now))
    values = {"state": TransferState.EXPIRED.value, "updated_at": micros(now)}
    async with store.write("ledger.expire") as connection:
        return changed(await connection.execute(sa.update(transfers).where(late).values(**values)))


def _is_open(customer: CustomerId, call: CallId, now: datetime) -> sa.ColumnElement[bool]:
    mine = (_c.customer_id == customer) & (_c.call_id == call)
    return mine & (_c.state == OPEN.value) & (_c.expires_at > micros(now))


def _spending_key(customer: CustomerId, currency: str, day: date) -> dict[str, str]:
    return {"customer_id": customer, "currency": currency, "day": day.isoformat()}


def _spending_of(customer: CustomerId, currency: str, day: date) -> sa.ColumnElement[bool]:
    return (
        (spending.c.customer_id == customer) & (spending.c.currency == currency) & (spending.c.day == day.isoformat())
    )
