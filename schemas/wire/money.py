"""What the service sends about a transfer: its read-back, and where it stands."""

from typing import Literal

from schemas.wire.event import Event


class ReadBackEvent(Event):
    """A transfer that is being read back; nothing moves until a yes after its delivery. `source` pays.

    `on` is the day it waits for (ISO 8601), null if it is done at once.
    """

    type: Literal["tellerline.readback"] = "tellerline.readback"
    response_id: str
    proposal_id: str
    amount_minor: int
    currency: str
    source: str
    payee_id: str | None
    to_account: str | None = None
    on: str | None = None
    verification: str
    step_up_required: bool
    expires_at: str


class LedgerEvent(Event):
    """Where a transfer stands."""

    type: Literal["tellerline.ledger"] = "tellerline.ledger"
    response_id: str
    proposal_id: str
    state: str
    reference: str
    reason: str
