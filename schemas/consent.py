"""Consent: what a yes would agree to, and the proof that one was given."""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Final

from schemas.ids import AccountId, BillId, CardId, RuleId
from schemas.money import Money


class Awaited(StrEnum):
    """What the next answer is an answer to."""

    NOTHING = "nothing"
    TRANSFER = "transfer"  # an order was read back
    DOUBTED = "doubted"  # an order was read back whose payee the bank does not know by that name
    BILL = "bill"  # a bill's payment was read back
    LOCK = "lock"  # a card's lock was offered
    UNLOCK = "unlock"
    PERSON = "person"  # a person was offered
    TASK = "task"  # something harmless was offered
    SLOT = "slot"  # a question about a task was asked
    CARD = "card"  # which card to lock was asked: 止めて is no "stop"
    CODE = "code"  # a one-time code is awaited


ORDERS = frozenset({Awaited.TRANSFER, Awaited.DOUBTED, Awaited.BILL})
"""Orders that were read back."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What would be agreed to. `to` names it for good: a proposal's id, or what is offered.

    `names` is all that the payee, or the bill, is called; `today` whether it would happen at once, `in_part` whether
    something of the bill would stay due, `more` whether something else waits its turn behind it; `so_far` is the sum
    as it was told last, in its smallest part, whatever waits.
    """

    awaited: Awaited = Awaited.NOTHING
    to: str = ""
    amount: Money | None = None
    names: tuple[str, ...] = ()
    source: AccountId | None = None
    target: AccountId | None = None
    card: CardId | None = None
    bill: BillId | None = None
    on: date | None = None
    today: bool = True
    in_part: bool = False
    more: bool = False
    so_far: int = 0


@dataclass(frozen=True, slots=True)
class Consent:
    """Every word of an utterance agreed to `to`, by `rule`.

    Only the grammar of consent makes one, and nothing irrevocable that was read back or offered is done without it.
    """

    to: str
    rule: RuleId


NO_TERMS: Final = Terms()
"""Nothing waits."""
