"""A circuit breaker: after repeated failures a dependency is left alone for a while, then tried by one call."""

from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Final

from services.ports import Clock, Settle


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


NEVER_OPENS: Final = BreakerLimits(failures=10**6)
"""For measuring: every request goes out, however the ones before it ended."""


class CircuitBreaker:
    """`Breaker` on consecutive failures. For one event loop; nothing in it awaits."""

    def __init__(self, clock: Clock, limits: BreakerLimits | None = None) -> None:
        self._clock = clock
        self._limits = limits or BreakerLimits()
        self._failures = 0
        self._rest_s = self._limits.rest_s
        self._opened_at: float | None = None
        self._trial_running = False
        self._epoch = 0

    @property
    def state(self) -> BreakerState:
        """The state as of now."""
        if self._opened_at is None:
            return BreakerState.CLOSED
        rested = self._clock.monotonic() - self._opened_at >= self._rest_s
        return BreakerState.HALF_OPEN if rested or self._trial_running else BreakerState.OPEN

    def admit(self) -> Settle | None:
        """What settles the call that may be made now; None where none may."""
        state = self.state
        if state is BreakerState.CLOSED:
            return partial(self._settle, self._epoch)
        if state is BreakerState.OPEN or self._trial_running:
            return None
        self._trial_running = True
        return self._settle_trial

    def _settle(self, epoch: int, ok: bool | None) -> None:
        """A call of a time before it last opened is no news, however it ended."""
        if ok is None or epoch != self._epoch:
            return
        self._failures = 0 if ok else self._failures + 1
        if self._failures >= self._limits.failures:
            self._open()

    def _settle_trial(self, ok: bool | None) -> None:
        self._trial_running = False
        if ok:
            self._failures, self._opened_at, self._rest_s = 0, None, self._limits.rest_s
        elif ok is False:
            self._rest_s = min(self._rest_s * 2, self._limits.longest_rest_s)
            self._open()

    def _open(self) -> None:
        self._opened_at = self._clock.monotonic()
        self._epoch += 1
