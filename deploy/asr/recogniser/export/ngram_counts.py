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
    arrays = {"base": np.array(base), "steps": np.array(STEPS)}
    for n, (keys, counts) in enumerate(counted(text, foretold, base, len(least)), 1):
        if not (counts >= least[n - 1]).any():
            break
        arrays |= {f"{name}{n}": array for name, array in smoothed(keys, counts, base, n, least[n - 1]).items()}
        arrays["order"] = np.array(n)
    return arrays


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
    planes = np.diff(keys[kept], prepend=0).astype(np.int64).view(np.uint8).reshape(-1, 8).T
    return {"keys": planes, "cost": cost(share[kept]), "backoff": cost(left[used])}


def cost(share: np.ndarray) -> np.ndarray:
    """Probabilities as whole steps of log-probability, at most 255."""
    return np.round(-np.log(np.maximum(share, 1e-12)) * STEPS).clip(0, 255).astype(np.uint8)
