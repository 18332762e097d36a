"""What an order has to satisfy: one judgement, before it is proposed and again, on fresh facts, when it is acted on.

Pure. Deciding and acting both call `against`, so what one of them allows the other allows while nothing has changed.
What only the ledger knows, the day's total and the check of the payee's name, it adds itself.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

from rules.act import MoneyPolicy
from schemas.banking import Account, CustomerProfile, Limits, TransferOrder
from schemas.payee import Payee


class Objection(StrEnum):
    """Why an order can't be carried out."""

    AMOUNT = "amount"  # not above zero
    TARGETS = "targets"  # none, or two
    SOURCE = "source"  # not the customer's account
    CURRENCY = "currency"  # not the source's
    NO_LIMIT = "no_limit"  # none is known in this currency: nothing is unlimited
    LIMIT = "limit"
    FUNDS = "funds"
    PAST = "past"
    FAR = "far"  # later than payments can be dated
    SAME_ACCOUNT = "same_account"
    NO_TARGET = "no_target"  # not the customer's account
    TARGET = "target"  # in another currency
    PAYEE = "payee"  # gone, or not as they were when they were named
    BILL = "bill"  # gone
    BILL_PAYEE = "bill_payee"  # another's, or in another currency
    BILL_AMOUNT = "bill_amount"  # more than is due


@dataclass(frozen=True, slots=True)
class OrderFacts:
    """What an order is judged by: the customer's own things, the payee as known now, the customer's day."""

    profile: CustomerProfile
    payee: Payee | None
    today: date


def against(order: TransferOrder, facts: OrderFacts, policy: MoneyPolicy) -> Objection | None:  # noqa: PLR0911 - one return an objection
    """The first thing that stands against `order`; None where it may be carried out."""
    source = own(facts.profile, order.source)
    if order.amount.minor <= 0:
        return Objection.AMOUNT
    if (order.payee_id is None) == (order.to_account is None):
        return Objection.TARGETS
    if source is None:
        return Objection.SOURCE
    if source.balance.currency != order.amount.currency:
        return Objection.CURRENCY
    limits = limits_of(facts.profile, order.amount.currency)
    if limits is None:
        return Objection.NO_LIMIT
    if order.amount.minor > limits.per_transfer:
        return Objection.LIMIT
    if order.amount.minor > source.available.minor:
        return Objection.FUNDS
    return _day(order, facts.today, policy) or _target(order, facts) or _bill(order, facts.profile)


def limits_of(profile: CustomerProfile, currency: str) -> Limits | None:
    """The limits of a currency, where the bank has any."""
    return next((limits for limits in profile.limits if limits.currency == currency), None)


def last_day(today: date, policy: MoneyPolicy) -> date:
    """The last day that an order may be dated."""
    return today + timedelta(days=policy.scheduled_days_ahead)


def own(profile: CustomerProfile, wanted: str | None) -> Account | None:
    """The customer's account with this id."""
    return next((account for account in profile.accounts if account.id == wanted), None)


def _day(order: TransferOrder, today: date, policy: MoneyPolicy) -> Objection | None:
    day = order.on or today
    if day < today:
        return Objection.PAST
    return Objection.FAR if day > last_day(today, policy) else None


def _target(order: TransferOrder, facts: OrderFacts) -> Objection | None:
    if order.to_account is None:
        payee = facts.payee
        known = payee is not None and (payee.id, payee.version) == (order.payee_id, order.payee_version)
        return None if known else Objection.PAYEE
    target = own(facts.profile, order.to_account)
    if target is not None and target.id == order.source:
        return Objection.SAME_ACCOUNT
    if target is None:
        return Objection.NO_TARGET
    return None if target.balance.currency == order.amount.currency else Objection.TARGET


def _bill(order: TransferOrder, profile: CustomerProfile) -> Objection | None:
    if order.bill_id is None:
        return None
    found = next((bill for bill in profile.bills if bill.id == order.bill_id), None)
    if found is None:
        return Objection.BILL
    if found.payee_id != order.payee_id or found.due.currency != order.amount.currency:
        return Objection.BILL_PAYEE
    return Objection.BILL_AMOUNT if order.amount.minor > found.due.minor else None
