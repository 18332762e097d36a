"""What can happen in a dialogue, and the facts it is judged by. All values."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from schemas.banking import Account, Card, CustomerProfile, Transaction
from schemas.decision import Action, LockCard, ReadBalance, ReadPayees, ReadTransactions, UnlockCard
from schemas.extraction import Extraction
from schemas.ids import BillId, Locale, PayeeId, ProposalId
from schemas.intent import Understood
from schemas.payee import Payee
from schemas.stepup import Challenge
from schemas.transfer import Proposal, TransferReceipt
from services.dialogue.phases import Outcome


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of the caller at this moment; `today` is the caller's own day."""

    profile: CustomerProfile
    payees: Mapping[PayeeId, Payee]
    today: date
    locale: Locale
    paid: frozenset[BillId] = frozenset()  # in this call: a bill is paid once


@dataclass(frozen=True, slots=True)
class UserUtterance:
    """The caller said something: `text` as transcribed, what was `understood`, and what a model chose, if one did."""

    text: str
    understood: Understood
    extraction: Extraction | None = None


@dataclass(frozen=True, slots=True)
class Silence:
    """Nothing was said when something was awaited."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """The ledger sealed the order that was decided on."""

    proposal: Proposal


@dataclass(frozen=True, slots=True)
class ProposalResumed:
    """A proposal of another call, which may have been cut off, is now this call's."""

    proposal: Proposal


@dataclass(frozen=True, slots=True)
class ReadbackDelivered:
    """The read-back of `proposal` was heard in full."""

    proposal: ProposalId


@dataclass(frozen=True, slots=True)
class ReadbackUnheard:
    """The read-back of `proposal` was taken for heard, and was not."""

    proposal: ProposalId


@dataclass(frozen=True, slots=True)
class OutcomesHeard:
    """What was done has been heard of."""

    told: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True)
class ActionDone:
    """An action succeeded, with what it read."""

    action: ReadBalance | ReadTransactions | ReadPayees | LockCard | UnlockCard
    accounts: tuple[Account, ...] = ()
    transactions: tuple[Transaction, ...] = ()
    card: Card | None = None


@dataclass(frozen=True, slots=True)
class ActionFailed:
    """An action, or without one the proposing of an order, failed: the error's stable `code`, its reply's id."""

    code: str
    spoken: str
    action: Action | None = None


@dataclass(frozen=True, slots=True)
class StepUpStarted:
    """A second factor was asked for."""

    challenge: Challenge


@dataclass(frozen=True, slots=True)
class StepUpPassed:
    """The second factor was given."""


@dataclass(frozen=True, slots=True)
class StepUpFailed:
    """It was wrong; `final` when there are no attempts or no time left."""

    final: bool = False


@dataclass(frozen=True, slots=True)
class TransferSettled:
    """The ledger says where the transfer stands."""

    receipt: TransferReceipt


@dataclass(frozen=True, slots=True)
class QuestionUnanswered:
    """No document answers the open question: `said` is the id of the reply that offers a person for it."""

    said: str


Event = (
    UserUtterance
    | Silence
    | Proposed
    | ProposalResumed
    | ReadbackDelivered
    | ReadbackUnheard
    | OutcomesHeard
    | ActionDone
    | ActionFailed
    | StepUpStarted
    | StepUpPassed
    | StepUpFailed
    | TransferSettled
    | QuestionUnanswered
)
