"""The Fineract adapter against a server that lets it down in every way, and the ledger above it."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import date

import httpx
import pytest

from schemas.banking import BankOutcome, TransactionFilter, TransferState
from schemas.errors import BankGarbage, BankUnavailable, InFlight, NotFound, TellerlineError
from schemas.ids import CustomerId, PayeeId
from schemas.money import Money
from services.banking.banks import tables as t
from services.banking.banks.directory import Row
from services.banking.banks.fineract import FineractBank, FineractSettings
from services.store import Store
from tests.contract.test_core_bank import opened_accounts
from tests.fakes.fineract import FAULTS, FakeFineract, Json
from tests.harness.money import (
    ANN,
    BALANCE,
    BILL,
    BOB,
    CALL,
    CHECKING,
    DUE,
    KIM,
    OTHER_CALL,
    POWER,
    SAVINGS,
    House,
    RunClock,
    build,
    change,
    open_bank,
    order,
    settle,
)  # fmt: skip

UNKNOWN = {*FAULTS} - {"ok", "slow"}


@dataclass
class Stand:
    core: FakeFineract
    bank: FineractBank
    house: House


@pytest.fixture
async def stand(sqlite_store: Store) -> AsyncIterator[Stand]:
    await open_bank(sqlite_store)
    async with FakeFineract(opened_accounts()) as core:
        settings = FineractSettings(core.url, "teller", "secret", timeout_s=10.0)
        async with settings.client() as client:
            clock = RunClock()
            bank = FineractBank(settings, client, sqlite_store, clock)
            yield Stand(core, bank, build(sqlite_store, clock, bank))


@pytest.mark.parametrize("fault", FAULTS)
async def test_one_movement_whatever_happens(stand: Stand, fault: str) -> None:
    stand.core.faults = deque([fault])
    stand.core.pause_s = 1.2 if fault == "delay" else 0.1
    before = stand.core.total
    proposal = await stand.house.proposed(order())
    stand.bank._client.timeout = httpx.Timeout(0.6 if fault == "delay" else 10.0)
    receipt = await stand.house.ledger.confirm(ANN, CALL, proposal.id, proposal.seal)
    assert receipt.state is (TransferState.UNKNOWN if fault in UNKNOWN else TransferState.SUCCEEDED)
    stand.bank._client.timeout = httpx.Timeout(10.0)
    await settle(stand.house, 3)
    assert (await stand.house.ledger.receipt(ANN, proposal.id)).state is TransferState.SUCCEEDED
    assert stand.core.carried_out == [f"tl-{proposal.id}"]
    assert (await stand.bank.payee(ANN, KIM)).last_paid == stand.house.clock.now().date()
    assert stand.core.total == before
    assert stand.core.accounts[CHECKING].cents == BALANCE - 5_000


@pytest.mark.parametrize("fault", ["error", "garbage", "half", "not_json", "list", "nested", "drop", "no_http"])
async def test_reads_that_fail_are_errors_and_nothing_else(
    stand: Stand, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    stand.core.reads = deque([fault])
    with pytest.raises((BankUnavailable, BankGarbage)):
        await stand.bank.accounts(ANN)
    assert "4000" not in caplog.text, "what a peer says is repeated in no log"
    assert len(await stand.bank.accounts(ANN)) == 2


@pytest.mark.parametrize(("fault", "error"), [("drip", BankUnavailable), ("flood", BankGarbage)])
async def test_an_answer_without_end_is_given_up(stand: Stand, fault: str, error: type[TellerlineError]) -> None:
    """In time though each byte comes in time, and before it fills the memory."""
    hurried = replace(stand.bank._settings, timeout_s=0.5 if fault == "drip" else 10.0)
    bank = FineractBank(hurried, stand.bank._client, stand.house.store, stand.house.clock)
    stand.core.reads = deque([fault])
    async with asyncio.timeout(9):
        with pytest.raises(error):
            await bank.accounts(ANN)


async def test_an_outcome_that_can_not_be_asked_stays_unknown(stand: Stand) -> None:
    stand.core.faults = deque(["drop"])
    proposal = await stand.house.proposed(order())
    await stand.house.ledger.confirm(ANN, CALL, proposal.id, proposal.seal)
    stand.core.reads = deque(["error"] * 2)
    stand.house.clock.advance(3600)
    await stand.house.reconciler.run_once()
    assert (await stand.house.ledger.receipt(ANN, proposal.id)).state is TransferState.UNKNOWN
    await settle(stand.house, 2)
    assert (await stand.house.ledger.receipt(ANN, proposal.id)).state is TransferState.SUCCEEDED
    assert len(stand.core.carried_out) == 1


async def test_what_the_bank_took_back_before_we_heard_of_it_has_failed(stand: Stand) -> None:
    stand.core.faults = deque(["error_after"])
    proposal = await stand.house.proposed(order())
    await stand.house.ledger.confirm(ANN, CALL, proposal.id, proposal.seal)
    for row in stand.core.accounts[CHECKING].transactions:
        row["reversed"] = True
    await settle(stand.house, 2)
    receipt = await stand.house.ledger.receipt(ANN, proposal.id)
    assert (receipt.state, receipt.reason) == (TransferState.FAILED, "taken_back")
    assert len(stand.core.carried_out) == 1, "it was sent again"


async def test_what_may_have_been_sent_is_not_declined_for_what_changed_since(stand: Stand) -> None:
    """Its first request may still be under way; only long after is it certain that it is not."""
    stand.core.faults = deque(["refuse"])
    with pytest.raises(BankUnavailable):
        await stand.bank.transfer(ANN, order(), "key-1")
    await change(stand.house.store, t.payees, version=2)
    with pytest.raises(InFlight):
        await stand.bank.transfer(ANN, order(), "key-1")
    assert (await stand.bank.transfer(ANN, order(), "key-2")).reason == "payee_changed", "it was never sent"
    stand.house.clock.advance(3600)
    assert (await stand.bank.transfer(ANN, order(), "key-1")).reason == "payee_changed"
    assert stand.core.carried_out == []


async def test_what_is_imported_while_an_order_is_looked_at_gets_no_money(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = stand.bank.payee_row

    async def reading(customer: CustomerId, payee: PayeeId) -> Row:
        row = await read(customer, payee)
        await change(stand.house.store, t.payees, version=2, route="900/ext-other")
        return row

    monkeypatch.setattr(stand.bank, "payee_row", reading)
    assert (await stand.bank.transfer(ANN, order(), "key-1")).outcome is BankOutcome.DONE
    assert "ext-other" not in stand.core.accounts


async def test_a_bill_that_was_paid_meanwhile_is_not_paid_again(stand: Stand) -> None:
    """A core that knows no bills would: one payment for a later day, one made at once."""
    bill = order(DUE, POWER, bill_id=BILL)
    later = await stand.house.proposed(replace(bill, on=date(2026, 3, 5)))
    await stand.house.ledger.confirm(ANN, CALL, later.id, later.seal)
    at_once = await stand.house.proposed(bill, OTHER_CALL)
    await stand.house.ledger.confirm(ANN, OTHER_CALL, at_once.id, at_once.seal)
    stand.house.clock.advance(24 * 3600)
    await settle(stand.house, 1)
    receipt = await stand.house.ledger.receipt(ANN, later.id)
    assert (receipt.state, receipt.reason) == (TransferState.FAILED, "bill_not_due")
    assert stand.core.carried_out == [f"tl-{at_once.id}"]
    again = await stand.bank.transfer(ANN, bill, f"tl-{at_once.id}")
    assert (again.outcome, again.reference) == (BankOutcome.DONE, f"tl-{at_once.id}")


async def test_the_same_key_while_in_flight(stand: Stand) -> None:
    stand.core.faults, stand.core.pause_s = deque(["slow"]), 0.2
    first = asyncio.ensure_future(stand.bank.transfer(ANN, order(), "key-1"))
    await stand.core.working.wait()
    with pytest.raises(InFlight):
        await stand.bank.transfer(ANN, order(), "key-1")
    assert (await first).outcome is BankOutcome.DONE
    assert len(stand.core.carried_out) == 1


async def test_another_customers_account_is_not_there(stand: Stand) -> None:
    stand.core.accounts[CHECKING].client = "client-bob"
    await stand.bank._bind(ANN, order(), "key-1", "Kim Reed")
    with pytest.raises(NotFound):
        await stand.bank.transfer_outcome(ANN, "key-1")
    for wanted in (order(), order(payee_id=None, to_account=SAVINGS)):
        assert (await stand.bank.transfer(ANN, wanted, f"key-{wanted.to_account}")).reason == "no_such_account"
    assert stand.core.carried_out == []


@pytest.mark.parametrize("source", ["EUR", "term"])
async def test_what_is_no_savings_account_of_the_currency_pays_nothing(stand: Stand, source: str) -> None:
    held = stand.core.accounts[CHECKING]
    held.currency, held.deposit = ("EUR", 100) if source == "EUR" else ("USD", 200)
    assert (await stand.bank.transfer(ANN, order(), "key-1")).reason == "no_such_account"
    assert len(await stand.bank.accounts(ANN)) == (2 if source == "EUR" else 1)
    assert await stand.bank.transactions(ANN, TransactionFilter()) == []


async def test_a_movement_is_called_as_its_payee_was(stand: Stand) -> None:
    """Fineract names nobody: whom a key paid is known here, of another customer's key nothing."""
    for key, wanted in (("key-1", order()), ("key-2", order(payee_id=None, to_account=SAVINGS))):
        await stand.bank.transfer(ANN, wanted, key)
    await stand.bank.transfer(BOB, order(source="bob-checking", payee_id=None, to_account="bob-savings"), "key-3")
    stand.core.book(CHECKING, "deposit", 1, transfer={"transferDescription": "key-3"})
    await change(stand.house.store, t.payees, name="Kim Other", version=2)
    moved = await stand.bank.transactions(ANN, TransactionFilter())
    assert {one.merchant for one in moved} == {"Kim Reed", "savings", "Deposit"}


