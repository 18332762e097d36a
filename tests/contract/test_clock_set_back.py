"""The wall clock is set back while the service runs: nothing lives longer for it, and nobody is kept out for it."""

from datetime import UTC, datetime, timedelta

import pytest

from schemas.errors import RateLimited
from schemas.ids import CallId, CustomerId
from services.guard.shared_calls import LEASE, SharedCalls
from services.guard.shared_rates import SharedRates
from services.guard.shares import Allowance
from services.store import Store
from services.timing import ManualClock
from tests.harness.attack_tools import a_house, an_unreliable_house, say_yes
from tests.harness.money import ANN, order

NOW = datetime(2026, 3, 4, 15, 0, tzinfo=UTC)
HOUR_S = 3600.0
KIM = CustomerId("kim")


async def test_a_code_and_a_pass_live_no_longer(store: Store) -> None:
    house = await a_house(store)
    challenge = await house.step_up.begin(ANN, "transfer:1")
    house.clock.advance(-HOUR_S)
    assert not await house.step_up.waiting(ANN)
    assert not await house.step_up.verify(ANN, challenge, house.sender.codes[challenge.id])
    house.clock.advance(HOUR_S)
    assert await house.step_up.verify(ANN, challenge, house.sender.codes[challenge.id])
    house.clock.advance(-HOUR_S)
    assert not await house.step_up.passed(ANN, "transfer:1")
    house.clock.advance(HOUR_S)
    assert await house.step_up.passed(ANN, "transfer:1"), "nothing was spent meanwhile"


async def test_what_the_bank_may_have_forgotten_is_not_sent_again(store: Store) -> None:
    house, bank = await an_unreliable_house(store, "lost_request")
    await say_yes(house, await house.proposed(order()))
    house.clock.advance(-24 * HOUR_S)
    for _ in range(3):
        await house.reconciler.run_once()
        house.clock.advance(HOUR_S)
    assert len(bank.sent) == 1, "nobody knows how long ago it was sent"
    house.clock.advance(22 * HOUR_S)
    await house.reconciler.run_once()
    assert len(bank.sent) == 2


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


@pytest.fixture
def rates(store: Store, clock: ManualClock) -> SharedRates:
    if store.embedded:
        pytest.skip("an embedded database has one gateway, which counts by itself")
    return SharedRates(store, clock, Allowance(4, 6, 6, 6))


async def test_who_called_before_is_not_kept_out_for_an_hour(rates: SharedRates, clock: ManualClock) -> None:
    await rates.request(KIM)
    clock.advance(-HOUR_S)
    for _ in range(2):
        await rates.request(KIM)
    told = [one for one in [await _asked(rates) for _ in range(10)] if one is not None]
    assert told, "the bound is the same"
    assert max(told) <= 60


async def _asked(rates: SharedRates) -> float | None:
    """After how long to ask again, where this one was too many."""
    try:
        await rates.request(KIM)
    except RateLimited as refused:
        return refused.retry_after_s
    return None


async def test_calls_of_a_gateway_that_died_do_not_count_for_an_hour(
    store: Store, rates: SharedRates, clock: ManualClock
) -> None:
    died, other = (SharedCalls(store, clock, 1, rates) for _ in range(2))
    await died.call(KIM, CallId("one")).__aenter__()
    with pytest.raises(RateLimited):
        await other._enter(KIM, CallId("two"))
    clock.advance(-HOUR_S)
    async with other.call(KIM, CallId("three")):
        await other.renew()
        clock.advance(timedelta(seconds=10).total_seconds())
        with pytest.raises(RateLimited):
            await died._enter(KIM, CallId("four"))


async def test_calls_count_again_once_a_database_that_was_away_for_longer_than_a_lease_answers(
    store: Store, rates: SharedRates, clock: ManualClock
) -> None:
    here, other = (SharedCalls(store, clock, 2, rates) for _ in range(2))
    async with here.call(KIM, CallId("one")):
        clock.advance(LEASE.total_seconds() + 1)
        async with other.call(KIM, CallId("two")):
            await here.renew()
            with pytest.raises(RateLimited):
                await other._enter(KIM, CallId("three"))
