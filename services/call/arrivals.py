"""When a call's sound arrived: a turn is timed from the arrival of its last sound, not from when it was worked on."""

from collections import deque
from typing import Final

from schemas.audio import SAMPLE_RATE
from services.ports import Clock

_KEPT: Final = 512
"""Chunks whose arrival is remembered."""
_PER_MS: Final = SAMPLE_RATE // 1000


class Arrivals:
    """The latest chunks of one stream. Samples are counted at 16 kHz; times are seconds of the call's clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._chunks: deque[tuple[int, float]] = deque(maxlen=_KEPT)

    def note(self, received: int, at: float) -> None:
        """A chunk arrived; with it, `received` samples have."""
        self._chunks.append((received, at))

    def of(self, at_ms: int) -> float:
        """When the sample at `at_ms` of the call's audio had arrived; now, where that is not known."""
        wanted = at_ms * _PER_MS
        for received, at in self._chunks:
            if received >= wanted:
                return at
        return self._clock.monotonic()