@pytest.mark.parametrize("route", ["", "900", "900/", "900/../x", "900/a?b"])
async def test_a_payee_whose_way_is_not_known_is_sent_nothing(stand: Stand, route: str) -> None:
    await change(stand.house.store, t.payees, route=route)
    assert (await stand.bank.transfer(ANN, order(), "key-1")).reason == "no_such_account"
    assert stand.core.carried_out == []


@pytest.mark.parametrize("route", ["", "../../v1/clients/client-ann", "client-ann?a=b"])
async def test_a_customer_whose_way_is_not_known_has_no_account(stand: Stand, route: str) -> None:
    await change(stand.house.store, t.customers, route=route)
    assert await stand.bank.accounts(BOB) == []
    assert (await stand.bank.transfer(ANN, order(), "key-1")).reason == "no_such_account"


async def test_wrong_credentials_leave_everything_unknown(stand: Stand, caplog: pytest.LogCaptureFixture) -> None:
    settings = FineractSettings(stand.core.url, "teller", "secret", tenant="other")
    async with settings.client() as client:
        stranger = FineractBank(settings, client, stand.house.store, stand.house.clock)
        with pytest.raises(BankUnavailable):
            await stranger.transfer(ANN, order(), "key-1")
    assert "the core answered 401" in caplog.text


