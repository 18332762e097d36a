"""A circuit breaker: after repeated failures a dependency is left alone for a while, then tried by one call."""

from dataclasses import dataclass
from enum import StrEnum

from services.ports import Clock


class BreakerState(StrEnum):
    """CLOSED lets calls through, OPEN none, HALF_OPEN one at a time."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@dataclass(frozen=True, slots=True)
class BreakerLimits:
    """Open after `failures` in a row; try again after `rest_s`, doubled at each failed trial up to `longest_rest_s`."""

    failures: int = 5
    rest_s: float = 2.0
    longest_rest_s: float = 30.0


class CircuitBreaker:
    """`Breaker` on consecutive failures. For one event loop; nothing in it awaits."""

    def __init__(self, clock: Clock, limits: BreakerLimits | None = None) -> None:
        self._clock = clock
        self._limits = limits or BreakerLimits()
        self._failures = 0
        self._rest_s = self._limits.rest_s
        self._opened_at: float | None = None
        self._trial_running = False

    @property
    def state(self) -> BreakerState:
        """The state as of now."""
        if self._opened_at is None:
            return BreakerState.CLOSED
        rested = self._clock.monotonic() - self._opened_at >= self._rest_s
        return BreakerState.HALF_OPEN if rested or self._trial_running else BreakerState.OPEN

    def admit(self) -> bool:
        """Whether a call may be made now; every True is to be followed by one `settle`."""
        state = self.state
        if state is BreakerState.HALF_OPEN:
            if self._trial_running:
                return False
            self._trial_running = True
            return True
        return state is BreakerState.CLOSED

    def settle(self, ok: bool | None) -> None:
        """How an admitted call ended; None when the caller went away, which says nothing of the dependency."""
        trial, self._trial_running = self._trial_running, False
        if ok:
            self._failures, self._opened_at, self._rest_s = 0, None, self._limits.rest_s
        elif ok is False:
            self._failures += 1
            if trial:
                self._rest_s = min(self._rest_s * 2, self._limits.longest_rest_s)
            if trial or self._failures >= self._limits.failures:
                self._opened_at = self._clock.monotonic()
