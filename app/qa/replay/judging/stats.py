"""Ratios with confidence intervals, tests of paired runs, percentiles and calibration."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import comb, exp, lgamma, log, log1p
from typing import Final

import numpy as np
from numpy.typing import NDArray

RESAMPLES: Final = 1_000
SEED: Final = 20_260_115
FEW: Final = 10
"""Below so many, right or wrong, resampling claims too much: the interval is then the exact one."""
LEVEL: Final = 0.95
_CHUNK: Final = 50
"""Resamples drawn at once: bounds the memory of 100,000 cases to 40 MB."""


Pair = tuple[float, float]
"""Right, and of how many."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """`right` of `of`, with its 95 % interval: of resampled cases, and never narrower than the exact one of few.

    `value` is None of nothing.
    """

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
class CalibrationCurve:
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
    low, high = map(float, np.percentile(some[:, 0] / some[:, 1], (2.5, 97.5)))
    if right <= of and min(right, of - right) < FEW:
        exact = clopper_pearson(round(right), round(of))
        low, high = min(low, exact[0]), max(high, exact[1])
    return Ratio(right, of, right / of, low, high)


def clopper_pearson(count: int, of: int, level: float = LEVEL) -> tuple[float, float]:
    """The exact interval of a share: 0 of 547 is 0 to 0.67 %. (0, 1) of nothing."""
    if of == 0:
        return 0.0, 1.0
    tail = (1 - level) / 2
    low = 0.0 if count == 0 else _root(lambda p: 1 - _at_most(count - 1, of, p) - tail)
    high = 1.0 if count == of else _root(lambda p: tail - _at_most(count, of, p))
    return low, high


def _root(rising: Callable[[float], float]) -> float:
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if rising(middle) > 0 else (middle, high)
    return (low + high) / 2


def _at_most(count: int, of: int, p: float) -> float:
    """The probability of at most `count` of `of` at a share of `p` (0 < p < 1); the shorter tail is summed."""
    if count > of // 2:
        return 1 - _at_most(of - count - 1, of, 1 - p) if count < of else 1.0
    whole = lgamma(of + 1)
    logs = (whole - lgamma(k + 1) - lgamma(of - k + 1) + k * log(p) + (of - k) * log1p(-p) for k in range(count + 1))
    return min(1.0, sum(map(exp, logs)))


def mcnemar(worse: int, better: int) -> float:
    """How likely a split at least as uneven is where nothing changed: the exact two-sided p of McNemar's test."""
    of, least = worse + better, min(worse, better)
    ways = sum(comb(of, k) for k in range(least + 1))
    return min(1.0, float(2 * ways / 2**of))


@dataclass(frozen=True, slots=True)
class Shift:
    """A ratio's change between two runs of the same cases: its 95 % interval, and the two-sided p of no change."""

    change: float
    low: float
    high: float
    p: float


def paired(before: Sequence[Pair], after: Sequence[Pair], seed: int = SEED) -> Shift | None:
    """The change of a ratio over cases in the same order, by resampling cases as pairs; None of nothing."""
    table = np.stack([np.asarray(before, dtype=float), np.asarray(after, dtype=float)], axis=1)
    sums = table.sum(axis=0)
    if len(table) == 0 or (sums[:, 1] == 0).any():
        return None
    drawn = _resampled(table, np.random.default_rng(seed))
    some = drawn[(drawn[:, :, 1] > 0).all(axis=1)]
    moved = some[:, 1, 0] / some[:, 1, 1] - some[:, 0, 0] / some[:, 0, 1]
    low, high = map(float, np.percentile(moved, (2.5, 97.5)))
    p = min(1.0, 2 * (1 + min(int((moved <= 0).sum()), int((moved >= 0).sum()))) / (1 + len(moved)))
    return Shift(float(sums[1, 0] / sums[1, 1] - sums[0, 0] / sums[0, 1]), low, high, p)


def percentiles(values: Sequence[float], at: Sequence[float]) -> dict[float, float]:
    """The percentiles `at` (0 … 100), by linear interpolation; empty of nothing."""
    if not values:
        return {}
    return dict(zip(at, map(float, np.percentile(np.asarray(values), at)), strict=True))


def calibration(pairs: Sequence[tuple[float, bool]], bins: int = 10) -> CalibrationCurve:
    """A reliability diagram of (stated probability, was right)."""
    if not pairs:
        return CalibrationCurve((), None)
    stated = np.clip([p for p, _ in pairs], 0, 1)
    right = np.asarray([r for _, r in pairs], dtype=float)
    place = np.minimum((stated * bins).astype(int), bins - 1)
    found = [
        Bin(float(stated[place == i].mean()), float(right[place == i].mean()), int((place == i).sum()))
        for i in range(bins)
        if (place == i).any()
    ]
    error = sum(b.count * abs(b.stated - b.observed) for b in found) / len(pairs)
    return CalibrationCurve(tuple(found), float(error))