@pytest.mark.parametrize("cents", [0.1 + 0.2, "x", None, True, 1e30, "NaN", "1e999999"])
async def test_amounts_that_are_none(stand: Stand, cents: object) -> None:
    stand.core.accounts[CHECKING].cents = _Odd(cents)  # type: ignore[assignment] # what a broken core would say
    with pytest.raises(BankGarbage):
        await stand.bank.accounts(ANN)


class _Odd:
    """Answers its value whatever it is divided by."""

    def __init__(self, value: object) -> None:
        self._value = value

    def __truediv__(self, _: int) -> object:
        return self._value


@pytest.mark.parametrize("cents", [112_330_030_030, 0])
async def test_amounts_are_exact(stand: Stand, cents: int) -> None:
    stand.core.accounts[CHECKING].cents = cents
    assert (await stand.bank.accounts(ANN))[0].balance == Money(cents, "USD")


@pytest.mark.parametrize(
    ("code", "flags", "minor"),
    [
        *((code, {}, 300) for code in ("deposit", "interestPosting", "dividendPayout")),
        *((code, {}, -300) for code in ("withdrawal", "withdrawalFee", "annualFee", "payCharge", "withholdTax")),
        *((code, {}, None) for code in ("onHold", "release", "escheat", "accrual", "waiveCharge", "initiateTransfer")),
        ("withdrawal", {"reversed": True}, None),
        ("withdrawal", {"isReversal": True}, None),
    ],
)
async def test_what_a_row_did_to_the_balance(stand: Stand, code: str, flags: Json, minor: int | None) -> None:
    stand.core.book(CHECKING, code, 300, **flags)
    moved = await stand.bank.transactions(ANN, TransactionFilter())
    assert [one.amount for one in moved] == ([] if minor is None else [Money(minor, "USD")])


@pytest.mark.parametrize("code", ["", "invalid", "fee", "x.withdrawal"])
async def test_a_row_of_a_kind_that_nobody_knows_is_not_guessed(stand: Stand, code: str) -> None:
    stand.core.book(CHECKING, code, 300)
    with pytest.raises(BankGarbage):
        await stand.bank.transactions(ANN, TransactionFilter())
