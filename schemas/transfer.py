"""Proposals and receipts: what the ledger shows of a transfer."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from schemas.banking import PayeeVerification, TransferOrder, TransferState
from schemas.ids import CallId, CustomerId, ProposalId


@dataclass(frozen=True, slots=True)
class Proposal:
    """A transfer that was read back. `seal` is the HMAC over all that the caller agrees to; `nonce` is single-use."""

    id: ProposalId
    customer: CustomerId
    call: CallId
    order: TransferOrder
    nonce: str
    seal: str
    expires_at: datetime
    verification: PayeeVerification
    step_up_required: bool
    delivered_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TransferReceipt:
    """Where a transfer stands. `reason` is a stable code when it failed or was refused."""

    proposal: ProposalId
    state: TransferState
    reference: str = ""
    reason: str = ""


UNPROMISED: Final = "unpromised"
"""Reason of an UNKNOWN that nothing follows up."""


@dataclass(frozen=True, slots=True)
class Owed:
    """A transfer whose customer has yet to hear how it ended, as it stands now."""

    order: TransferOrder
    receipt: TransferReceipt

    @property
    def ended(self) -> bool:
        """Whether there is something to be told."""
        return self.receipt.state not in OPEN_STATES


OPEN_STATES: Final = frozenset({TransferState.PROPOSED, TransferState.SUBMITTING, TransferState.UNKNOWN})
