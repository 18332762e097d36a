"""Intents, slots and what understanding concludes from one utterance."""

from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any, Final, Generic, TypeVar

from schemas.balances import BalanceCondition, Reckoning
from schemas.banking import Account, Bill, Card
from schemas.consent import NO_TERMS, Awaited, Consent, Terms
from schemas.ids import AccountId, BillId, CardId, PayeeId, RuleId, is_rule
from schemas.payee import PayeeMatch
from schemas.span import DateValue, MoneyValue, Span
from schemas.transcript import Transcript

T = TypeVar("T")


class Intent(StrEnum):
    """What the caller wants, or the dialogue act the words are."""

    BALANCE_INQUIRY = "balance_inquiry"
    RECENT_TRANSACTIONS = "recent_transactions"
    TRANSFER_MONEY = "transfer_money"
    BILL_PAYMENT = "bill_payment"
    BILL_INQUIRY = "bill_inquiry"
    CARD_LOCK = "card_lock"
    CARD_UNLOCK = "card_unlock"
    RECIPIENT_LOOKUP = "recipient_lookup"
    HUMAN_HANDOFF = "human_handoff"
    QNA = "qna"
    CONFIRM = "confirm"  # from here on dialogue acts
    DENY = "deny"
    CANCEL = "cancel"
    CORRECT = "correct"
    REPEAT = "repeat"
    HELP = "help"
    START_OVER = "start_over"
    WAIT = "wait"  # the caller needs a moment
    FAREWELL = "farewell"  # there is nothing else
    INFORM = "inform"  # a value alone, in answer to a question


MONEY_MOVING = frozenset({Intent.TRANSFER_MONEY, Intent.BILL_PAYMENT})
READING = frozenset({Intent.BALANCE_INQUIRY, Intent.RECENT_TRANSACTIONS, Intent.BILL_INQUIRY, Intent.RECIPIENT_LOOKUP})
"""What is only looked up."""
TOLD_ALONE = frozenset({Intent.INFORM, Intent.CORRECT})  # values that are no command
COUNTED = MONEY_MOVING | TOLD_ALONE
"""What becomes an order, or a part of one."""
PROPOSING = "intents.learned@"
"""How the rule of what is only proposed begins."""


class Route(StrEnum):
    """Which path handles an utterance."""

    FAST = "fast"
    CLARIFY = "clarify"
    EXTRACT = "extract"
    QNA = "qna"
    HUMAN = "human"


class SlotName(StrEnum):
    """The slots of all intents."""

    AMOUNT = "amount"
    PAYEE = "payee"
    SOURCE = "source"  # the account money leaves
    TARGET = "target"  # an own account money goes to
    ACCOUNT = "account"  # the account asked about
    CARD = "card"
    BILL = "bill"
    DATE = "date"
    PERIOD = "period"
    MERCHANT = "merchant"
    TOPIC = "topic"


class Topic(StrEnum):
    """What an order or a question is about that is no value; a template may give others, which only replies name."""

    EXACT = "exact"  # an amount told by what only the caller knows
    SPLIT = "split"  # one sum in several parts
    NOTE = "note"
    EXTRA = "extra"  # more than what is due of a bill
    REPEATED = "repeated"
    CONDITIONAL = "conditional"
    DROPPED = "dropped"  # one of several orders
    ONLY = "only"  # the same, and none of the others is
    RECEIVED = "received"  # what came into an account
    SENT = "sent"  # whom the caller paid
    TOTAL = "total"  # the sum of several
    SPENT = "spent"  # what went out, and to no account of the caller's
    WHETHER = "whether"  # a yes or a no is asked for
    FIRST = "first"  # the one that is due before the others
    LARGEST = "largest"
    SMALLEST = "smallest"  # the one of what was told
    SOUGHT = "sought"  # what a history may tell, and the documents where it does not
    OTHERS = "others"  # all but what was told
    ENOUGH = "enough"  # whether a balance is, for what is due or waits
    LEFT = "left"  # what that leaves of it
    THAT_MUCH = "that_much"  # whether the order that waits is of this amount
    WHO = "who"  # to whom the order that waits is
    NEXT = "next"  # what is yet to come in
    TROUBLE = "trouble"  # a card that was declined, or does not work


@dataclass(frozen=True, slots=True)
class Evidence:
    """The caller's words behind a slot: code points of the transcript, and the rule that took them."""

    start: int
    end: int
    surface: str
    rule: RuleId

    @classmethod
    def of(cls, span: Span) -> "Evidence":
        """What was found in them, by its own rule."""
        return cls(span.start, span.end, span.surface, span.rule)

    @classmethod
    def naming(cls, match: PayeeMatch, rule: RuleId) -> "Evidence":
        """Those that name a payee."""
        return cls(match.start, match.end, match.heard, rule)


@dataclass(frozen=True, slots=True)
class Slot(Generic[T]):
    """A value with its evidence. `readings` are further values the same words may have."""

    value: T
    evidence: Evidence
    readings: tuple[T, ...] = ()


@dataclass(frozen=True, slots=True)
class Slots:
    """Every slot an utterance can fill; None where it did not."""

    amount: Slot[MoneyValue] | None = None
    payee: Slot[PayeeId] | None = None
    source: Slot[AccountId] | None = None
    target: Slot[AccountId] | None = None
    account: Slot[AccountId] | None = None
    card: Slot[CardId] | None = None
    bill: Slot[BillId] | None = None
    date: Slot[DateValue] | None = None
    period: Slot[DateValue] | None = None
    merchant: Slot[str] | None = None
    topic: Slot[str] | None = None
    at_least: Slot[MoneyValue] | None = None
    at_most: Slot[MoneyValue] | None = None
    portion: Slot[str] | None = None  # "minimum", "half", "full" of a bill; "more", "less", … of what is read
    choice: Slot[int] | None = None  # "the second one": 1-based, else a `Pick`; how many
    digits: Slot[str] | None = None  # a code or number, spoken or keyed
    condition: Slot[BalanceCondition] | None = None
    reckoning: Slot[Reckoning] | None = None  # in an amount's place

    @property
    def about(self) -> str:
        """The topic; empty where there is none."""
        return self.topic.value if self.topic is not None else ""


