"""Limits per transfer and per day, and second factors: when proposing and again when acting, on both databases."""

import asyncio
from datetime import date

import pytest
import sqlalchemy as sa

from schemas.banking import TransferState
from schemas.errors import ConfirmationUsed, LimitExceeded, StepUpRequired
from schemas.stepup import CodeNotSent, proposal_purpose
from services.banking.banks import tables as t
from tests.harness.money import (
    ANN,
    BALANCE,
    CALL,
    CHECKING,
    OTHER_CALL,
    PER_DAY,
    PER_TRANSFER,
    STEP_UP_ABOVE,
    House,
    change,
    held,
    order,
    spent,
    states,
)
from tests.harness.rows import tamper


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
    await tamper(house.store, sa.delete(t.limits))
    with pytest.raises(LimitExceeded):
        await house.ledger.propose(ANN, CALL, order())


async def test_a_later_day_counts_against_that_days_limit(house: House) -> None:
    await change(house.store, t.limits, step_up_above=PER_DAY)
    later = await house.proposed(order(PER_TRANSFER, on=date(2026, 3, 5)))
    await house.ledger.confirm(ANN, CALL, later.id, later.seal)
    with pytest.raises(LimitExceeded):
        await house.ledger.propose(ANN, CALL, order(PER_TRANSFER, on=date(2026, 3, 5)))
    await house.ledger.propose(ANN, CALL, order(PER_TRANSFER))


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


@pytest.mark.parametrize("refused", [True, False])
async def test_a_code_counts_for_the_hour_unless_it_certainly_was_not_sent(house: House, refused: bool) -> None:
    """While the bank's code service is down nobody uses up the codes of an hour; what may have been sent is one."""
    house.sender.fails = CodeNotSent("down", refused=refused)
    for _ in range(house.policy.challenges_per_hour):
        with pytest.raises(CodeNotSent, match="down"):
            await house.step_up.begin(ANN, "card:x")
    house.sender.fails = None
    if refused:
        await house.step_up.begin(ANN, "card:x")
        assert len(await house.step_up.waiting(ANN)) == 1
    else:
        with pytest.raises(CodeNotSent, match="too many"):
            await house.step_up.begin(ANN, "card:x")
