"""Ratios with bootstrap confidence intervals, percentiles and calibration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

RESAMPLES: Final = 1_000
SEED: Final = 20_260_115
_CHUNK: Final = 50
"""Resamples drawn at once: bounds the memory of 100,000 cases to 40 MB."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """`right` of `of`, with the 95 % interval of resampled cases. `value` is None of nothing."""

    right: float
    of: float
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Bin:
    """A bin of a reliability diagram: mean stated probability, share that was right, how many."""

    stated: float
    observed: float
    count: int


@dataclass(frozen=True, slots=True)
class Calibration:
    """Bins, and the expected calibration error weighted by count."""

    bins: tuple[Bin, ...]
    error: float | None


def ratios(cases: Sequence[Mapping[str, tuple[float, float]]], seed: int = SEED) -> dict[str, Ratio]:
    """Sum (right, of) over cases by name, and resample whole cases for the intervals.

    Cases, not turns, are drawn: turns of one call are not independent.
    """
    names = sorted({name for case in cases for name in case})
    if not names:
        return {}
    table = np.zeros((len(cases), len(names), 2))
    column = {name: i for i, name in enumerate(names)}
    for row, case in enumerate(cases):
        for name, pair in case.items():
            table[row, column[name]] = pair
    drawn = _resampled(table, np.random.default_rng(seed))
    sums = table.sum(axis=0)
    return {name: _ratio(sums[i], drawn[:, i]) for i, name in enumerate(names)}


def _resampled(table: NDArray[np.float64], generator: np.random.Generator) -> NDArray[np.float64]:
    """Sums of resampled cases, shape (RESAMPLES, names, 2)."""
    count = table.shape[0]
    flat = table.reshape(count, -1)
    parts = []
    for _ in range(0, RESAMPLES, _CHUNK):
        weights = generator.multinomial(count, np.full(count, 1 / count), size=_CHUNK)
        parts.append(weights.astype(np.float64) @ flat)  # as floats the product runs in BLAS
    return np.concatenate(parts).reshape(RESAMPLES, *table.shape[1:])


def _ratio(total: NDArray[np.float64], drawn: NDArray[np.float64]) -> Ratio:
    right, of = float(total[0]), float(total[1])
    some = drawn[drawn[:, 1] > 0]
    if of == 0 or len(some) == 0:
        return Ratio(right, of, None, None, None)
    low, high = np.percentile(some[:, 0] / some[:, 1], (2.5, 97.5))
    return Ratio(right, of, right / of, float(low), float(high))


def percentiles(values: Sequence[float], at: Sequence[float]) -> dict[float, float]:
    """The percentiles `at` (0 … 100), by linear interpolation; empty of nothing."""
    if not values:
        return {}
    return dict(zip(at, map(float, np.percentile(np.asarray(values), at)), strict=True))


def calibration(pairs: Sequence[tuple[float, bool]], bins: int = 10) -> Calibration:
    """A reliability diagram of (stated probability, was right)."""
    if not pairs:
        return Calibration((), None)
    stated = np.clip([p for p, _ in pairs], 0, 1)
    right = np.asarray([r for _, r in pairs], dtype=float)
    place = np.minimum((stated * bins).astype(int), bins - 1)
    found = [
        Bin(float(stated[place == i].mean()), float(right[place == i].mean()), int((place == i).sum()))
        for i in range(bins)
        if (place == i).any()
    ]
    error = sum(b.count * abs(b.stated - b.observed) for b in found) / len(pairs)
    return Calibration(tuple(found), float(error))
