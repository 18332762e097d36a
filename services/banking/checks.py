"""An order against fresh facts, before it is proposed and again before it is carried out. Pure."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from rules.act import MoneyPolicy, OnVerification, zone
from rules.orders import Objection, OrderFacts, against, limits_of
from schemas.banking import CustomerProfile, Limits, PayeeVerification, TransferOrder
from schemas.errors import InsufficientFunds, LimitExceeded, MoneyRefused, NotFound, PayeeChanged
from schemas.payee import Payee


@dataclass(frozen=True, slots=True)
class BankSnapshot:
    """What the bank says, at one moment, of all that an order touches. `payee` is null between own accounts."""

    profile: CustomerProfile
    payee: Payee | None
    verification: PayeeVerification


_RAISED: Final[dict[Objection, MoneyRefused | NotFound]] = {
    Objection.AMOUNT: MoneyRefused("an amount is above zero"),
    Objection.TARGETS: MoneyRefused("an order has one target"),
    Objection.SOURCE: NotFound("no such account"),
    Objection.CURRENCY: MoneyRefused("an order is in its source's currency"),
    Objection.NO_LIMIT: LimitExceeded("no limits in this currency"),
    Objection.LIMIT: LimitExceeded("above the limit per transfer"),
    Objection.FUNDS: InsufficientFunds(),
    Objection.PAST: MoneyRefused("not a day on which money can be sent"),
    Objection.FAR: MoneyRefused("not a day on which money can be sent"),
    Objection.NO_TARGET: NotFound("no such account"),
    Objection.SAME_ACCOUNT: MoneyRefused("not an account this can go to"),
    Objection.TARGET: MoneyRefused("not an account this can go to"),
    Objection.PAYEE: PayeeChanged(),
    Objection.BILL: NotFound("no such bill"),
    Objection.BILL_PAYEE: MoneyRefused("the bill is another payee's"),
    Objection.BILL_AMOUNT: MoneyRefused("more than the bill"),
}


def allowed(order: TransferOrder, snapshot: BankSnapshot, now: datetime, policy: MoneyPolicy) -> tuple[Limits, date]:
    """The limits that hold, and the day the money is to move; the day's total is the store's to keep.

    Raises MoneyRefused, NotFound, PayeeChanged, InsufficientFunds, LimitExceeded.
    """
    today = now.astimezone(zone(snapshot.profile.zone)).date()
    objection = against(order, OrderFacts(snapshot.profile, snapshot.payee, today), policy)
    if objection is not None:
        raised = _RAISED[objection]
        raise type(raised)(*raised.args)
    limits = limits_of(snapshot.profile, order.amount.currency)
    assert limits is not None, "an order without limits is objected to"
    return limits, order.on or today


def needs_step_up(order: TransferOrder, snapshot: BankSnapshot, limits: Limits, policy: MoneyPolicy) -> bool:
    """Whether a second factor is due. Raises MoneyRefused where the policy refuses the payee's verdict outright."""
    if order.payee_id is None or snapshot.payee is None:
        return False
    verdict = policy.verification[snapshot.verification]
    if verdict is OnVerification.REFUSE:
        raise MoneyRefused("the payee's name does not fit the account")
    above = order.amount.minor > limits.step_up_above
    unproven = snapshot.payee.is_new and policy.step_up_new_payee
    return above or unproven or verdict is OnVerification.STEP_UP
