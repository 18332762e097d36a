"""Rows of the ledger. States change only by compare-and-set, and only along the arrows below.

PROPOSED → SUBMITTING → SUCCEEDED | FAILED | UNKNOWN          (a yes for today, confirmed and handed over in one commit)
PROPOSED → CONFIRMED → SUBMITTING                             (a yes for a later day)
UNKNOWN → SUCCEEDED | FAILED                                  (the reconciler)
PROPOSED → EXPIRED | CANCELLED
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final

import sqlalchemy as sa

from schemas.banking import PayeeVerification, TransferOrder, TransferState
from schemas.ids import AccountId, BillId, CallId, CustomerId, PayeeId, ProposalId
from schemas.money import Money
from schemas.transfer import Proposal, TransferReceipt
from services.act.tables import transfers
from services.store import Store, changed, instant, micros

_c = transfers.c
OPEN = TransferState.PROPOSED
UNSETTLED = (TransferState.CONFIRMED, TransferState.SUBMITTING, TransferState.UNKNOWN)
"""States in which a promise to the caller is still to be kept."""

SEALED: Final = (
    "source", "payee_id", "payee_version", "to_account", "amount_minor", "currency", "on_date", "bill_id", "nonce",
    "expires_at", "step_up_required",
)  # fmt: skip
"""The columns that the seal is over, besides those that say whose proposal it is."""

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
YES_COUNTS: Final = (
    _of_call
    & (_c.id == sa.bindparam("transfer"))
    & _c.delivered_at.is_not(None)
    & (_c.seal == sa.bindparam("sealed"))
    & sa.and_(*(_c[name].is_not_distinct_from(sa.bindparam(f"sealed_{name}")) for name in SEALED))
)
"""Heard, live, and to the letter what was sealed: whatever else is in memory or was written behind our back."""
_SPEND: Final = sa.update(transfers).where(YES_COUNTS)
_MOVE: Final = sa.update(transfers).where(
    _this & _c.state.in_([sa.bindparam("one_before"), sa.bindparam("other_before")])
)
_LEASE: Final = (
    sa.update(transfers)
    .where(_this & (_c.state == sa.bindparam("seen_state")) & (_c.next_try_at == sa.bindparam("seen_try")))
    .values(attempts=_c.attempts + 1)
)


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


def sealed_columns(proposal: Proposal) -> dict[str, Any]:
    """The columns of SEALED as a proposal fills them."""
    order = proposal.order
    return {
        "source": order.source,
        "payee_id": order.payee_id,
        "payee_version": order.payee_version,
        "to_account": order.to_account,
        "amount_minor": order.amount.minor,
        "currency": order.amount.currency,
        "on_date": order.on.isoformat() if order.on else None,
        "bill_id": order.bill_id,
        "nonce": proposal.nonce,
        "expires_at": micros(proposal.expires_at),
        "step_up_required": proposal.step_up_required,
    }


def new_entry(proposal: Proposal, bank_key: str, fingerprint: str) -> Entry:
    """A proposal as it enters the ledger."""
    return Entry(proposal, OPEN, bank_key, fingerprint, "", "", None, 0, None, None)


def insert(customer: CustomerId, connection: sa.Connection, entry: Entry, at: datetime) -> None:
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


def find(customer: CustomerId, connection: sa.Connection, proposal: ProposalId) -> Entry | None:
    """One transfer of the customer."""
    row = connection.execute(_FIND, {"customer": customer, "transfer": proposal}).first()
    return None if row is None else _entry(row)


def live(customer: CustomerId, connection: sa.Connection, now: datetime) -> Entry | None:
    """The customer's newest open proposal that has not expired."""
    row = connection.execute(_LIVE, {"customer": customer, "now": micros(now)}).first()
    return None if row is None else _entry(row)


