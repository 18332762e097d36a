"""What an order hangs on, and how much it is, where a balance or the history tells: weighed and reckoned by code."""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from schemas.ids import AccountId
from schemas.span import DateValue, MoneyValue


class Bound(StrEnum):
    """How a balance has to stand to a sum."""

    OVER = "over"
    LEAST = "least"
    UNDER = "under"
    MOST = "most"
    ENOUGH = "enough"  # for the order itself


@dataclass(frozen=True, slots=True)
class BalanceCondition:
    """An order is wanted if a balance stands so. No `account`: the one that pays. `after`: what the order leaves."""

    bound: Bound
    heard: str
    account: AccountId | None = None
    amount: MoneyValue | None = None
    after: bool = False


class Measure(StrEnum):
    """What an amount is reckoned from."""

    ABOVE = "above"  # what an account holds beyond a sum
    UP_TO = "up_to"  # what it lacks of one
    SHARE = "share"  # a part of what it holds
    BEFORE = "before"  # what was paid to the same payee


@dataclass(frozen=True, slots=True)
class Reckoning:
    """An amount that is not told but follows. No `account`: the one that pays; no `period`: the payment made last."""

    measure: Measure
    account: AccountId | None = None
    amount: MoneyValue | None = None
    share: Fraction = Fraction(1)
    period: DateValue | None = None
