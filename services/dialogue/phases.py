"""Where a dialogue stands: a class a phase, each holding exactly what it knows."""

from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum

from schemas.balances import BalanceCondition, Reckoning
from schemas.banking import TransferOrder
from schemas.consent import Consent
from schemas.decision import Reply, SubmitTransfer, UnlockCard
from schemas.ids import AccountId, BillId, CardId, PayeeId, ProposalId
from schemas.intent import Intent, SlotName
from schemas.money import Money
from schemas.span import DateValue, MoneyValue


@dataclass(frozen=True, slots=True)
class Disambiguation:
    """One of these was meant, by id or day; which one is asked."""

    slot: SlotName
    choices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Task:
    """One command being completed. `amounts` are the readings of one amount; when there is one, it is meant."""

    intent: Intent
    amounts: tuple[MoneyValue, ...] = ()
    payee: PayeeId | None = None
    payee_candidates: tuple[PayeeId, ...] = ()
    payee_heard: str = ""
    source: AccountId | None = None
    target: AccountId | None = None
    account: AccountId | None = None
    accounts: tuple[AccountId, ...] = ()  # where balances of several are asked for
    total: bool = False  # the sum of them
    asked: str = ""  # a `Topic` that tells what of what is read is asked
    less: Money | None = None  # what is to be taken of a balance
    bills: tuple[BillId, ...] = ()  # where several are asked about
    besides: str = ""  # of an account's history: not at this merchant
    spent: bool = False  # only what went out
    sought: str | None = None  # `merchant` are words that may name one; this is asked of the documents where none does
    card: CardId | None = None
    card_heard: str = ""  # what several cards are called
    bill: BillId | None = None
    bill_heard: str = ""
    account_heard: str = ""
    on: date | None = None
    date_heard: str = ""  # words about the day that name no single one
    refused_parts: frozenset[SlotName] = frozenset()  # a day or an account: no default stands for it
    unread: tuple[str, ...] = ()  # words of the command that nothing was made of, piece by piece
    doubts: tuple[Disambiguation, ...] = ()  # of which several were named, and one is meant
    period: DateValue | None = None
    merchant: str = ""
    received: bool = False  # of an account's history: only what came in
    sent: bool = False  # only what went to payees
    at_least: MoneyValue | None = None
    at_most: MoneyValue | None = None
    portion: str = ""
    listed: int = 0  # so many entries of it were asked for
    further: int = 0  # so many entries of an account's history were told before
    foreign: MoneyValue | None = None  # in another currency
    refused: MoneyValue | None = None  # an amount that cannot be: the next one is of its currency, if it names none
    condition: BalanceCondition | None = None
    reckoning: Reckoning | None = None  # what the amount follows from
    first: tuple[MoneyValue, ...] = ()  # the amount before it was changed

    def paying(self, payee: PayeeId | None, among: tuple[PayeeId, ...] = (), heard: str = "") -> "Task":
        """To this payee, or to one `among` those who were `heard`; to nobody yet where there is none of them."""
        return replace(self, payee=payee, payee_candidates=among, payee_heard=heard, target=None)


class ActionOutcome(StrEnum):
    """What was done, as callers mind it; after each, something else can still be done."""

    MOVED = "moved"
    BOOKED = "booked"  # it will be sent on its day
    PENDING = "pending"  # the bank has not said yet
    NOTHING = "nothing"  # no money was moved
    LOCKED = "locked"
    UNLOCKED = "unlocked"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Something irrevocable that was done, and how it is told: until it was heard."""

    done: ActionOutcome
    told: Reply
    heard: bool = False


@dataclass(frozen=True, slots=True)
class Idle:
    """Nothing waits."""


@dataclass(frozen=True, slots=True)
class Asking:
    """What `task` lacks was asked; of `choices` one may be taken."""

    task: Task
    slot: SlotName
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Waiting:
    """`task` waits while something else is done."""

    task: Task


@dataclass(frozen=True, slots=True)
class Changing:
    """What was read back was refused; what to change was asked, and it is not read back as it was."""

    task: Task


@dataclass(frozen=True, slots=True)
class Proposing:
    """An order was decided on; the ledger has not sealed it yet."""

    task: Task
    order: TransferOrder


@dataclass(frozen=True, slots=True)
class ReadBack:
    """What a yes is bound to: an order as sealed, and the sentence that says it. `doubted`: a bare yes is none."""

    task: Task
    order: TransferOrder
    proposal: ProposalId
    said: Reply
    doubted: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """The read-back was not yet heard in full: a yes does not count."""

    it: ReadBack


@dataclass(frozen=True, slots=True)
class Confirming:
    """The read-back was heard in full: a yes counts."""

    it: ReadBack


@dataclass(frozen=True, slots=True)
class Submitting:
    """The order was agreed to; the ledger has not said yet what became of it."""

    it: ReadBack
    consent: Consent

    @property
    def action(self) -> SubmitTransfer:
        """The only way to submit a transfer: what was read back, by the consent given to it."""
        return SubmitTransfer(self.it.proposal, self.consent)


@dataclass(frozen=True, slots=True)
class Unlocking:
    """A card is being unlocked; `behind` it is what it interrupted."""

    card: CardId
    behind: Idle | Waiting | Changing = field(default_factory=Idle)

    @property
    def action(self) -> UnlockCard:
        """What is being done."""
        return UnlockCard(self.card)


@dataclass(frozen=True, slots=True)
class SteppingUp:
    """A second factor is awaited, and `then` goes on; a consent given before still binds, for nothing has changed."""

    then: Submitting | Unlocking


@dataclass(frozen=True, slots=True)
class Offering:
    """A yes or no is awaited to what the caller may have wanted, or to going on with it; without one it is not done."""

    task: Task
    question: Reply


Behind = Idle | Asking | Waiting | Changing | Offering
"""What may be come back to."""


@dataclass(frozen=True, slots=True)
class OfferingPerson:
    """A yes or no to a person is awaited; `behind` is what it interrupted."""

    behind: Behind = field(default_factory=Idle)


Phase = Behind | Proposing | Reading | Confirming | Submitting | Unlocking | SteppingUp | OfferingPerson


def task_in(phase: Phase) -> Task | None:
    """The task of a phase, or of what it interrupted."""
    match phase:
        case Idle():
            return None
        case Asking(task) | Waiting(task) | Changing(task) | Proposing(task) | Offering(task):
            return task
        case Reading(it) | Confirming(it) | Submitting(it):
            return it.task
        case Unlocking(behind=inner) | SteppingUp(inner) | OfferingPerson(inner):
            return task_in(inner)
