"""What an order has to satisfy, before it is proposed and again before it is carried out. Pure."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from rules.act import MoneyPolicy, OnVerification, zone
from schemas.banking import Account, Bill, CustomerProfile, Limits, PayeeVerification, TransferOrder
from schemas.errors import InsufficientFunds, LimitExceeded, MoneyRefused, NotFound, PayeeChanged
from schemas.payee import Payee


@dataclass(frozen=True, slots=True)
class Standing:
    """What the bank says, at one moment, of all that an order touches. `payee` is null between own accounts."""

    profile: CustomerProfile
    payee: Payee | None
    verification: PayeeVerification


def today(profile: CustomerProfile, now: datetime) -> date:
    """The customer's own day."""
    return now.astimezone(zone(profile.zone)).date()


def limits_of(profile: CustomerProfile, currency: str) -> Limits:
    """The limits of a currency. Raises LimitExceeded where the bank has none: nothing is unlimited."""
    for limits in profile.limits:
        if limits.currency == currency:
            return limits
    raise LimitExceeded(f"no limits for {currency}")


def check_order(order: TransferOrder, standing: Standing) -> None:
    """Amount, accounts, payee and bill. Raises MoneyRefused, NotFound, PayeeChanged, InsufficientFunds."""
    if order.amount.minor <= 0:
        raise MoneyRefused("an amount is above zero")
    if (order.payee_id is None) == (order.to_account is None):
        raise MoneyRefused("an order has one target")
    source = _own(standing.profile, order.source)
    if source.balance.currency != order.amount.currency:
        raise MoneyRefused("an order is in its source's currency")
    if source.available.minor < order.amount.minor:
        raise InsufficientFunds
    if order.to_account is not None:
        _check_own_target(order, standing.profile)
    elif standing.payee is None or standing.payee.version != order.payee_version:
        raise PayeeChanged
    if order.bill_id is not None:
        _check_bill(order, standing.profile)


def check_limits(order: TransferOrder, profile: CustomerProfile) -> Limits:
    """The limit per transfer; the day's is the store's to keep. Raises LimitExceeded."""
    limits = limits_of(profile, order.amount.currency)
    if order.amount.minor > limits.per_transfer:
        raise LimitExceeded("above the limit per transfer")
    return limits


def day_of(order: TransferOrder, profile: CustomerProfile, now: datetime, policy: MoneyPolicy) -> date:
    """The day the money is to move. Raises MoneyRefused for a past day or one too far ahead."""
    current = today(profile, now)
    day = order.on or current
    if not current <= day <= current + timedelta(days=policy.scheduled_days_ahead):
        raise MoneyRefused("not a day on which money can be sent")
    return day


def needs_step_up(order: TransferOrder, standing: Standing, policy: MoneyPolicy) -> bool:
    """Whether a second factor is due. Raises MoneyRefused where the policy refuses the payee's verdict outright."""
    if order.payee_id is None or standing.payee is None:
        return False
    verdict = policy.verification[standing.verification]
    if verdict is OnVerification.REFUSE:
        raise MoneyRefused("the payee's name does not fit the account")
    above = order.amount.minor > limits_of(standing.profile, order.amount.currency).step_up_above
    unproven = standing.payee.is_new and policy.step_up_new_payee
    return above or unproven or verdict is OnVerification.STEP_UP


def _own(profile: CustomerProfile, wanted: str) -> Account:
    for account in profile.accounts:
        if account.id == wanted:
            return account
    raise NotFound("no such account")


def _check_own_target(order: TransferOrder, profile: CustomerProfile) -> None:
    target = _own(profile, order.to_account or "")
    if target.id == order.source or target.balance.currency != order.amount.currency:
        raise MoneyRefused("not an account this can go to")
    if order.bill_id is not None:
        raise MoneyRefused("a bill is paid to its payee")


def _check_bill(order: TransferOrder, profile: CustomerProfile) -> None:
    found: Bill | None = next((bill for bill in profile.bills if bill.id == order.bill_id), None)
    if found is None:
        raise NotFound("no such bill")
    if found.payee_id != order.payee_id or found.due.currency != order.amount.currency:
        raise MoneyRefused("the bill is another payee's")
    if order.amount.minor > found.due.minor:
        raise MoneyRefused("more than the bill")
