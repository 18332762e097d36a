"""The circuit breaker's states over time."""

from contextlib import suppress
from datetime import UTC, datetime
from unittest.mock import Mock

import pytest

from schemas.errors import Busy, ModelUnavailable, NotReady, TimedOut
from services.guard.attempts import Attempts
from services.guard.breaker import BreakerLimits, BreakerState, CircuitBreaker
from services.timing.clock import ManualClock

LIMITS = BreakerLimits(failures=3, rest_s=2.0, longest_rest_s=5.0)


def breaker() -> tuple[CircuitBreaker, ManualClock]:
    clock = ManualClock(datetime(2026, 1, 1, tzinfo=UTC))
    return CircuitBreaker(clock, LIMITS), clock


def call(guard: CircuitBreaker, ok: bool | None) -> None:
    """An admitted call that ends at once."""
    settle = guard.admit()
    assert settle is not None
    settle(ok)


def opened() -> tuple[CircuitBreaker, ManualClock]:
    guard, clock = breaker()
    for _ in range(3):
        call(guard, False)
    return guard, clock


def test_failures_in_a_row_open_it_and_a_success_between_does_not() -> None:
    guard, _ = breaker()
    for outcome in (False, False, True, False, False):
        call(guard, outcome)
    assert guard.state is BreakerState.CLOSED
    call(guard, False)
    assert guard.state is BreakerState.OPEN
    assert guard.admit() is None


def test_after_its_rest_one_call_tries() -> None:
    guard, clock = opened()
    clock.advance(1.9)
    assert guard.admit() is None
    clock.advance(0.2)
    assert guard.state is BreakerState.HALF_OPEN
    settle = guard.admit()
    assert settle is not None
    assert guard.admit() is None, "one trial at a time"
    settle(True)
    assert guard.state is BreakerState.CLOSED


def test_a_failed_trial_doubles_the_rest_up_to_its_bound() -> None:
    guard, clock = opened()
    for rest in (2.0, 4.0, 5.0, 5.0):
        clock.advance(rest - 0.1)
        assert guard.admit() is None
        clock.advance(0.2)
        call(guard, False)
    clock.advance(5.1)
    call(guard, True)
    assert guard.state is BreakerState.CLOSED


def test_a_caller_who_leaves_during_the_trial_frees_it() -> None:
    guard, clock = opened()
    clock.advance(2.1)
    call(guard, None)
    assert guard.admit() is not None


def test_cancelled_calls_never_open_it() -> None:
    guard, _ = breaker()
    for _ in range(10):
        call(guard, None)
    assert guard.state is BreakerState.CLOSED


@pytest.mark.parametrize("late", [True, False, None])
def test_a_call_from_before_it_opened_is_no_trial(late: bool | None) -> None:
    guard, clock = breaker()
    settle = guard.admit()
    assert settle is not None
    for _ in range(3):
        call(guard, False)
    settle(late)
    assert guard.state is BreakerState.OPEN
    clock.advance(2.1)
    trial = guard.admit()
    assert trial is not None
    settle(late)
    assert guard.admit() is None, "the trial still runs"
    trial(True)
    assert guard.state is BreakerState.CLOSED


@pytest.mark.parametrize(
    ("learned", "end", "told"),
    [
        (None, None, True),
        (None, ModelUnavailable("down"), False),
        (True, TimedOut("late"), False),
        (None, GeneratorExit(), None),
        (True, GeneratorExit(), True),
    ],
)
def test_how_a_call_ends_is_told_once_and_makes_room(
    learned: bool | None, end: BaseException | None, told: bool | None
) -> None:
    settled: list[bool | None] = []
    calls = Attempts(Mock(admit=Mock(side_effect=[settled.append, None])), 1)
    with suppress(ModelUnavailable, TimedOut, GeneratorExit), calls.begin(Busy(""), NotReady("")) as attempt:
        with pytest.raises(Busy), calls.begin(Busy(""), NotReady("")):
            pass
        attempt.ok = learned
        if end is not None:
            raise end
    assert settled == [told]
    with pytest.raises(NotReady), calls.begin(Busy(""), NotReady("")):
        pass
