"""An announced call is its customer's once, for a minute, at any gateway; afterwards it tells what becomes of it."""

import asyncio

import pytest
import sqlalchemy as sa

from schemas.errors import Busy, NotFound
from schemas.ids import CustomerId
from services.guard import expected_calls
from services.guard.expected_calls import KEPT, LIFE, ExpectedCalls
from services.store import Store
from services.timing import ManualClock
from tests.harness.money import ANN, BOB, START
from tests.harness.rows import rows


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


@pytest.fixture
def calls(store: Store, clock: ManualClock) -> ExpectedCalls:
    return ExpectedCalls(store, clock)


async def test_it_is_its_customers_once(calls: ExpectedCalls) -> None:
    first, second = await calls.announce(ANN), await calls.announce(BOB)
    assert first != second
    assert await calls.take(second, second) == BOB
    assert await calls.take(first, first) == ANN
    assert await calls.take(first, first) is None
    assert await calls.take("00000000-0000-4000-8000-000000000001", "") is None


async def test_of_a_race_of_six_exactly_one_takes_it(store: Store, calls: ExpectedCalls, clock: ManualClock) -> None:
    for _ in range(10):
        identity = await calls.announce(ANN)
        doors = [ExpectedCalls(store, clock) for _ in range(6)]
        taken = await asyncio.gather(*(door.take(identity, "") for door in doors))
        assert sorted(map(str, taken)) == sorted([str(ANN), *["None"] * 5])


async def test_another_gateway_knows_it(calls: ExpectedCalls, clock: ManualClock, database_url: str) -> None:
    identity = await calls.announce(ANN)
    other = Store(database_url)
    try:
        elsewhere = ExpectedCalls(other, clock)
        assert await elsewhere.take(identity, "") == ANN
        await elsewhere.ended(identity, "transfer")
    finally:
        await other.close()
    assert await calls.outcome(identity) == "transfer"


@pytest.mark.parametrize("seconds", [LIFE.total_seconds() + 1, -60.0])
async def test_it_has_to_come_within_a_minute(calls: ExpectedCalls, clock: ManualClock, seconds: float) -> None:
    identity = await calls.announce(ANN)
    clock.advance(seconds)
    assert await calls.take(identity, identity) is None


async def test_its_outcome_is_told_once_it_is_over(store: Store, calls: ExpectedCalls, clock: ManualClock) -> None:
    identity = await calls.announce(ANN)
    with pytest.raises(NotFound):
        await calls.outcome(identity)
    await calls.ended(identity, "transfer")
    assert await calls.outcome(identity) == "transfer"
    await calls.ended("a stranger's", "end")
    assert await calls.outcome("a stranger's") == "end"
    clock.advance(KEPT.total_seconds() + 1)
    await calls.announce(BOB)
    with pytest.raises(NotFound):
        await calls.outcome(identity)
    assert len(await rows(store, sa.select(expected_calls.expected_calls))) == 1


async def test_there_is_a_bound_of_those_that_may_still_come(
    calls: ExpectedCalls, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expected_calls, "MAX_EXPECTED", 3)
    for number in range(5):
        await calls.take(await calls.announce(CustomerId(str(number))), "")
        await calls.ended(f"a stranger's {number}", "end")
    for number in range(3):
        await calls.announce(CustomerId(str(number)))
    with pytest.raises(Busy):
        await calls.announce(ANN)
    clock.advance(LIFE.total_seconds() + 1)
    await calls.announce(ANN)


async def test_there_is_one_of_outcomes_and_the_oldest_goes(
    calls: ExpectedCalls, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expected_calls, "MAX_ENDED", 3)
    for number in range(4):
        clock.advance(1)
        await calls.ended(str(number), "end")
    assert [await calls.outcome(str(number)) for number in (1, 2, 3)] == ["end"] * 3
    with pytest.raises(NotFound):
        await calls.outcome("0")
