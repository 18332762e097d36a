"""Every core bank, over the same customers: the sandbox on both databases, and Fineract's API over real HTTP."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import services.banking.banks.sandbox
from schemas.banking import Account, BankOutcome, PayeeVerification, TransactionFilter
from schemas.errors import KeyReused, NotFound
from schemas.ids import AccountId, CustomerId
from schemas.money import Money
from services.banking.banks import tables as t
from services.banking.banks.fineract import FineractBank, FineractSettings
from services.banking.banks.sandbox import SandboxBank, books
from services.ports import CoreBank
from services.store import Store
from tests.fakes.fineract import FakeFineract, Savings
from tests.harness.money import (
    ANN,
    BALANCE,
    BILL,
    BOB,
    CARD,
    CHECKING,
    DUE,
    KIM,
    NEW,
    POWER,
    SAVINGS,
    SILENT,
    STRANGE,
    RunClock,
    change,
    open_bank,
    order,
)  # fmt: skip
from tests.harness.stores import emptied, new_sqlite
from tests.recipes.memory_bank import MemoryBank

NAMES = ("checking", "savings")
MOMENT = datetime(2026, 3, 4, 15, 0, tzinfo=UTC)


def opened_accounts() -> dict[str, Savings]:
    return {f"{customer}-{name}": Savings(f"client-{customer}", BALANCE) for customer in (ANN, BOB) for name in NAMES}


@asynccontextmanager
async def sandbox(url: str) -> AsyncIterator[CoreBank]:
    store = Store(url)
    await open_bank(store)
    yield SandboxBank(store, RunClock(MOMENT))
    assert await books(store) == {}
    await store.close()


@asynccontextmanager
async def fineract(url: str) -> AsyncIterator[CoreBank]:
    store = Store(url)
    await open_bank(store)
    async with FakeFineract(opened_accounts()) as core:
        before = core.total
        settings = FineractSettings(core.url, "teller", "secret")
        async with settings.client() as client:
            yield FineractBank(settings, client, store, RunClock(MOMENT))
        assert core.total == before
    await store.close()


@asynccontextmanager
async def memory(url: str) -> AsyncIterator[CoreBank]:
    """What deploy/newcomers.md adds: an adapter is one more line here."""
    store, balance = Store(url), Money(BALANCE, "USD")
    await open_bank(store)
    held = {
        customer: [Account(AccountId(f"{customer}-{name}"), name, "4000", balance, balance) for name in NAMES]
        for customer in (ANN, BOB)
    }
    yield MemoryBank(held, store, RunClock(MOMENT))
    await store.close()


@pytest.fixture(params=["sandbox-sqlite", "sandbox-postgres", "fineract-sqlite", "memory-sqlite"])
def place(request: pytest.FixtureRequest, sqlite_template: Path, tmp_path: Path) -> tuple[str, str]:
    """The kind of bank, and the URL of its fresh database."""
    kind, _, database = request.param.partition("-")
    if database == "postgres":
        return kind, asyncio.run(emptied(request.getfixturevalue("postgres_server")))
    return kind, new_sqlite(sqlite_template, tmp_path)


@pytest.fixture
async def bank(place: tuple[str, str]) -> AsyncIterator[CoreBank]:
    """A core bank of which Ann and Bob were just made customers."""
    kind, url = place
    async with {"sandbox": sandbox, "fineract": fineract, "memory": memory}[kind](url) as opened:
        yield opened


async def balances(bank: CoreBank, customer: str = ANN) -> list[int]:
    return [account.balance.minor for account in await bank.accounts(customer)]  # type: ignore[arg-type] # an id


async def test_a_profile_holds_what_is_the_customers(bank: CoreBank) -> None:
    profile = await bank.profile(ANN)
    assert (profile.name, profile.zone) == ("Ann", "America/New_York")
    assert [account.id for account in profile.accounts] == [CHECKING, SAVINGS]
    assert [account.balance for account in profile.accounts] == [Money(BALANCE, "USD")] * 2
    assert profile.cards == tuple(await bank.cards(ANN))
    assert profile.bills == tuple(await bank.bills(ANN))
    assert [limit.currency for limit in profile.limits] == ["USD"]
    with pytest.raises(NotFound):
        await bank.profile(CustomerId("nobody"))


async def test_payees_and_their_names(bank: CoreBank) -> None:
    payees = {payee.id: payee for payee in await bank.payees(ANN)}
    assert set(payees) == {KIM, NEW, STRANGE, SILENT, POWER}
    assert await bank.payee(ANN, KIM) == payees[KIM]
    verdicts = {payee: await bank.verify_payee(ANN, payee) for payee in (KIM, STRANGE, SILENT)}
    assert verdicts == {
        KIM: PayeeVerification.MATCH, STRANGE: PayeeVerification.NO_MATCH, SILENT: PayeeVerification.UNAVAILABLE,
    }  # fmt: skip
    for attempt in (bank.payee(ANN, "nobody"), bank.verify_payee(ANN, "nobody")):  # type: ignore[arg-type] # an id
        with pytest.raises(NotFound):
            await attempt


async def test_card_locks(bank: CoreBank) -> None:
    for locked in (True, True, False):
        assert (await bank.set_card_lock(ANN, CARD, locked)).locked is locked
        assert [card.locked for card in await bank.cards(ANN)] == [locked]
    with pytest.raises(NotFound):
        await bank.set_card_lock(BOB, CARD, locked=True)


async def test_money_moves_once_for_a_key(bank: CoreBank) -> None:
    first = await bank.transfer(ANN, order(), "key-1")
    assert first.outcome is BankOutcome.DONE
    assert await bank.transfer(ANN, order(), "key-1") == first
    assert await bank.transfer_outcome(ANN, "key-1") == first
    assert await balances(bank) == [BALANCE - 5_000, BALANCE]
    assert (await bank.transfer(ANN, order(), "key-2")).reference != first.reference
    assert await balances(bank) == [BALANCE - 10_000, BALANCE]


async def test_a_key_belongs_to_one_order_of_one_customer(bank: CoreBank) -> None:
    await bank.transfer(ANN, order(), "key-1")
    for customer, other in ((ANN, order(5_001)), (ANN, order(payee=POWER)), (BOB, order())):
        with pytest.raises(KeyReused):
            await bank.transfer(customer, other, "key-1")
    assert (await bank.transfer_outcome(BOB, "key-1")).outcome is BankOutcome.NOT_FOUND
    assert await balances(bank) == [BALANCE - 5_000, BALANCE]


async def test_one_key_from_many_sides_at_once(bank: CoreBank) -> None:
    outcomes = await asyncio.gather(*(bank.transfer(ANN, order(), "key-1") for _ in range(8)), return_exceptions=True)
    done = {receipt for receipt in outcomes if not isinstance(receipt, BaseException)}
    assert len(done) == 1
    assert await balances(bank) == [BALANCE - 5_000, BALANCE]


async def test_a_key_never_seen(bank: CoreBank) -> None:
    assert (await bank.transfer_outcome(ANN, "unheard")).outcome is BankOutcome.NOT_FOUND


async def test_what_is_declined_moves_nothing(bank: CoreBank) -> None:
    for n, (wanted, reason) in enumerate(
        [
            (order(BALANCE + 1), "insufficient_funds"),
            (order(payee_version=2), "payee_changed"),
            (order(payee="nobody"), "no_such_payee"),
            (order(payee_id=None, to_account="bob-savings"), "no_such_account"),
        ]
    ):
        receipt = await bank.transfer(ANN, wanted, f"key-{n}")
        assert (receipt.outcome, receipt.reason) == (BankOutcome.DECLINED, reason)
    assert await balances(bank) == await balances(bank, BOB) == [BALANCE, BALANCE]


async def test_between_own_accounts(bank: CoreBank) -> None:
    receipt = await bank.transfer(ANN, order(payee_id=None, to_account=SAVINGS), "key-1")
    assert receipt.outcome is BankOutcome.DONE
    assert await balances(bank) == [BALANCE - 5_000, BALANCE + 5_000]


async def test_a_bill_shrinks_once(bank: CoreBank) -> None:
    wanted = order(3_000, POWER, bill_id=BILL)
    for _ in range(2):
        await bank.transfer(ANN, wanted, "key-1")
    await bank.transfer_outcome(ANN, "key-1")
    assert [bill.due.minor for bill in await bank.bills(ANN)] == [DUE - 3_000]
    await bank.transfer(ANN, replace(wanted, amount=Money(DUE - 3_000, "USD")), "key-2")
    assert await bank.bills(ANN) == []


async def test_a_payee_was_paid_last_on_the_customers_own_day(bank: CoreBank) -> None:
    """Whoever asks: also who only learns what became of it; of what was declined nothing is known."""
    bank._clock.advance(12 * 3600)  # type: ignore[attr-defined] # in New York it is still the day before
    await bank.transfer(ANN, order(BALANCE + 1, NEW), "key-0")
    for key, wanted in (("key-1", order()), ("key-2", order(3_000, POWER, bill_id=BILL))):
        await bank.transfer(ANN, wanted, key)
    paid = {payee.id: payee.last_paid for payee in await bank.payees(ANN)}
    assert paid == dict.fromkeys(paid) | {KIM: MOMENT.date(), POWER: MOMENT.date()}
    assert not any(payee.last_paid for payee in await bank.payees(BOB))


async def test_transactions(bank: CoreBank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services.banking.banks.sandbox, "PAGE", 2)
    for n in range(3):
        await bank.transfer(ANN, order(1_000 + n), f"key-{n}")
    wanted = TransactionFilter(account_id=CHECKING, since=MOMENT.date())
    newest = await bank.transactions(ANN, wanted)
    assert [moved.amount.minor for moved in newest] == [-1_002, -1_001, -1_000]
    assert {(moved.merchant, moved.booked_on) for moved in newest} == {("Kim Reed", MOMENT.date())}
    assert len(await bank.transactions(ANN, replace(wanted, limit=2))) == 2
    assert len(await bank.transactions(ANN, replace(wanted, merchant="kim"))) == 3
    assert await bank.transactions(ANN, replace(wanted, merchant="%")) == []
    await change(bank._store, t.payees, name="L'ÉCOLE")  # type: ignore[attr-defined] # every core's
    await bank.transfer(ANN, order(900), "key-4")
    assert len(await bank.transactions(ANN, replace(wanted, merchant="école"))) == 1
    assert len(await bank.transactions(ANN, replace(wanted, at_least=(Money(1_001, "USD"),)))) == 2
    assert len(await bank.transactions(ANN, replace(wanted, at_most=(Money(1_001, "USD"),)))) == 3
    assert await bank.transactions(ANN, replace(wanted, since=MOMENT.date() + timedelta(1))) == []
    assert list(await bank.transactions(ANN, TransactionFilter(account_id=wanted.account_id, limit=0))) == []
    assert await bank.transactions(BOB, wanted) == []


async def test_what_came_in_is_found_however_much_went_out_since(bank: CoreBank) -> None:
    """The bank looks for it, not for it among the newest rows."""
    await bank.transfer(ANN, order(700, payee_id=None, source=SAVINGS, to_account=CHECKING), "in")
    for n in range(6):
        await bank.transfer(ANN, order(1_000 + n), f"out-{n}")
    wanted = TransactionFilter(account_id=CHECKING, since=MOMENT.date(), limit=3, received=True)
    assert [moved.amount.minor for moved in await bank.transactions(ANN, wanted)] == [700]
    to_payees = replace(wanted, received=False, sent=True, limit=9)
    sent = [moved.amount.minor for moved in await bank.transactions(ANN, to_payees)]
    assert sent == [-n for n in range(1_005, 999, -1)]
    anywhere = replace(wanted, account_id=None, at_most=(Money(700, "USD"),))
    assert [moved.amount.minor for moved in await bank.transactions(ANN, anywhere)] == [700]
