"""The CTC head that our checkpoints carry beside the decoder: it judges a hypothesis by sound alone."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
_NEVER: Final = -1e9
_LEAST: Final = 1e-300


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
        labels = np.full((len(candidates), 2 * int(lengths.max(initial=0)) + 1), self.blank)
        for row, candidate in enumerate(candidates):
            labels[row, 1 : 2 * len(candidate) : 2] = candidate
        skip = np.zeros(labels.shape)
        skip[:, 2:] = (labels[:, 2:] != self.blank) & (labels[:, 2:] != labels[:, :-2])
        padded, scale = np.zeros((len(labels), labels.shape[1] + 2)), np.zeros(len(labels))
        paths, from_one, from_two = padded[:, 2:], padded[:, 1:-1], padded[:, :-2]
        emitted = np.exp(log_probs, dtype=np.float64)[:, labels]
        paths[:, :2] = emitted[0, :, :2]
        for step in emitted[1:]:
            grown = (from_two * skip + from_one + paths) * step
            most = np.maximum(grown.max(axis=1), _LEAST)  # probabilities fade: what is left is scaled to 1
            np.divide(grown, most[:, None], out=paths)
            scale += np.log(most)
        rows = np.arange(len(labels))
        ended = paths[rows, 2 * lengths] + np.where(lengths > 0, from_one[rows, 2 * lengths], 0.0)
        scores: Floats = np.where(ended > 0, scale + np.log(np.maximum(ended, _LEAST)), _NEVER).astype(np.float32)
        return scores
