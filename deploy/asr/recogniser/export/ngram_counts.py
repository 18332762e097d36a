"""From tokens to the arrays of an n-gram model: interpolated Kneser-Ney, rare n-grams left to the shorter ones."""

from __future__ import annotations

import numpy as np

DISCOUNT = 0.8
STEPS = 12
"""Of a nat, in which log-probabilities are written."""


def model(text: np.ndarray, foretold: np.ndarray, base: int, least: list[int]) -> dict[str, np.ndarray]:
    """The file's arrays, of tokens + 1 between zeros, which of them are to be foretold, and the least counts by order.

    Before each sentence lie as many zeros as the longest n-gram has tokens before its last.
    """
    arrays, kept = {"base": np.array(base), "steps": np.array(STEPS)}, []
    for n, (keys, counts) in enumerate(counted(text, foretold, base, len(least)), 1):
        often = counts >= least[n - 1]
        if not often.any():
            break
        kept.append(keys[often])
        arrays |= {f"{name}{n}": array for name, array in smoothed(keys, counts, base, n, least[n - 1]).items()}
    return arrays | {"order": np.array(len(kept))} | branching(kept, base)


def counted(text: np.ndarray, foretold: np.ndarray, base: int, order: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Keys and counts of each order from the shortest; shorter ones count the tokens that they follow, not the text."""
    keys = sum(np.roll(text, k) * base**k for k in range(order))[foretold]
    found = [np.unique(keys, return_counts=True)]
    for n in range(order - 1, 0, -1):
        found.append(np.unique(found[-1][0] % base**n, return_counts=True))
    return found[::-1]


def smoothed(keys: np.ndarray, counts: np.ndarray, base: int, n: int, least: int) -> dict[str, np.ndarray]:
    """Arrays of order n: n-grams counted less than `least` times leave their share to the order below."""
    _, context = np.unique(keys // base, return_inverse=True)
    total = np.bincount(context, counts)
    share = np.maximum(counts - (DISCOUNT if n > 1 else 0), 0) / total[context]
    kept = counts >= least
    left = 1 - np.bincount(context, np.where(kept, share, 0)) if n > 1 else np.ones(1)
    used = np.bincount(context, kept) > 0
    return {"cost": cost(share[kept]), "backoff": cost(left[used])}


def branching(keys: list[np.ndarray], base: int) -> dict[str, np.ndarray]:
    """Keys of all orders as the levels of a tree: how many nodes each has below, its last token, whether it is one."""
    levels, longer = [], np.zeros(0, dtype=np.int64)
    for each in reversed(keys):
        longer = np.union1d(each, longer // base)
        levels.insert(0, longer)
    arrays, above = {}, np.zeros(1, dtype=np.int64)
    for n, (level, own) in enumerate(zip(levels, keys, strict=True), 1):
        below = np.bincount(np.searchsorted(above, level // base), minlength=len(above))
        arrays |= {f"branches{n}": planes(below), f"tokens{n}": planes(level % base)}
        arrays[f"own{n}"], above = np.packbits(np.isin(level, own)), level
    return arrays


def planes(numbers: np.ndarray) -> np.ndarray:
    """Numbers below 65,536 as two rows: their low bytes, and the high ones."""
    return numbers.astype("<u2").view(np.uint8).reshape(-1, 2).T


def cost(share: np.ndarray) -> np.ndarray:
    """Probabilities as whole steps of log-probability, at most 255."""
    return np.round(-np.log(np.maximum(share, 1e-12)) * STEPS).clip(0, 255).astype(np.uint8)
