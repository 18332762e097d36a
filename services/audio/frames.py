"""Frames in order: a reorder window for numbered frames, and the cutter that hands the VAD its 32 ms."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from schemas.audio import Samples

VAD_FRAME: Final = 512
"""Samples in one VAD frame: 32 ms."""
REORDER_FRAMES: Final = 8
"""How many frames may wait for a missing one."""
MAX_GAP_FRAMES: Final = 50
"""A larger jump in the numbers is a restart of the count, not a loss."""


class Reorder:
    """Puts numbered frames in order, drops late and double ones, fills lost ones with silence of the same length."""

    def __init__(self) -> None:
        self._next: int | None = None
        self._waiting: dict[int, Samples] = {}
        self.lost = 0
        self.late = 0

    def push(self, number: int, frame: Samples) -> list[Samples]:
        """The frames that can go on now, in order."""
        if self._next is None or abs(number - self._next) > MAX_GAP_FRAMES:
            self._waiting.clear()
            self._next = number
        if number < self._next or number in self._waiting:
            self.late += 1
            return []
        self._waiting[number] = frame
        ready = list(self._in_order())
        if len(self._waiting) > REORDER_FRAMES:
            ready += self._give_up()
        return ready

    def _in_order(self) -> Iterator[Samples]:
        while self._next is not None and self._next in self._waiting:
            yield self._waiting.pop(self._next)
            self._next += 1

    def _give_up(self) -> list[Samples]:
        """Take what is missing before the first waiting frame for lost."""
        assert self._next is not None
        first = min(self._waiting)
        missing = first - self._next
        self.lost += missing
        silence = np.zeros_like(self._waiting[first])
        self._next = first
        return [*([silence] * missing), *self._in_order()]


class Cutter:
    """Cuts a stream of any chunk size into VAD frames."""

    def __init__(self) -> None:
        self._rest: Samples = np.zeros(0, dtype=np.float32)

    @property
    def pending(self) -> int:
        """Samples received that do not fill a frame yet."""
        return self._rest.size

    def push(self, samples: Samples) -> Samples:
        """The whole frames that `samples` complete, shape (512·n,)."""
        line = np.concatenate((self._rest, samples)) if self._rest.size else samples
        whole = line.size - line.size % VAD_FRAME
        self._rest = line[whole:].copy()
        return line[:whole]
