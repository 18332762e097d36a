"""One policy: what is decided as allowed is allowed when it is acted on with the same facts, and the reverse."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules.act import money_policy
from rules.orders import Objection, OrderFacts, against
from schemas.banking import Account, Bill, CustomerProfile, Limits, PayeeVerification, TransferOrder
from schemas.errors import TellerlineError
from schemas.ids import EN_US, AccountId, BillId, PayeeId
from schemas.intent import Intent
from schemas.money import Money
from schemas.payee import Payee
from schemas.span import MoneyValue
from services.banking.checks import BankSnapshot, allowed
from services.dialogue.events import Facts
from services.dialogue.phases import Task
from services.dialogue.policy import order_of

NOW = datetime(2026, 11, 18, 15, tzinfo=UTC)
TODAY = NOW.date()
DAYS = st.one_of(st.none(), st.integers(-3, 100).map(lambda n: TODAY + timedelta(days=n)))
MINOR = st.sampled_from([-1, 0, 1, 4_999, 5_000, 5_001, 80_000, 80_001, 100_000, 100_001])
CURRENCIES = st.sampled_from(["USD", "USD", "EUR"])
PAYEES = {PayeeId(i): Payee(PayeeId(i), i, version=n) for n, i in enumerate(("ann", "grid"), 1)}


@st.composite
def profiles(draw: st.DrawFn) -> CustomerProfile:
    held = [Money(draw(st.sampled_from([0, 5_000, 90_000, 200_000])), draw(CURRENCIES)) for _ in range(2)]
    accounts = [Account(AccountId(n), n, "1", m, m) for n, m in zip(("checking", "savings"), held, strict=True)]
    due = Money(draw(st.sampled_from([5_000, 90_000])), draw(CURRENCIES))
    bills = (Bill(BillId("power"), "power", PayeeId("grid"), due, TODAY),) if draw(st.booleans()) else ()
    limits = (Limits("USD", 80_000, 100_000, 50_000),) if draw(st.booleans()) else ()
    return CustomerProfile("Alex", tuple(accounts), (), bills, limits, NOW, zone="UTC")


@st.composite
def tasks(draw: st.DrawFn, bills: bool) -> Task:
    amounts = (MoneyValue(draw(MINOR), draw(st.sampled_from([None, "USD", "EUR"]))),)
    task = Task(Intent.TRANSFER_MONEY, amounts, on=draw(DAYS))
    task = replace(task, source=draw(st.sampled_from([None, AccountId("checking"), AccountId("savings")])))
    if bills and draw(st.booleans()):
        return replace(task, intent=Intent.BILL_PAYMENT, bill=BillId("power"))
    if draw(st.booleans()):
        return replace(task, target=draw(st.sampled_from([AccountId("checking"), AccountId("savings")])))
    return replace(task, payee=draw(st.sampled_from([PayeeId("ann"), PayeeId("grid"), PayeeId("gone")])))


def acted_on(order: TransferOrder, profile: CustomerProfile) -> bool:
    """Whether acting lets the order through, on facts of the bank's."""
    payee = PAYEES.get(order.payee_id) if order.payee_id is not None else None
    try:
        allowed(order, BankSnapshot(profile, payee, PayeeVerification.MATCH), NOW, money_policy())
    except TellerlineError:
        return False
    return True


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_what_is_decided_as_allowed_is_allowed_when_acted_on(data: st.DataObject) -> None:
    profile = data.draw(profiles())
    task = data.draw(tasks(bool(profile.bills)))
    order = order_of(task, Facts(profile, PAYEES, TODAY, EN_US))
    if isinstance(order, TransferOrder):
        assert acted_on(order, profile)


