"""CTC prefix beam search: transcripts that the CTC head hears and the language model finds likely.

The decoder's hypotheses differ in what it guesses; these differ in what may have been heard, and the language model
steers from the first piece on. Both are then judged together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from services.asr.ctc import Floats
from services.asr.ngrams import END, Ngrams

LANGUAGE_WEIGHT: Final = 0.8
LABEL_BONUS: Final = 1.5
"""Put on every label of a transcript: here no decoder speaks for the longer ones."""
WIDTH: Final = 16
"""Prefixes kept at each position."""
LABELS: Final = 6
"""The most labels tried at a position."""
FAINTEST: Final = -6.0
"""Natural-log probability below which a label is not tried."""
SURE_BLANK: Final = -0.03
"""Natural-log probability of blank above which no label is tried."""
_NEVER: Final = -1e9

Scores = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Beam:
    """Beginnings of transcripts and, of each, natural-log probabilities up to a position."""

    prefixes: list[tuple[int, ...]]
    last: Whole
    """The last label; blank of the empty prefix."""
    context: Whole
    """What the language model must know of a prefix."""
    blank: Scores
    """Of all paths that spell the prefix and end in blank."""
    label: Scores
    """Of all that end in its last label."""
    prior: Scores
    """By the language model, weighted, with the bonus."""

    @property
    def heard(self) -> Scores:
        """Of all paths that spell the prefix."""
        total: Scores = np.logaddexp(self.blank, self.label)
        return total


class PrefixSearch:
    """Searches the labels of one checkpoint; those in `never` are not written."""

    def __init__(self, ngrams: Ngrams, blank: int, never: Sequence[int]) -> None:
        self._ngrams = ngrams
        self._blank = blank
        self._never = [blank, *never]

    def best(self, log_probs: Floats) -> list[list[int]]:
        """At most `WIDTH` transcripts, the likeliest first, of (positions, vocabulary); none of them is empty."""
        heard = log_probs.astype(np.float64)
        blank = heard[:, self._blank].copy()
        heard[:, self._never] = _NEVER
        tried = np.argpartition(-heard, min(LABELS, heard.shape[1] - 1), axis=1)[:, :LABELS]
        zero = np.zeros(1, dtype=np.int64)
        beam = _Beam([()], zero + self._blank, zero, np.zeros(1), np.full(1, _NEVER), np.zeros(1))
        for here, none, likely in zip(heard, blank, tried, strict=True):
            labels = likely[here[likely] > FAINTEST] if none < SURE_BLANK else likely[:0]
            beam = self._step(beam, here, float(none), labels)
        ends = self._ngrams.follow(beam.context, np.array([END]))[:, 0]
        order = np.argsort(-(beam.heard + beam.prior + LANGUAGE_WEIGHT * ends), kind="stable")
        return [list(beam.prefixes[k]) for k in order if beam.prefixes[k]]

    def _step(self, beam: _Beam, here: Scores, none: float, labels: Whole) -> _Beam:
        """One position on, `none` its log-probability of blank: a prefix stays, or one of `labels` is put on it."""
        total = beam.heard
        blank, label = total + none, beam.label + here[beam.last]
        if not labels.size:
            return _Beam(beam.prefixes, beam.last, beam.context, blank, label, beam.prior)
        paths = np.where(labels == beam.last[:, None], beam.blank[:, None], total[:, None]) + here[labels]
        for known, parent, column in _met(beam.prefixes, labels.tolist()):
            label[known] = np.logaddexp(label[known], paths[parent, column])
            paths[parent, column] = _NEVER
        likely = LANGUAGE_WEIGHT * self._ngrams.follow(beam.context, labels) + LABEL_BONUS
        stayed = _Beam(beam.prefixes, beam.last, beam.context, blank, label, beam.prior)
        return self._pruned(stayed, labels, paths, beam.prior[:, None] + likely)

    def _pruned(self, beam: _Beam, labels: Whole, paths: Scores, prior: Scores) -> _Beam:
        """The best `WIDTH` of a beam's prefixes and of the (prefixes, labels) that have a label more."""
        size = len(beam.prefixes)
        label, priors = np.append(beam.label, paths), np.append(beam.prior, prior)
        score = label + priors
        score[:size] = beam.heard + beam.prior
        kept = np.argsort(-score, kind="stable")[:WIDTH]
        kept = kept[score[kept] > _NEVER / 2]
        old, new = kept[kept < size], kept[kept >= size]
        parent, column = np.divmod(new - size, len(labels))
        added = labels[column]
        longer = zip(parent.tolist(), added.tolist(), strict=True)
        return _Beam(
            [beam.prefixes[k] for k in old] + [(*beam.prefixes[k], one) for k, one in longer],
            np.append(beam.last[old], added),
            np.append(beam.context[old], self._ngrams.context(beam.context[parent], added)),
            np.append(beam.blank[old], np.full(len(new), _NEVER)),
            np.append(label[old], label[new]),
            np.append(priors[old], priors[new]),
        )


def _met(prefixes: Sequence[tuple[int, ...]], labels: Sequence[int]) -> list[tuple[int, int, int]]:
    """Prefixes that are another one with a label put on it: their places, that one's and the label's."""
    place = {prefix: k for k, prefix in enumerate(prefixes)}
    column = {label: k for k, label in enumerate(labels)}
    return [
        (k, place[prefix[:-1]], column[prefix[-1]])
        for k, prefix in enumerate(prefixes)
        if prefix and prefix[-1] in column and prefix[:-1] in place
    ]
