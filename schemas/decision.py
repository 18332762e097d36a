"""Decisions: what the dialogue concludes. Pure values; `services/banking` does them, `services/response` says them."""

from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

from typing_extensions import TypeAliasType

from schemas.banking import TransactionFilter, TransferOrder
from schemas.consent import Consent
from schemas.ids import AccountId, CardId, PayeeId, ProposalId, RuleId
from schemas.intent import Intent, SlotName
from schemas.money import Money


class DecisionKind(StrEnum):
    """The six outcomes of a turn."""

    EXECUTE = "execute"
    CONFIRM = "confirm"
    CLARIFY = "clarify"
    ANSWER = "answer"
    REFUSE = "refuse"
    HANDOFF = "handoff"


ReplyParam = TypeAliasType("ReplyParam", "str | int | Money | date | Reply | tuple[ReplyParam, ...]")
"""A speakable value; a reply within a reply is rendered first, a tuple becomes a list in words."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A sentence to be said: the id of a template in rules/replies and its speakable parameters."""

    id: RuleId
    params: dict[str, ReplyParam] = field(default_factory=dict)

    @property
    def parts(self) -> tuple[RuleId, ...]:
        """The templates of the replies within it, in their order, to any depth."""
        inner = [part for part in self.params.values() if isinstance(part, Reply)]
        return tuple(id_ for part in inner for id_ in (part.id, *part.parts))


@dataclass(frozen=True, slots=True)
class ReadBalance:
    """Read balances; of all accounts when `account` is null and there are none `among` which, and their `total`.

    `less`: what an order, or what is due, will take of it; `enough`: whether it is enough for that.
    """

    account: AccountId | None = None
    among: tuple[AccountId, ...] = ()
    total: bool = False
    less: Money | None = None
    enough: bool = False


@dataclass(frozen=True, slots=True)
class Sift:
    """What no bank selects: of all that was read so many are `listed`, and `whether` any of it is there is told first.

    `only`: whose merchant's name matches it, or all where none does; `but`: none at that merchant; `spent`: what left
    the caller's accounts; `pick`: the largest or smallest of what is told; `sought`: nothing where no name matches;
    `parts`: what of a name that nobody has may be in another, the likeliest first; `first`: what is told before the
    last of them, in a second look.
    """

    listed: int
    only: str = ""
    but: str = ""
    spent: bool = False
    whether: bool = False
    pick: str = ""
    sought: bool = False
    parts: tuple[str, ...] = ()
    first: Reply | None = None


@dataclass(frozen=True, slots=True)
class ReadTransactions:
    """Read the history that `filter` selects; so many of it were `told` before, and of a `total` so many are now."""

    filter: TransactionFilter
    told: int = 0
    total: int = 0
    sift: Sift | None = None


@dataclass(frozen=True, slots=True)
class LockCard:
    """Lock a card at once."""

    card: CardId


@dataclass(frozen=True, slots=True)
class UnlockCard:
    """Unlock a card; `act` demands a step-up first."""

    card: CardId


@dataclass(frozen=True, slots=True)
class ReadPayees:
    """Say whether someone is among the payees; candidates as matched."""

    payees: tuple[PayeeId, ...]


@dataclass(frozen=True, slots=True)
class SubmitTransfer:
    """The caller said yes, after the read-back was delivered, to exactly this proposal: `consent` is the proof."""

    proposal: ProposalId
    consent: Consent


@dataclass(frozen=True, slots=True)
class VerifyStepUp:
    """Check the code that the caller spoke or keyed; it is never shown or logged."""

    response: str = field(repr=False)


Action = ReadBalance | ReadTransactions | LockCard | UnlockCard | ReadPayees | SubmitTransfer | VerifyStepUp


@dataclass(frozen=True, slots=True)
class Execute:
    """Do something that needs no (further) confirmation."""

    action: Action
    kind: DecisionKind = DecisionKind.EXECUTE


@dataclass(frozen=True, slots=True)
class Confirm:
    """Propose this order and read it back; nothing moves until a bound yes.

    Without a `proposal` the order is still to be proposed; with one, `reply` is the read-back to be delivered.
    """

    order: TransferOrder
    proposal: ProposalId | None = None
    reply: Reply | None = None
    kind: DecisionKind = DecisionKind.CONFIRM


@dataclass(frozen=True, slots=True)
class Clarify:
    """Ask one short question. `slot` is what is missing; `choices` are ids offered, at most three."""

    reply: Reply
    slot: SlotName | None = None
    choices: tuple[str, ...] = ()
    kind: DecisionKind = DecisionKind.CLARIFY


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer an open question from the bank's documents (or say something that needs no action).

    `about`: the one before, which it may lean on.
    """

    question: str = ""
    about: str = ""
    reply: Reply | None = None
    kind: DecisionKind = DecisionKind.ANSWER


@dataclass(frozen=True, slots=True)
class Refuse:
    """Say no, and why."""

    reply: Reply
    kind: DecisionKind = DecisionKind.REFUSE


@dataclass(frozen=True, slots=True)
class Handoff:
    """Bring in a person. `left`: what kind of order was at hand, where one was; nothing more is done of it."""

    reply: Reply
    left: Intent | None = None
    kind: DecisionKind = DecisionKind.HANDOFF


Decision = Execute | Confirm | Clarify | Answer | Refuse | Handoff