async def deliver(customer: CustomerId, store: Store, call: CallId, proposal: ProposalId, now: datetime) -> bool:
    """Note that the read-back was heard; False unless the proposal is this call's, open, live and not yet heard."""
    at = micros(now)
    values = {"customer": customer, "call": call, "transfer": proposal, "now": at}
    return await store.execute("ledger.delivered", _DELIVER, values | {"delivered_at": at, "updated_at": at}) == 1


async def void(customer: CustomerId, store: Store, call: CallId, now: datetime) -> int:
    """Void every open proposal of a call; how many there were."""
    return await store.execute("ledger.void", _CANCEL_OPEN, _cancelling(customer, call, "voided", now))


def cancel_open(customer: CustomerId, connection: sa.Connection, call: CallId, reason: str, now: datetime) -> int:
    """Within a transaction: void every open proposal of a call; how many there were."""
    return changed(connection.execute(_CANCEL_OPEN, _cancelling(customer, call, reason, now)))


def _cancelling(customer: CustomerId, call: CallId, reason: str, now: datetime) -> dict[str, Any]:
    change = {"state": TransferState.CANCELLED.value, "reason": reason, "updated_at": micros(now)}
    return {"customer": customer, "call": call} | change


@dataclass(frozen=True, slots=True)
class Spending:
    """A yes that is to count. `entry.state` is what it becomes: CONFIRMED, or SUBMITTING for the bank at once.

    `per_day` is the customer's limit in minor units.
    """

    entry: Entry
    day: date
    next_try_at: datetime
    now: datetime
    per_day: int

    def which(self, customer: CustomerId) -> dict[str, Any]:
        """What the row must be for the yes to count."""
        proposal = self.entry.proposal
        which = {"customer": customer, "call": proposal.call, "transfer": proposal.id, "sealed": proposal.seal}
        row = {f"sealed_{name}": value for name, value in sealed_columns(proposal).items()}
        return which | row | {"now": micros(self.now)}

    def change(self) -> dict[str, Any]:
        """What becomes of it."""
        at, at_once = micros(self.now), self.entry.state is TransferState.SUBMITTING
        return {
            "state": self.entry.state.value,
            "spend_day": self.day.isoformat(),
            "submitted_at": at if at_once else None,
            "next_try_at": micros(self.next_try_at),
            "updated_at": at,
        }


def spend(customer: CustomerId, connection: sa.Connection, spending: Spending) -> bool:
    """Spend the confirmation: exactly one caller of many gets True, and only while the proposal is heard and live."""
    return changed(connection.execute(_SPEND, spending.which(customer) | spending.change())) == 1


Change = tuple[Sequence[TransferState], TransferState]
"""From one of one or two states to another."""


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


def lease(customer: CustomerId, connection: sa.Connection, entry: Entry, until: datetime) -> bool:
    """Take an unsettled transfer for one attempt; False when another worker has it."""
    seen = None if entry.next_try_at is None else micros(entry.next_try_at)
    which = {"customer": customer, "transfer": entry.proposal.id, "seen_state": entry.state.value, "seen_try": seen}
    return changed(connection.execute(_LEASE, which | {"next_try_at": micros(until)})) == 1


async def due(store: Store, now: datetime, most: int) -> Sequence[tuple[CustomerId, ProposalId]]:
    """Of all customers: the unsettled transfers whose next attempt is due, oldest first."""
    unsettled = _c.state.in_([state.value for state in UNSETTLED]) & (_c.next_try_at <= micros(now))
    wanted = sa.select(_c.customer_id, _c.id).where(unsettled).order_by(_c.next_try_at).limit(most)
    rows = await store.look(lambda connection: connection.execute(wanted).all())
    return [(CustomerId(row.customer_id), ProposalId(row.id)) for row in rows]


async def expire(store: Store, now: datetime) -> int:
    """Of all customers: close open proposals whose time is over; how many there were."""
    late = (_c.state == OPEN.value) & (_c.expires_at <= micros(now))
    values = {"state": TransferState.EXPIRED.value, "updated_at": micros(now)}
    return await store.execute("ledger.expire", sa.update(transfers).where(late), values)
