"""What can be ordered and what becomes of it: payees, own accounts, bills, later days; on both databases."""

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from rules.act import OnVerification
from schemas.banking import PayeeVerification, TransferState
from schemas.errors import LimitExceeded, MoneyRefused, NotFound, PayeeChanged, TellerlineError
from schemas.money import Money
from services.banking.banks import tables as t
from services.banking.banks.sandbox import books
from services.store import Store
from tests.harness.money import (
    ANN,
    BALANCE,
    BILL,
    BOB,
    CALL,
    CHECKING,
    DUE,
    KIM,
    NEW,
    POWER,
    SAVINGS,
    SILENT,
    STRANGE,
    House,
    build,
    change,
    held,
    open_bank,
    order,
    spent,
    states,
)


@pytest.mark.parametrize(
    ("wanted", "refusal"),
    [
        (order(0), MoneyRefused),
        (order(-5), MoneyRefused),
        (order(BALANCE + 1), LimitExceeded),  # it is above both; the limit is what is said
        (order(payee_id=None), MoneyRefused),
        (order(to_account=SAVINGS), MoneyRefused),
        (order(payee_id=None, to_account=CHECKING), MoneyRefused),
        (order(payee_id=None, to_account="bob-savings"), NotFound),
        (order(source="bob-checking"), NotFound),
        (order(amount=Money(100, "JPY")), MoneyRefused),
        (order(payee_version=2), PayeeChanged),
        (order(payee_id="nobody"), NotFound),
        (order(bill_id=BILL), MoneyRefused),
        (order(payee_id=POWER, bill_id="bob-power"), NotFound),
        (order(DUE + 1, POWER, bill_id=BILL), MoneyRefused),
        (order(on=date(2026, 3, 3)), MoneyRefused),
        (order(on=date(2027, 3, 3)), MoneyRefused),
    ],
)
async def test_orders_that_are_refused(sqlite_store: Store, wanted: object, refusal: type[TellerlineError]) -> None:
    await open_bank(sqlite_store)
    house = build(sqlite_store)
    with pytest.raises(refusal):
        await house.ledger.propose(ANN, CALL, wanted)  # type: ignore[arg-type] # built loosely by the table
    assert await states(sqlite_store) == {}


async def test_a_payee_that_changed_since_the_read_back(house: House) -> None:
    proposal = await house.proposed(order())
    await change(house.store, t.payees, version=2)
    with pytest.raises(PayeeChanged):
        await house.ledger.confirm(ANN, CALL, proposal.id, proposal.seal)
    assert (await states(house.store))[proposal.id] == "cancelled"
    assert (await held(house.store))[CHECKING] == BALANCE


async def test_verification_is_on_the_proposal(house: House) -> None:
    for payee, verdict, step_up in (
        (KIM, PayeeVerification.MATCH, False),
        (SILENT, PayeeVerification.UNAVAILABLE, False),
        (STRANGE, PayeeVerification.NO_MATCH, True),
        (NEW, PayeeVerification.MATCH, True),
    ):
        proposal = await house.ledger.propose(ANN, CALL, order(payee=payee))
        assert (proposal.verification, proposal.step_up_required) == (verdict, step_up)
    refusing = build(house.store, house.clock, verification={PayeeVerification.NO_MATCH: OnVerification.REFUSE})
    with pytest.raises(MoneyRefused):
        await refusing.ledger.propose(ANN, CALL, order(payee=STRANGE))


async def test_between_own_accounts(house: House) -> None:
    proposal = await house.proposed(order(payee_id=None, to_account=SAVINGS))
    await house.ledger.confirm(ANN, CALL, proposal.id, proposal.seal)
    now = await held(house.store)
    assert (now[CHECKING], now[SAVINGS]) == (BALANCE - 5_000, BALANCE + 5_000)
    assert await books(house.store) == {}


async def test_a_bill_is_paid_and_shrinks(house: House) -> None:
    proposal = await house.proposed(order(DUE, POWER, bill_id=BILL))
    await house.ledger.confirm(ANN, CALL, proposal.id, proposal.seal)
    assert await house.bank.bills(ANN) == []
    assert len(await house.bank.bills(BOB)) == 1


async def test_a_later_day_waits_confirmed_and_is_kept(house: House) -> None:
    proposal = await house.proposed(order(on=date(2026, 3, 6)))
    receipt = await house.ledger.confirm(ANN, CALL, proposal.id, proposal.seal)
    assert receipt.state is TransferState.CONFIRMED
    await house.reconciler.run_once()
    assert (await held(house.store))[CHECKING] == BALANCE
    house.clock.advance(38 * 3600)  # Friday 05:00 UTC is midnight in New York
    await house.reconciler.run_once()
    assert (await house.ledger.receipt(ANN, proposal.id)).state is TransferState.SUCCEEDED
    assert (await held(house.store))[CHECKING] == BALANCE - 5_000


@pytest.mark.parametrize(
    ("zone", "day", "begins"),
    [
        ("America/New_York", date(2026, 3, 6), datetime(2026, 3, 6, 5, tzinfo=UTC)),
        ("Asia/Tokyo", date(2026, 3, 6), datetime(2026, 3, 5, 15, tzinfo=UTC)),
        ("America/Havana", date(2026, 3, 8), datetime(2026, 3, 8, 5, tzinfo=UTC)),  # from 23:59 to 01:00
    ],
)
async def test_a_later_day_begins_when_it_does_for_the_customer(
    house: House, zone: str, day: date, begins: datetime
) -> None:
    await change(house.store, t.customers, zone=zone)
    proposal = await house.proposed(order(on=day))
    await house.ledger.confirm(ANN, CALL, proposal.id, proposal.seal)
    for early_s, state in ((60, TransferState.CONFIRMED), (0, TransferState.SUCCEEDED)):
        house.clock.advance((begins - house.clock.now()).total_seconds() - early_s)
        await house.reconciler.run_once()
        assert (await house.ledger.receipt(ANN, proposal.id)).state is state


async def test_a_bank_that_says_no(house: House) -> None:
    proposal = await house.proposed(order(bill_id=BILL, payee_id=POWER))
    await change(house.store, t.accounts, balance_minor=10_000)
    ok = build(house.store, house.clock, StaleBank(house.bank))
    await change(house.store, t.accounts, balance_minor=100)
    receipt = await ok.ledger.confirm(ANN, CALL, proposal.id, proposal.seal)
    assert (receipt.state, receipt.reason) == (TransferState.FAILED, "insufficient_funds")
    assert await spent(house.store) == 0
    assert len(await house.bank.bills(ANN)) == 1


class StaleBank:
    """The bank, with a profile read a moment too early."""

    def __init__(self, bank: object) -> None:
        self._bank = bank

    def __getattr__(self, name: str) -> object:
        return getattr(self._bank, name)

    async def profile(self, customer: str) -> object:
        profile = await self._bank.profile(customer)  # type: ignore[attr-defined] # a bank
        rich = tuple(replace(a, available=Money(BALANCE, "USD")) for a in profile.accounts)
        return replace(profile, accounts=rich)
