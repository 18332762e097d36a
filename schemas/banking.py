"""The bank's own nouns, as its core hands them to us."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

from schemas.ids import EN_US, AccountId, BillId, CardId, Locale, PayeeId
from schemas.money import Money


@dataclass(frozen=True, slots=True)
class Account:
    """A customer's account. `name` is what callers say ("checking", "普通")."""

    id: AccountId
    name: str
    last4: str
    balance: Money
    available: Money


@dataclass(frozen=True, slots=True)
class Card:
    """A payment card. `name` is what callers say ("debit", "デビット")."""

    id: CardId
    name: str
    last4: str
    locked: bool


@dataclass(frozen=True, slots=True)
class Bill:
    """A bill that can be paid to `payee_id`."""

    id: BillId
    name: str
    payee_id: PayeeId
    due: Money
    due_on: date
    minimum: Money | None = None


@dataclass(frozen=True, slots=True)
class Transaction:
    """A booked movement of an account; negative amounts left it."""

    id: str
    account_id: AccountId
    booked_on: date
    amount: Money
    merchant: str


@dataclass(frozen=True, slots=True)
class TransactionFilter:
    """What of an account's history is asked for; at most `limit` rows, newest first.

    `received`: only what came in; `sent`: only what went to one of the customer's payees. A size is told in every
    currency in which one fits: what is in none of them does not.
    """

    account_id: AccountId | None = None
    since: date | None = None
    until: date | None = None
    merchant: str = ""
    at_least: tuple[Money, ...] = ()
    at_most: tuple[Money, ...] = ()
    limit: int = 5
    received: bool = False
    sent: bool = False

    def fits(self, moved: Transaction, payees: Collection[str] = ()) -> bool:
        """Whether a movement is one that is asked for; sizes are compared without their sign. `payees`: their names."""
        size, currency = abs(moved.amount.minor), moved.amount.currency
        return (
            self.account_id in {None, moved.account_id}
            and (self.since is None or moved.booked_on >= self.since)
            and (self.until is None or moved.booked_on <= self.until)
            and self.merchant.casefold() in moved.merchant.casefold()
            and _bounded(self.at_least, currency, lambda least: size >= least)
            and _bounded(self.at_most, currency, lambda most: size <= most)
            and (moved.amount.minor > 0 or not self.received)
            and (not self.sent or (moved.amount.minor < 0 and moved.merchant in payees))
        )


def _bounded(bounds: tuple[Money, ...], currency: str, within: Callable[[int], bool]) -> bool:
    """Whether the bound in this currency holds, if there is any bound."""
    return not bounds or any(each.currency == currency and within(each.minor) for each in bounds)


@dataclass(frozen=True, slots=True)
class TransferOrder:
    """All that a movement of money is bound to. `on` is null for "now"; `bill_id` is set when a bill is paid."""

    source: AccountId
    payee_id: PayeeId | None
    payee_version: int
    amount: Money
    to_account: AccountId | None = None  # set instead of payee_id when moving between own accounts
    on: date | None = None
    bill_id: BillId | None = None


class PayeeVerification(StrEnum):
    """Confirmation of payee: does the account's holder carry this name?"""

    MATCH = "match"
    CLOSE_MATCH = "close_match"
    NO_MATCH = "no_match"
    UNAVAILABLE = "unavailable"


class BankOutcome(StrEnum):
    """What the bank says became of a transfer. NOT_FOUND: it never saw the key."""

    DONE = "done"
    DECLINED = "declined"
    PENDING = "pending"
    NOT_FOUND = "not_found"


@dataclass(frozen=True, slots=True)
class BankReceipt:
    """The bank's answer to a transfer or to a query about one. `reason` is a stable code when declined."""

    outcome: BankOutcome
    reference: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """A customer's limits in one currency, in minor units."""

    currency: str
    per_transfer: int
    per_day: int
    step_up_above: int


class TransferState(StrEnum):
    """The ledger's states. Only forward; UNKNOWN is settled by the reconciler alone."""

    PROPOSED = "proposed"
    CONFIRMED = "confirmed"
    SUBMITTING = "submitting"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    UNKNOWN = "unknown"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class CustomerProfile:
    """What the pipeline may know of the caller: all of it the caller's own, read at the start of a call.

    Payees are left out: the payee directory holds them. `zone` is the IANA zone in which the customer's days begin,
    `locale` the language that the bank speaks with them.
    """

    name: str
    accounts: tuple[Account, ...]
    cards: tuple[Card, ...]
    bills: tuple[Bill, ...]
    limits: tuple[Limits, ...]
    as_of: datetime
    zone: str = "UTC"
    locale: Locale = EN_US
