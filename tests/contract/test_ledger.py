"""The one door, on both databases: what opens it, what keeps it shut, and what happens when many push at once."""

import asyncio
from dataclasses import replace
from datetime import date

import pytest
import sqlalchemy as sa

from rules.act import OnVerification
from schemas.banking import PayeeVerification, TransferState
from schemas.errors import (
    ConfirmationExpired,
    ConfirmationInvalid,
    ConfirmationUsed,
    InsufficientFunds,
    LimitExceeded,
    MoneyRefused,
    NotDelivered,
    NotFound,
    PayeeChanged,
    StepUpRequired,
    TellerlineError,
)
from schemas.ids import CallId, ProposalId
from schemas.money import Money
from schemas.stepup import proposal_purpose
from schemas.transfer import TransferReceipt
from services.act import bank_tables as t
from services.act.bank_sandbox import books
from services.act.tables import spending, transfers
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
    OTHER_CALL,
    PER_DAY,
    PER_TRANSFER,
    POWER,
    SAVINGS,
    SILENT,
    STEP_UP_ABOVE,
    STRANGE,
    House,
    build,
    held,
    open_bank,
    order,
    states,
)


@pytest.fixture
async def house(store: Store) -> House:
    await open_bank(store)
    return build(store)


async def spent(store: Store) -> int:
    async with store.read() as connection:
        return (
            await connection.execute(sa.select(sa.func.coalesce(sa.func.sum(spending.c.spent_minor), 0)))
        ).scalar_one()


async def change(store: Store, table: sa.Table, **values: object) -> None:
    async with store.write("test.change") as connection:
        await connection.execute(sa.update(table).values(**values))


async def test_a_heard_yes_moves_the_money_once(house: House) -> None:
    proposal = await house.proposed(order())
    receipt = await house.ledger.confirm(ANN, CALL, proposal.id, proposal.seal)
    assert receipt.state is TransferState.SUCCEEDED
    assert (await held(house.store))[CHECKING] == BALANCE - 5_000
    assert await house.ledger.receipt(ANN, proposal.id) == receipt
    assert await books(house.store) == {}
    with pytest.raises(ConfirmationUsed):
        await house.ledger.confirm(ANN, CALL, proposal.id, proposal.seal)
    assert (await held(house.store))[CHECKING] == BALANCE - 5_000


async def test_a_yes_before_the_read_back_was_heard_moves_nothing(house: House) -> None:
    proposal = await house.ledger.propose(ANN, CALL, order())
    with pytest.raises(NotDelivered):
        await house.ledger.confirm(ANN, CALL, proposal.id, proposal.seal)
    await house.ledger.delivered(ANN, CALL, proposal.id)
    await house.ledger.delivered(ANN, CALL, proposal.id)
    assert (await house.ledger.confirm(ANN, CALL, proposal.id, proposal.seal)).state is TransferState.SUCCEEDED


async def test_a_late_yes_moves_nothing(house: House) -> None:
    proposal = await house.proposed(order())
    house.clock.advance(house.policy.proposal_life_s)
    with pytest.raises(ConfirmationExpired):
        await house.ledger.confirm(ANN, CALL, proposal.id, proposal.seal)
    with pytest.raises(ConfirmationExpired):
        await house.ledger.delivered(ANN, CALL, proposal.id)
    assert await house.ledger.open_proposal(ANN) is None
    await house.reconciler.run_once()
    assert set((await states(house.store)).values()) == {"expired"}
    with pytest.raises(ConfirmationExpired):
        await house.ledger.confirm(ANN, CALL, proposal.id, proposal.seal)


async def test_void_and_a_new_proposal_kill_the_old_one(house: House) -> None:
    first = await house.proposed(order())
    second = await house.proposed(order(6_000))
    with pytest.raises(ConfirmationUsed):
        await house.ledger.confirm(ANN, CALL, first.id, first.seal)
    assert await house.ledger.void(ANN, CALL) == 1
    assert await house.ledger.void(ANN, CALL) == 0
    with pytest.raises(ConfirmationUsed):
        await house.ledger.confirm(ANN, CALL, second.id, second.seal)
    with pytest.raises(ConfirmationUsed):
        await house.ledger.delivered(ANN, CALL, second.id)
    assert (await held(house.store))[CHECKING] == BALANCE


async def test_even_a_refused_correction_takes_back_what_was_said(house: House) -> None:
    first = await house.proposed(order())
    with pytest.raises(LimitExceeded):
        await house.ledger.propose(ANN, CALL, order(PER_TRANSFER + 1))
    with pytest.raises(ConfirmationUsed):
        await house.ledger.confirm(ANN, CALL, first.id, first.seal)


