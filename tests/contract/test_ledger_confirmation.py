"""What a yes needs to count, on both databases, and what happens when many say it at once."""

import asyncio

import pytest

from schemas.banking import TransferState
from schemas.errors import (
    ConfirmationExpired,
    ConfirmationInvalid,
    ConfirmationUsed,
    LimitExceeded,
    NotDelivered,
    NotFound,
    StoreRefused,
)
from schemas.ids import CallId, ProposalId
from schemas.transfer import TransferReceipt
from services.banking.banks.sandbox import books
from services.banking.tables import transfers
from services.store import Store
from tests.harness.money import (
    ANN,
    BALANCE,
    BOB,
    CALL,
    CHECKING,
    OTHER_CALL,
    PER_TRANSFER,
    House,
    build,
    change,
    held,
    open_bank,
    order,
    spent,
    states,
)


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
    refused = [outcome for outcome in outcomes if isinstance(outcome, ConfirmationUsed)]
    assert refused
    # On a busy machine some get no connection in time: of what they asked for nothing happened.
    assert len(refused) + sum(isinstance(outcome, StoreRefused) for outcome in outcomes) == 49
    assert (await held(house.store))[CHECKING] == BALANCE - 5_000
    assert await spent(house.store) == 5_000
    assert await books(house.store) == {}


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
