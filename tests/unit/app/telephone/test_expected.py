"""An announced call is its customer's once, for a minute; what becomes of it can be asked for afterwards."""

import pytest

from app.transports.telephone import expected
from app.transports.telephone.connection import Ending
from app.transports.telephone.expected import KEPT_S, LIFE_S, ExpectedCalls
from schemas.errors import Busy, NotFound
from schemas.ids import CustomerId
from services.timing.clock import ManualClock
from tests.harness.money import ANN, BOB, START


async def test_it_is_its_customers_once() -> None:
    calls = ExpectedCalls(ManualClock(START))
    first, second = calls.announce(ANN), calls.announce(BOB)
    assert first != second
    assert await calls.take(second, second) == BOB
    assert await calls.take(first, first) == ANN
    assert await calls.take(first, first) is None
    assert await calls.take("00000000-0000-4000-8000-000000000001", "") is None


async def test_it_has_to_come_within_a_minute() -> None:
    clock = ManualClock(START)
    calls = ExpectedCalls(clock)
    identity = calls.announce(ANN)
    clock.advance(LIFE_S + 1)
    assert await calls.take(identity, identity) is None


def test_its_outcome_is_told_once_it_is_over() -> None:
    clock = ManualClock(START)
    calls = ExpectedCalls(clock)
    identity = calls.announce(ANN)
    with pytest.raises(NotFound):
        calls.outcome(identity)
    calls.ended(identity, Ending.TRANSFER)
    assert calls.outcome(identity) is Ending.TRANSFER
    calls.ended("a stranger's", Ending.END)
    assert calls.outcome("a stranger's") is Ending.END
    clock.advance(KEPT_S + 1)
    calls.announce(BOB)
    with pytest.raises(NotFound):
        calls.outcome(identity)


def test_there_is_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expected, "MAX_EXPECTED", 3)
    calls = ExpectedCalls(ManualClock(START))
    ids = [calls.announce(CustomerId(str(number))) for number in range(3)]
    with pytest.raises(Busy):
        calls.announce(ANN)
    calls.ended("a stranger's", Ending.END)
    with pytest.raises(NotFound):
        calls.outcome(ids[0])
    assert calls.outcome("a stranger's") is Ending.END
