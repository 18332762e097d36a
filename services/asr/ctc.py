"""The CTC head that our checkpoints carry beside the decoder: it judges a hypothesis by sound alone."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
_NEVER: Final = np.float32(-1e9)


class CtcHead:
    """A linear layer on the encoder's output: (positions, width) -> log-probabilities (positions, vocabulary)."""

    def __init__(self, path: Path) -> None:
        with np.load(path) as arrays:
            self._weight = arrays["weight"].astype(np.float32).T
            self._bias = arrays["bias"].astype(np.float32)
            self.blank = int(arrays["blank"])

    def log_probs(self, encoded: Floats) -> Floats:
        """Log-softmax of every position."""
        logits = encoded @ self._weight + self._bias
        logits -= logits.max(axis=1, keepdims=True)
        result: Floats = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        return result

    def greedy(self, log_probs: Floats) -> list[int]:
        """The best label of each position, repeats and blanks removed."""
        best = log_probs.argmax(axis=1)
        changed = np.flatnonzero(np.diff(best, prepend=-1))
        return [int(label) for label in best[changed] if label != self.blank]

    def new(self, log_probs: Floats) -> Floats:
        """Probability at each position that a label is heard there: near 0 where nobody speaks."""
        heard: Floats = 1 - np.exp(log_probs[:, self.blank])
        return heard

    def score(self, log_probs: Floats, candidates: Sequence[Sequence[int]]) -> Floats:
        """Natural-log probability of each candidate, by the forward algorithm over all of them at once."""
        lengths = np.array([len(c) for c in candidates])
        states = 2 * int(lengths.max(initial=0)) + 1
        labels = np.full((len(candidates), states), self.blank)
        for row, candidate in enumerate(candidates):
            labels[row, 1 : 2 * len(candidate) : 2] = candidate
        skip = np.zeros(labels.shape, dtype=bool)
        skip[:, 2:] = (labels[:, 2:] != self.blank) & (labels[:, 2:] != labels[:, :-2])
        alpha = np.full(labels.shape, _NEVER, dtype=np.float32)
        emitted = log_probs[:, labels]
        alpha[:, :2] = emitted[0, :, :2]
        for step in emitted[1:]:
            shifted = np.pad(alpha, ((0, 0), (2, 0)), constant_values=_NEVER)
            from_two = np.where(skip, shifted[:, :-2], _NEVER)
            alpha = np.logaddexp(np.logaddexp(alpha, shifted[:, 1:-1]), from_two) + step
        rows = np.arange(len(candidates))
        last = alpha[rows, 2 * lengths]
        before = np.where(lengths > 0, alpha[rows, np.maximum(2 * lengths - 1, 0)], _NEVER)
        scores: Floats = np.logaddexp(last, before).astype(np.float32)
        return scores
