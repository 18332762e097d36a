"""Step-up challenges."""

from dataclasses import dataclass
from datetime import datetime

from schemas.errors import DependencyFailed
from schemas.ids import CardId, ProposalId


def proposal_purpose(proposal: ProposalId) -> str:
    """What a step-up for a transfer is bound to: this proposal and no other."""
    return f"proposal:{proposal}"


def card_purpose(card: CardId) -> str:
    """What a step-up for unlocking a card is bound to."""
    return f"card:{card}"


class CodeNotSent(DependencyFailed):
    """The messaging service did not take a one-time code, or there were too many within the hour."""

    code, http_status, spoken = "code_not_sent", 503, "error.no_code"

    def __init__(self, message: str, *, refused: bool = False, retry_after_s: float | None = None) -> None:
        """`refused`: certainly no code is on its way."""
        super().__init__(message, retry_after_s=retry_after_s)
        self.refused = refused


@dataclass(frozen=True, slots=True)
class Challenge:
    """A second factor being asked for. `channel` is "app", "text_message" or words to be said; the code is not here.

    `attempts` is how many answers are taken, right or wrong.
    """

    id: str
    purpose: str
    channel: str
    expires_at: datetime
    attempts: int = 1