async def test_a_confirmation_fits_only_its_customer_call_and_seal(house: House) -> None:
    proposal = await house.proposed(order())
    other = await house.proposed(order(6_000), OTHER_CALL)
    with pytest.raises(NotFound):
        await house.ledger.confirm(BOB, CALL, proposal.id, proposal.seal)
    for call, seal in ((OTHER_CALL, proposal.seal), (CALL, other.seal), (CALL, ""), (CALL, "é" * 64)):
        with pytest.raises(ConfirmationInvalid):
            await house.ledger.confirm(ANN, call, proposal.id, seal)
    with pytest.raises(NotFound):
        await house.ledger.delivered(ANN, OTHER_CALL, proposal.id)
    assert (await house.ledger.confirm(ANN, CALL, proposal.id, proposal.seal)).state is TransferState.SUCCEEDED


@pytest.mark.parametrize(
    "tampered",
    [
        {"amount_minor": 5_001}, {"currency": "CAD"}, {"payee_id": "power"}, {"payee_version": 2},
        {"source": "ann-savings"}, {"on_date": "2026-03-09"}, {"bill_id": "ann-power"}, {"nonce": "another"},
        {"expires_at": 1_900_000_000_000_000}, {"call_id": "call-2"}, {"step_up_required": True},
        {"payee_id": None, "to_account": "ann-savings"},
    ],
    ids="+".join,
)  # fmt: skip
async def test_a_row_changed_behind_our_back_no_longer_fits_its_seal(
    sqlite_store: Store, tampered: dict[str, object]
) -> None:
    await open_bank(sqlite_store)
    house = build(sqlite_store)
    proposal = await house.proposed(order())
    await change(house.store, transfers, **tampered)
    with pytest.raises(ConfirmationInvalid):
        await house.ledger.confirm(ANN, CallId(str(tampered.get("call_id", CALL))), proposal.id, proposal.seal)
    assert await house.ledger.open_proposal(ANN) is None
    assert await house.ledger.resume(ANN, CallId("call-3")) is None
    assert (await held(house.store))[CHECKING] == BALANCE


async def test_fifty_confirmations_at_once_are_one_transfer(house: House) -> None:
    proposal = await house.proposed(order())
    outcomes = await asyncio.gather(
        *(house.ledger.confirm(ANN, CALL, proposal.id, proposal.seal) for _ in range(50)), return_exceptions=True
    )
    moved = [outcome for outcome in outcomes if isinstance(outcome, TransferReceipt)]
    assert [receipt.state for receipt in moved] == [TransferState.SUCCEEDED]
    assert sum(isinstance(outcome, ConfirmationUsed) for outcome in outcomes) == 49
    assert (await held(house.store))[CHECKING] == BALANCE - 5_000
    assert await spent(house.store) == 5_000
    assert await books(house.store) == {}


async def test_two_transfers_racing_the_days_limit(house: House) -> None:
    each = PER_DAY // 2 + 1_000
    await change(house.store, t.limits, step_up_above=PER_DAY)
    calls = [CALL, OTHER_CALL]
    proposals = [await house.proposed(order(each), call) for call in calls]
    outcomes = await asyncio.gather(
        *(house.ledger.confirm(ANN, p.call, p.id, p.seal) for p in proposals), return_exceptions=True
    )
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["LimitExceeded", "TransferReceipt"]
    assert (await held(house.store))[CHECKING] == BALANCE - each
    assert await spent(house.store) == each
    assert sorted((await states(house.store)).values()) == ["cancelled", "succeeded"]


async def test_limits_when_proposing(house: House) -> None:
    with pytest.raises(LimitExceeded):
        await house.ledger.propose(ANN, CALL, order(PER_TRANSFER + 1))
    await change(house.store, t.limits, step_up_above=PER_DAY)
    first = await house.proposed(order(PER_TRANSFER))
    await house.ledger.confirm(ANN, CALL, first.id, first.seal)
    with pytest.raises(LimitExceeded):
        await house.ledger.propose(ANN, CALL, order(PER_DAY - PER_TRANSFER + 1))
    await house.ledger.propose(ANN, CALL, order(PER_DAY - PER_TRANSFER))
    house.clock.advance(24 * 3600)
    await house.ledger.propose(ANN, CALL, order(PER_TRANSFER))


async def test_limits_when_acting(house: House) -> None:
    proposal = await house.proposed(order())
    await change(house.store, t.limits, per_transfer=4_999)
    with pytest.raises(LimitExceeded):
        await house.ledger.confirm(ANN, CALL, proposal.id, proposal.seal)
    with pytest.raises(ConfirmationUsed):
        await house.ledger.confirm(ANN, CALL, proposal.id, proposal.seal)
    assert (await held(house.store))[CHECKING] == BALANCE


async def test_a_currency_without_limits_is_not_unlimited(house: House) -> None:
    async with house.store.write("test.forget") as connection:
        await connection.execute(sa.delete(t.limits))
    with pytest.raises(LimitExceeded):
        await house.ledger.propose(ANN, CALL, order())


