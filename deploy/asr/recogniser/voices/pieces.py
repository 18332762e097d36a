"""What is said anew of pieces of recordings: where which sequences occur, and how one piece fades into the next."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

RATE = 16_000


class Sequences:
    """Where every sequence of up to `most` words (or phones) occurs, in rows that are counted as they are added."""

    def __init__(self, most: int) -> None:
        self.most, self.rows = most, 0
        self.found: defaultdict[tuple[str, ...], list[tuple[int, int]]] = defaultdict(list)

    def add(self, row: Sequence[str]) -> None:
        """Take in one more row."""
        for size in range(1, self.most + 1):
            for at in range(len(row) - size + 1):
                self.found[tuple(row[at : at + size])].append((self.rows, at))
        self.rows += 1

    def longest(self, wanted: Sequence[str]) -> int:
        """How many of the first ones occur together; KeyError where not even the first does."""
        for size in range(min(self.most, len(wanted)), 0, -1):
            if tuple(wanted[:size]) in self.found:
                return size
        raise KeyError(wanted[0])

    def places(self, wanted: Sequence[str]) -> list[tuple[int, int]]:
        """(row, first place) of each time that these occur together."""
        return self.found[tuple(wanted)]


def faded(before: np.ndarray, after: np.ndarray, width: int) -> np.ndarray:
    """float32 sound of both, overlapping by `width` samples, fewer where one is shorter."""
    width = min(width, len(before), len(after))
    ramp = np.linspace(0, 1, width, dtype=np.float32)
    kept = len(before) - width
    return np.concatenate([before[:kept], before[kept:] * ramp[::-1] + after[:width] * ramp, after[width:]])
