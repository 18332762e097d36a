"""What a recorded call knew of its caller: enough to open the demo bank with them, as they were when the call began."""

import logging
from typing import Annotated, Final, Self
from zoneinfo import ZoneInfo

from pydantic import Field, model_validator

from rules.bank import DemoAccount, DemoBill, DemoCard, DemoCustomer, DemoLimits, DemoPayee
from schemas.banking import Account, Bill
from schemas.ids import Locale
from schemas.money import EXPONENTS, MAX_MINOR
from schemas.payee import Payee
from services.session import Caller

log = logging.getLogger(__name__)

MAX_PAYEES: Final = 2_000
"""A caller who pays more people than this has no snapshot."""
FACTS_FILE: Final = "facts.json"
CALLER: Final = "caller"
"""What the caller of a snapshot is called: never their name at the bank."""
Id = Annotated[str, Field(min_length=1, max_length=200)]
Said = Annotated[str, Field(max_length=400)]
Minor = Annotated[int, Field(ge=-MAX_MINOR, le=MAX_MINOR)]


class FactAccount(DemoAccount):
    """An account; `opening` is what was available, in minor units."""

    id: Id
    name: Said
    last4: Said
    opening: Minor


class FactCard(DemoCard):
    """A card as it was."""

    id: Id
    name: Said
    last4: Said


class FactPayee(DemoPayee):
    """A payee as the call found them."""

    id: Id
    name: Said
    kana: Said = ""
    aliases: tuple[Said, ...] = ()
    relationship: Said = ""
    bank: Said
    last4: Said
    currency: Annotated[str, Field(max_length=3)]
    version: int
    last_paid_days_ago: int | None = None


class FactBill(DemoBill):
    """A bill as it was; of one that is overdue the days are below zero."""

    id: Id
    name: Said
    payee: Id
    due: Minor
    minimum: Minor | None = None
    due_in_days: int


class FactLimits(DemoLimits):
    """Limits of a currency, in minor units."""

    per_transfer: Minor
    per_day: Minor
    step_up_above: Minor


class CallerFacts(DemoCustomer):
    """A caller's accounts, cards, bills, limits and payees, days counted from the call's own. No history is kept."""

    id: str = "facts"
    version: int = 1
    customer: str = CALLER
    name: Said
    accounts: tuple[FactAccount, ...] = Field(max_length=200)
    cards: tuple[FactCard, ...] = Field(default=(), max_length=200)
    payees: tuple[FactPayee, ...] = Field(default=(), max_length=MAX_PAYEES)
    bills: tuple[FactBill, ...] = Field(default=(), max_length=200)
    limits: tuple[FactLimits, ...] = Field(default=(), max_length=64)
    transactions: tuple[()] = ()

    @model_validator(mode="after")
    def _refers_only_to_itself(self) -> Self:
        """A bank's data are what they are: only what could not be opened at all is refused."""
        ZoneInfo(self.zone)
        if unknown := {account.currency for account in self.accounts} - set(EXPONENTS):
            raise ValueError(f"unknown currencies {sorted(unknown)}")
        return self


def facts_of(caller: Caller, locale: Locale) -> CallerFacts | None:
    """What is known of a caller; None where that is too much, or can't be written down."""
    try:
        return _facts(caller, locale)
    except ValueError:
        log.warning("a recording has no snapshot of its caller's facts")
        return None


def _facts(caller: Caller, locale: Locale) -> CallerFacts:
    profile, payees = caller.profile, tuple(caller.payees.values())
    today = profile.as_of.date()
    return CallerFacts(
        name=profile.name,
        locale=locale,
        zone=profile.zone,
        accounts=tuple(map(_account, profile.accounts)),
        cards=tuple(FactCard(id=c.id, name=c.name, last4=c.last4, locked=c.locked) for c in profile.cards),
        payees=tuple(_payee(payee, today.toordinal()) for payee in payees),
        bills=tuple(_bill(bill, today.toordinal()) for bill in profile.bills if bill.payee_id in caller.payees),
        limits=tuple(
            FactLimits(
                currency=limits.currency,
                per_transfer=limits.per_transfer,
                per_day=limits.per_day,
                step_up_above=limits.step_up_above,
            )
            for limits in profile.limits
        ),
    )


def _account(account: Account) -> FactAccount:
    held = account.available
    return FactAccount(
        id=account.id, name=account.name, last4=account.last4, currency=held.currency, opening=held.minor
    )


def _payee(payee: Payee, today: int) -> FactPayee:
    return FactPayee(
        id=payee.id,
        name=payee.name,
        kana=payee.kana,
        aliases=payee.aliases,
        relationship=payee.relationship,
        bank=payee.bank,
        last4=payee.account_last4,
        currency=payee.currency,
        version=payee.version,
        last_paid_days_ago=None if payee.last_paid is None else today - payee.last_paid.toordinal(),
        is_new=payee.is_new,
    )


def _bill(bill: Bill, today: int) -> FactBill:
    return FactBill(
        id=bill.id,
        name=bill.name,
        payee=bill.payee_id,
        due=bill.due.minor,
        minimum=bill.minimum.minor if bill.minimum else None,
        currency=bill.due.currency,
        due_in_days=bill.due_on.toordinal() - today,
    )