@pytest.mark.parametrize(
    ("wanted", "refusal"),
    [
        (order(0), MoneyRefused),
        (order(-5), MoneyRefused),
        (order(BALANCE + 1), InsufficientFunds),
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


async def test_above_the_limit_a_second_factor_is_due(house: House) -> None:
    proposal = await house.proposed(order(STEP_UP_ABOVE + 1))
    assert proposal.step_up_required
    with pytest.raises(StepUpRequired):
        await house.ledger.confirm(ANN, CALL, proposal.id, proposal.seal)
    challenge = await house.step_up.begin(ANN, proposal_purpose(proposal.id))
    assert await house.step_up.verify(ANN, challenge, house.sender.codes[challenge.id])
    assert (await house.ledger.confirm(ANN, CALL, proposal.id, proposal.seal)).state is TransferState.SUCCEEDED
    again = await house.proposed(order(STEP_UP_ABOVE + 1))
    with pytest.raises(StepUpRequired):
        await house.ledger.confirm(ANN, CALL, again.id, again.seal)


async def test_a_second_factor_that_became_due_after_the_read_back(house: House) -> None:
    proposal = await house.proposed(order())
    await change(house.store, t.limits, step_up_above=10)
    with pytest.raises(StepUpRequired):
        await house.ledger.confirm(ANN, CALL, proposal.id, proposal.seal)


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


async def test_a_later_day_counts_against_that_days_limit(house: House) -> None:
    await change(house.store, t.limits, step_up_above=PER_DAY)
    later = await house.proposed(order(PER_TRANSFER, on=date(2026, 3, 5)))
    await house.ledger.confirm(ANN, CALL, later.id, later.seal)
    with pytest.raises(LimitExceeded):
        await house.ledger.propose(ANN, CALL, order(PER_TRANSFER, on=date(2026, 3, 5)))
    await house.ledger.propose(ANN, CALL, order(PER_TRANSFER))


async def test_a_proposal_outlives_its_call_but_not_its_seal(house: House) -> None:
    old = await house.proposed(order())
    assert await house.ledger.open_proposal(ANN) == old.__class__(**_fields(old) | {"delivered_at": house.clock.now()})
    restarted = build(house.store, house.clock)
    fresh = await restarted.ledger.resume(ANN, OTHER_CALL)
    assert fresh is not None
    assert (fresh.order, fresh.expires_at, fresh.delivered_at) == (old.order, old.expires_at, None)
    assert len({old.id, fresh.id}) == len({old.nonce, fresh.nonce}) == len({old.seal, fresh.seal}) == 2
    for seal in (old.seal, fresh.seal):
        with pytest.raises((ConfirmationUsed, ConfirmationInvalid)):
            await restarted.ledger.confirm(ANN, CALL, old.id, seal)
    with pytest.raises(NotDelivered):
        await restarted.ledger.confirm(ANN, OTHER_CALL, fresh.id, fresh.seal)
    assert await restarted.ledger.resume(ANN, OTHER_CALL) == fresh
    assert await restarted.ledger.resume(BOB, CallId("call-b")) is None
    await restarted.ledger.delivered(ANN, OTHER_CALL, fresh.id)
    assert (await restarted.ledger.confirm(ANN, OTHER_CALL, fresh.id, fresh.seal)).state is TransferState.SUCCEEDED
    assert await restarted.ledger.resume(ANN, CallId("call-3")) is None


def _fields(value: object) -> dict[str, object]:
    return {name: getattr(value, name) for name in value.__slots__}  # type: ignore[attr-defined] # a slots dataclass


async def test_calls_racing_to_resume_leave_one_live_proposal(house: House) -> None:
    await house.proposed(order())
    calls = [CallId(f"resumed-{n}") for n in range(8)]
    outcomes = await asyncio.gather(*(house.ledger.resume(ANN, call) for call in calls), return_exceptions=True)
    live = [state for state in (await states(house.store)).values() if state == "proposed"]
    assert len(live) == 1
    final = await house.ledger.open_proposal(ANN)
    assert final in outcomes


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


async def test_what_is_not_there(house: House) -> None:
    ghost = ProposalId("ghost")
    for attempt in (
        house.ledger.receipt(ANN, ghost),
        house.ledger.confirm(ANN, CALL, ghost, ""),
        house.ledger.delivered(ANN, CALL, ghost),
    ):
        with pytest.raises(NotFound):
            await attempt
    assert await house.ledger.open_proposal(ANN) is None


async def test_a_day_begins_where_the_customer_lives(house: House) -> None:
    """15:00 UTC on the 4th; ten hours on it is the 5th in UTC and still the 4th in New York."""
    await change(house.store, t.limits, step_up_above=PER_DAY)
    first = await house.proposed(order(PER_TRANSFER))
    await house.ledger.confirm(ANN, CALL, first.id, first.seal)
    house.clock.advance(10 * 3600)
    with pytest.raises(LimitExceeded):
        await house.ledger.propose(ANN, CALL, order(PER_TRANSFER))
    house.clock.advance(4 * 3600)
    await house.ledger.propose(ANN, CALL, order(PER_TRANSFER))
