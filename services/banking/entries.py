"""A transfer as the ledger keeps it: what a row holds, and what of it the seal is over."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final

import sqlalchemy as sa

from schemas.banking import PayeeVerification, TransferOrder, TransferState
from schemas.ids import AccountId, BillId, CallId, CustomerId, PayeeId, ProposalId
from schemas.money import Money
from schemas.transfer import Proposal, TransferReceipt
from services.store import instant, micros

OPEN = TransferState.PROPOSED
SEALED: Final = (
    "source", "payee_id", "payee_version", "to_account", "amount_minor", "currency", "on_date", "bill_id", "nonce",
    "expires_at", "step_up_required",
)  # fmt: skip
"""The columns that the seal is over, besides those that say whose proposal it is."""


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """A transfer as the ledger keeps it. `bank_key` is its one idempotency key, fixed when it was proposed."""

    proposal: Proposal
    state: TransferState
    bank_key: str
    fingerprint: str
    reference: str = ""
    reason: str = ""
    spend_day: date | None = None
    attempts: int = 0
    next_try_at: datetime | None = None
    submitted_at: datetime | None = None

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


def entry_of(row: sa.Row[Any]) -> LedgerEntry:
    """A row of the table as an entry."""
    return LedgerEntry(
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


@dataclass(frozen=True, slots=True)
class Spending:
    """A yes that is to count. `entry.state` is what it becomes: CONFIRMED, or SUBMITTING for the bank at once.

    `per_day` is the customer's limit in minor units.
    """

    entry: LedgerEntry
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
            "owed_at": at,
            "updated_at": at,
        }
