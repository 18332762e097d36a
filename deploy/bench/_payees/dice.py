"""Chance, from a seed."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")


class Dice:
    """A seeded generator with the few draws a confusion set needs."""

    def __init__(self, *seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def luck(self) -> float:
        """Between 0 and 1."""
        return float(self._rng.random())

    def chance(self, share: float) -> bool:
        """True in this share of draws."""
        return self.luck() < share

    def below(self, limit: int) -> int:
        """A whole number from 0 up to, not including, `limit`."""
        return int(self._rng.integers(limit))

    def one(self, options: Sequence[T]) -> T:
        """One of some options."""
        return options[self.below(len(options))]

    def weighted(self, options: Sequence[T], weights: Sequence[float]) -> T:
        """One of some options, by weight."""
        ends = np.cumsum(weights)
        return options[int(np.searchsorted(ends, self.luck() * ends[-1], side="right"))]

    def some(self, options: Sequence[T], count: int) -> list[T]:
        """`count` different ones of some options (all, when there are no more)."""
        return [options[int(place)] for place in self._rng.permutation(len(options))[:count]]

    def gumbel(self) -> float:
        """A standard Gumbel draw: added to scores, it makes the greatest a draw by their exponentials."""
        return float(self._rng.gumbel())