NO_SLOTS: Final = Slots()  # what most meanings fill


@dataclass(frozen=True, slots=True)
class Annotation:
    """A transcript with what was found in it before it is understood: typed spans, payees.

    `laid_out` keeps how its readers have laid it out, for the next one of them.
    """

    transcript: Transcript
    spans: tuple[Span, ...] = ()
    payees: PayeeMatch | None = None
    laid_out: dict[object, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def evidence(self, start: int, end: int, rule: RuleId) -> Evidence:
        """The words from one code point to another."""
        return Evidence(start, end, self.transcript.text[start:end], rule)

    def whole(self, rule: RuleId) -> Evidence:
        """All of the words."""
        return self.evidence(0, len(self.transcript.text), rule)


SAID_FIRST: Final = "first"
"""A portion: the amount that was said before it was changed."""


@dataclass(frozen=True, slots=True)
class Context:
    """What an utterance is heard against: what was asked, whether a yes is awaited, the caller's own nouns."""

    asked: SlotName | None = None
    confirming: bool = False
    day: str = ""  # the words of a time of which one day is asked: "next week"
    days: tuple[date, ...] = ()  # of which one was asked: "thursday 19 or thursday 26"
    choices: int = 0  # how many were offered
    offered: tuple[tuple[str, ...], ...] = ()  # words that tell each of them from the others, where they have such
    code: bool = False  # a one-time code is awaited
    recent: Intent | None = None  # what was asked last and answered, where nothing is awaited
    recent_bill: BillId | None = None  # the bill that was asked about, likewise
    bill_before: BillId | None = None  # the last bill that was asked about, whatever was since
    recent_bills: tuple[BillId, ...] = ()  # all of them, where those were several
    told: tuple[AccountId, ...] = ()  # whose balances were told last, in that order
    accounts: tuple[Account, ...] = ()
    cards: tuple[Card, ...] = ()
    bills: tuple[Bill, ...] = ()
    terms: Terms = NO_TERMS  # what a yes would agree to

    def __hash__(self) -> int:
        """By what tells contexts of one call apart: many are looked up within one utterance."""
        return hash((self.confirming, self.choices, self.code, self.terms.to))

    @property
    def idle(self) -> bool:
        """Whether nothing was asked and nothing waits for a yes."""
        return self.terms.awaited is Awaited.NOTHING and self.asked is None and not self.confirming


@dataclass(frozen=True, slots=True)
class Mention:
    """Words that name a thing of this kind which the caller does not have: never taken for another one."""

    slot: SlotName
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Understood:
    """What one utterance means.

    `confidence` 0 … 1 from rule class, ASR log-probability, n-best agreement and payee margin.
    `vetoes` name the rules that stopped a match. `then` keeps a second command said in the same breath.
    `unresolved` holds what was named but is none, or no single one, of the caller's own; `rejected` the slots said not
    to be meant; `unread` the words of a money command that no rule has read.
    `doubted` names the slots of which several values were said, each a reading, and one is meant.
    `consent` is the proof that all of it agrees to what waits: CONFIRM without it is a yes to nothing.
    `begun`: no rule has read it all, and some rule's sentences begin so.
    `said_of`: whose order it is said of, of how much, or the how-manieth, where that is not the one at hand.
    """

    intent: Intent | None
    slots: Slots = NO_SLOTS
    missing: tuple[SlotName, ...] = ()
    route: Route = Route.CLARIFY
    confidence: float = 0.0
    rule: RuleId | None = None
    vetoes: tuple[RuleId, ...] = ()
    payees: PayeeMatch | None = None
    then: "Understood | None" = None
    unresolved: tuple[Mention, ...] = ()
    rejected: tuple[SlotName, ...] = ()
    unread: tuple[Evidence, ...] = ()
    consent: Consent | None = None
    doubted: tuple[SlotName, ...] = ()
    begun: bool = False
    said_of: PayeeId | MoneyValue | int | None = None

    @property
    def whole(self) -> bool:
        """Whether it is one command, or answer, and every word has its place in it."""
        return not (self.then or self.unread or self.unresolved)

    @property
    def sure(self) -> bool:
        """Whether a rule has read all of it, and it may be done as it is."""
        return self.rule is not None and self.route is Route.FAST and self.whole

    @property
    def moves(self) -> bool:
        """Whether it is surely an order that moves money."""
        return self.intent in MONEY_MOVING and self.route is Route.FAST

    @property
    def in_turn(self) -> tuple["Understood", ...]:
        """This, and what is wanted behind it, one after the other."""
        return (self, *(self.then.in_turn if self.then is not None else ()))

    def by(self, *rules: str) -> bool:
        """Whether one of these rules took the words; see `is_rule`."""
        return is_rule(self.rule, *rules)

    @property
    def stopped(self) -> frozenset[str]:
        """The names of its vetoes: `question`."""
        return frozenset(veto.partition(".")[2] for veto in self.vetoes)

    @property
    def proposed(self) -> bool:
        """Whether the learned reader took the words for this, and no rule read them: more may follow."""
        return self.rule is not None and self.rule.startswith(PROPOSING)
