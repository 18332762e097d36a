"""Admission: past capacity, new work is refused at once with a time to retry; admitted work keeps its latency."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from schemas.errors import Busy, Draining
from services.observability import Metrics

RETRY_AFTER_S = 5.0
"""What a refused caller is told to wait."""


class Admission:
    """Counts what is inside; `limit` is how much may be. Used from one event loop only."""

    def __init__(self, limit: int, metrics: Metrics) -> None:
        self._limit = limit
        self._metrics = metrics
        self._inside = 0
        self.leaving = asyncio.Event()
        self.closing = asyncio.Event()
        self._closes_at = 0.0
        self.empty = asyncio.Event()
        self.empty.set()

    @property
    def inside(self) -> int:
        """How many are inside now."""
        return self._inside

    @property
    def draining(self) -> bool:
        """Whether newcomers are refused because the process is going away."""
        return self.leaving.is_set()

    @property
    def closes_in_s(self) -> float:
        """How long those inside may stay, once `leaving` is set."""
        return max(0.0, self._closes_at - asyncio.get_running_loop().time())

    def drain(self, closes_in_s: float = 0.0) -> None:
        """Refuse every newcomer from now on; those inside are told that they may stay for so long."""
        self._closes_at = asyncio.get_running_loop().time() + closes_in_s
        self.leaving.set()

    def close(self) -> None:
        """The time is over: whoever is inside still is to go."""
        self.closing.set()

    def check(self) -> None:
        """Whether a newcomer would be let in now. Raises Draining, Busy."""
        if self.draining:
            self._metrics.refused.labels("draining").inc()
            raise Draining(retry_after_s=RETRY_AFTER_S)
        if self._inside >= self._limit:
            self._metrics.refused.labels("busy").inc()
            raise Busy("every place is taken", retry_after_s=RETRY_AFTER_S)

    @contextmanager
    def enter(self) -> Iterator[None]:
        """Hold a place for the duration of a block. Raises Draining, Busy."""
        self.check()
        self._inside += 1
        self.empty.clear()
        self._metrics.calls.set(self._inside)
        try:
            yield
        finally:
            self._inside -= 1
            self._metrics.calls.set(self._inside)
            if not self._inside:
                self.empty.set()
