"""Logistic regression of many classes one against the rest, sparse in its rows and in its weights, in numpy alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from services.understanding.learned.features import BUCKETS

Floats = NDArray[np.float32]
STEP: Final = 3.0
"""Of one descent; rows have length one, so that the loss bends by a quarter at most."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Sparse rows of ones, each divided by the root of their count: places flat, and where each row begins."""

    places: NDArray[np.int64]
    begins: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @classmethod
    def of(cls, features: Sequence[Sequence[int]]) -> "Rows":
        """Rows of lists of buckets; an empty one has bucket 0."""
        lists = [list(each) or [0] for each in features]
        sizes = np.array([len(each) for each in lists], np.int64)
        flat = np.fromiter((place for each in lists for place in each), np.int64, int(sizes.sum()))
        return cls(flat, np.concatenate(([0], np.cumsum(sizes)[:-1])), sizes)

    def times(self, weights: Floats) -> Floats:
        """float32 [rows, classes]."""
        scale = (1 / np.sqrt(self.sizes)).astype(np.float32)
        made = np.add.reduceat(weights[self.places], self.begins, axis=0)
        return np.asarray(made * scale[:, None], np.float32)


def transposed_times(rows: Rows, order: NDArray[np.int64], residuals: Floats) -> Floats:
    """float32 [BUCKETS, classes]: what each place adds up to; `order` sorts the places."""
    owner = np.repeat(np.arange(len(rows.sizes)), rows.sizes)[order]
    scaled = (residuals / np.sqrt(rows.sizes)[:, None]).astype(np.float32)
    places = rows.places[order]
    starts = np.flatnonzero(np.diff(places, prepend=-1))
    made = np.zeros((BUCKETS, residuals.shape[1]), np.float32)
    made[places[starts]] = np.add.reduceat(scaled[owner], starts, axis=0)
    return made


def fitted(rows: Rows, right: Floats, counts: Floats, penalty: float, rounds: int) -> tuple[Floats, Floats]:
    """Weights [BUCKETS, classes] and biases [classes] by accelerated descent; `counts` weighs each row and class."""
    order = np.argsort(rows.places, kind="stable")
    weights = np.zeros((BUCKETS, right.shape[1]), np.float32)
    bias, ahead, ahead_bias, pace = np.full(right.shape[1], -3.0, np.float32), weights, None, 1.0
    ahead_bias = bias
    shares = counts / counts.sum(axis=0)
    for _ in range(rounds):
        chance = 1 / (1 + np.exp(-(rows.times(ahead) + ahead_bias)))
        residuals = ((chance - right) * shares).astype(np.float32)
        step = ahead - STEP * transposed_times(rows, order, residuals)
        nearer = np.sign(step) * np.maximum(np.abs(step) - STEP * penalty, 0)
        bias_nearer = ahead_bias - residuals.sum(axis=0)
        following = (1 + (1 + 4 * pace * pace) ** 0.5) / 2
        push = np.float32((pace - 1) / following)
        ahead, ahead_bias = nearer + push * (nearer - weights), bias_nearer + push * (bias_nearer - bias)
        weights, bias, pace = nearer.astype(np.float32), bias_nearer.astype(np.float32), following
    return weights, bias
