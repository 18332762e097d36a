"""A proposal outlives its call: another call takes it up, on both databases."""

import asyncio

import pytest

from schemas.banking import TransferState
from schemas.errors import ConfirmationInvalid, ConfirmationUsed, NotDelivered
from schemas.ids import CallId
from services.banking.tables import transfers
from tests.harness.money import ANN, BOB, CALL, OTHER_CALL, House, build, change, held, order, states


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


async def test_what_was_booked_in_a_part_that_the_database_lost_is_not_booked_by_another_call(house: House) -> None:
    old, before = await house.proposed(order()), await held(house.store)
    for call, proposal in ((CALL, old), (OTHER_CALL, None)):
        heard = proposal or await house.ledger.resume(ANN, call)
        assert heard is not None
        await house.ledger.delivered(ANN, call, heard.id)
        assert (await house.ledger.confirm(ANN, call, heard.id, heard.seal)).state is TransferState.SUCCEEDED
        if proposal is not None:
            moved = await held(house.store)
            assert moved != before
            await change(house.store, transfers, state="proposed", owed_at=None)  # an older copy was put in its place
    assert await held(house.store) == moved


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