@settings(max_examples=600, deadline=None)
@given(profiles(), MINOR, st.sampled_from(["checking", "savings"]), st.sampled_from(["ann", "savings", "power"]), DAYS)
def test_what_acting_allows_is_decided_as_allowed(
    profile: CustomerProfile, minor: int, source: str, to: str, on: date | None
) -> None:
    currency = next(a.balance.currency for a in profile.accounts if a.id == source)
    order = TransferOrder(AccountId(source), None, 0, Money(minor, currency), on=on)
    task = Task(Intent.TRANSFER_MONEY, (MoneyValue(minor, currency),), source=AccountId(source), on=on)
    if to == "ann":
        order, task = replace(order, payee_id=PayeeId("ann"), payee_version=1), replace(task, payee=PayeeId("ann"))
    elif to == "savings":
        order, task = replace(order, to_account=AccountId(to)), replace(task, target=AccountId(to))
    elif profile.bills:
        order = replace(order, payee_id=PayeeId("grid"), payee_version=2, bill_id=BillId(to))
        task = replace(task, intent=Intent.BILL_PAYMENT, bill=BillId(to))
    else:
        return
    decided = order_of(task, Facts(profile, PAYEES, TODAY, EN_US))
    assert (decided == order) == acted_on(order, profile)


RICH = Money(100_000, "USD")
OWN = CustomerProfile(
    "Alex",
    (Account(AccountId("checking"), "checking", "1", RICH, RICH),),
    (),
    (Bill(BillId("power"), "power", PayeeId("grid"), Money(5_000, "USD"), TODAY),),
    (Limits("USD", 120_000, 150_000, 50_000),),
    NOW,
    zone="UTC",
)
FIFTY = TransferOrder(AccountId("checking"), PayeeId("ann"), 1, Money(5_000, "USD"))


@pytest.mark.parametrize(
    ("order", "profile", "wanted"),
    [
        (FIFTY, OWN, None),
        (FIFTY, replace(OWN, limits=()), Objection.NO_LIMIT),
        (replace(FIFTY, amount=Money(120_001, "USD")), OWN, Objection.LIMIT),
        (replace(FIFTY, amount=Money(100_001, "USD")), OWN, Objection.FUNDS),
        (replace(FIFTY, amount=Money(100_001, "USD"), on=TODAY + timedelta(days=9)), OWN, Objection.FUNDS),
        (replace(FIFTY, amount=Money(0, "USD")), OWN, Objection.AMOUNT),
        (replace(FIFTY, amount=Money(5_000, "EUR")), OWN, Objection.CURRENCY),
        (replace(FIFTY, on=TODAY - timedelta(days=1)), OWN, Objection.PAST),
        (replace(FIFTY, on=TODAY + timedelta(days=90)), OWN, None),
        (replace(FIFTY, on=TODAY + timedelta(days=91)), OWN, Objection.FAR),
        (replace(FIFTY, payee_version=2), OWN, Objection.PAYEE),
        (replace(FIFTY, to_account=AccountId("checking")), OWN, Objection.TARGETS),
        (replace(FIFTY, payee_id=None, to_account=AccountId("checking")), OWN, Objection.SAME_ACCOUNT),
        (replace(FIFTY, payee_id=None, to_account=AccountId("x")), OWN, Objection.NO_TARGET),
        (replace(FIFTY, source=AccountId("x")), OWN, Objection.SOURCE),
        (replace(FIFTY, bill_id=BillId("x")), OWN, Objection.BILL),
        (replace(FIFTY, bill_id=BillId("power")), OWN, Objection.BILL_PAYEE),
        (replace(FIFTY, payee_id=PayeeId("grid"), payee_version=2, bill_id=BillId("power")), OWN, None),
        (
            replace(
                FIFTY, payee_id=PayeeId("grid"), payee_version=2, bill_id=BillId("power"), amount=Money(5_001, "USD")
            ),
            OWN,
            Objection.BILL_AMOUNT,
        ),
    ],
)
def test_objections(order: TransferOrder, profile: CustomerProfile, wanted: Objection | None) -> None:
    payee = PAYEES.get(order.payee_id) if order.payee_id is not None else None
    assert against(order, OrderFacts(profile, payee, TODAY), money_policy()) == wanted
