"""The circuit breaker's states over time."""

from datetime import UTC, datetime

from services.clock import ManualClock
from services.guard.breaker import BreakerLimits, BreakerState, CircuitBreaker

LIMITS = BreakerLimits(failures=3, rest_s=2.0, longest_rest_s=5.0)


def breaker() -> tuple[CircuitBreaker, ManualClock]:
    clock = ManualClock(datetime(2026, 1, 1, tzinfo=UTC))
    return CircuitBreaker(clock, LIMITS), clock


def opened() -> tuple[CircuitBreaker, ManualClock]:
    guard, clock = breaker()
    for _ in range(3):
        assert guard.admit()
        guard.settle(False)
    return guard, clock


def test_failures_in_a_row_open_it_and_a_success_between_does_not() -> None:
    guard, _ = breaker()
    for outcome in (False, False, True, False, False):
        assert guard.admit()
        guard.settle(outcome)
    assert guard.state is BreakerState.CLOSED
    guard.settle(False)
    assert guard.state is BreakerState.OPEN
    assert not guard.admit()


def test_after_its_rest_one_call_tries() -> None:
    guard, clock = opened()
    clock.advance(1.9)
    assert not guard.admit()
    clock.advance(0.2)
    assert guard.state is BreakerState.HALF_OPEN
    assert guard.admit()
    assert not guard.admit(), "one trial at a time"
    guard.settle(True)
    assert guard.state is BreakerState.CLOSED


def test_a_failed_trial_doubles_the_rest_up_to_its_bound() -> None:
    guard, clock = opened()
    for rest in (2.0, 4.0, 5.0, 5.0):
        clock.advance(rest - 0.1)
        assert not guard.admit()
        clock.advance(0.2)
        assert guard.admit()
        guard.settle(False)
    clock.advance(5.1)
    assert guard.admit()
    guard.settle(True)
    assert guard.state is BreakerState.CLOSED


def test_a_caller_who_leaves_during_the_trial_frees_it() -> None:
    guard, clock = opened()
    clock.advance(2.1)
    assert guard.admit()
    guard.settle(None)
    assert guard.admit()


def test_cancelled_calls_never_open_it() -> None:
    guard, _ = breaker()
    for _ in range(10):
        assert guard.admit()
        guard.settle(None)
    assert guard.state is BreakerState.CLOSED
