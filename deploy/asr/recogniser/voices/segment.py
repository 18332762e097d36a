"""Where the phones of a recording are: a hidden Markov model of three states a phone, one Gaussian each.

It begins with speech whose phones are known (a synthesiser's), and is fitted anew to a speaker's own recordings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

STATES = 3
FRAME_S = 0.01
PAUSE = "pau"
LEAST_VARIANCE = 0.05
ENOUGH = 20
"""Frames of a state below which it keeps what it was."""


@dataclass(frozen=True)
class Phone:
    """A phone of a recording, in seconds."""

    name: str
    begin: float
    end: float

    @property
    def middle(self) -> float:
        """Where it may be joined with another of its name."""
        return (self.begin + self.end) / 2


class FrameTally:
    """Sums of frames by state, of which Gaussians are made."""

    def __init__(self, states: int, size: int) -> None:
        self.count, self.sum, self.squares = np.zeros(states), np.zeros((states, size)), np.zeros((states, size))

    def add(self, states: np.ndarray, frames: np.ndarray) -> None:
        """Take in frames (n, size) of these states (n,)."""
        np.add.at(self.count, states, 1)
        np.add.at(self.sum, states, frames)
        np.add.at(self.squares, states, np.square(frames))

    def gaussians(self) -> tuple[np.ndarray, np.ndarray]:
        """(means, variances) of each state, (states, size); standard ones where nothing was seen."""
        count = np.maximum(self.count, 1)[:, None]
        mean = self.sum / count
        variance = np.where(self.count[:, None] > 0, self.squares / count - np.square(mean), 1.0)
        return mean, np.maximum(variance, LEAST_VARIANCE)


class Model:
    """Gaussians of every phone's states; features are (frames, size), one frame in 10 ms."""

    def __init__(self, names: Sequence[str], means: np.ndarray, variances: np.ndarray) -> None:
        self.names, self.means, self.variances = tuple(names), means, variances
        self.row = {name: i * STATES for i, name in enumerate(self.names)}

    @classmethod
    def begun(cls, examples: Sequence[tuple[np.ndarray, Sequence[Phone]]]) -> Model:
        """From speech with known phones, each cut in equal parts."""
        names = sorted({phone.name for _, phones in examples for phone in phones})
        row = {name: i * STATES for i, name in enumerate(names)}
        tally = FrameTally(len(names) * STATES, examples[0][0].shape[1])
        for features, phones in examples:
            for phone in phones:
                frames = features[round(phone.begin / FRAME_S) : round(phone.end / FRAME_S)]
                tally.add(row[phone.name] + np.arange(len(frames)) * STATES // max(1, len(frames)), frames)
        return cls(names, *tally.gaussians())

    def refitted(self, recordings: Sequence[tuple[np.ndarray, Sequence[str]]]) -> Model:
        """The model after one round over a speaker's recordings, of which the phones' names are known."""
        tally = FrameTally(len(self.means), self.means.shape[1])
        for features, names in recordings:
            tally.add(self._rows(names)[self.path(features, names)], features)
        means, variances = tally.gaussians()
        known = (tally.count >= ENOUGH)[:, None]
        return Model(self.names, np.where(known, means, self.means), np.where(known, variances, self.variances))

    def segment(self, features: np.ndarray, names: Sequence[str]) -> list[Phone]:
        """The phones in turn, without gaps; pauses that are not there are left out. ValueError: too few frames."""
        at = self.path(features, names) // STATES
        firsts = [0, *(int(t) for t in np.flatnonzero(np.diff(at)) + 1), len(at)]
        return [Phone(names[at[begin]], begin * FRAME_S, end * FRAME_S) for begin, end in pairwise(firsts)]

    def path(self, features: np.ndarray, names: Sequence[str]) -> np.ndarray:
        """(frames,) which state of which phone each frame belongs to, counted through the names."""
        rows = self._rows(names)
        fits = self._fits(features, rows)
        before = np.arange(len(rows)) - 1
        leap = np.array([_leap(names, state) for state in range(len(rows))])
        score = np.full(len(rows), -np.inf)
        starts = [0, STATES] if names[0] == PAUSE and len(names) > 1 else [0]
        score[starts] = fits[0, starts]
        came = np.zeros(fits.shape, np.int32)
        for t in range(1, len(fits)):
            ways = np.stack([score, np.r_[-np.inf, score[:-1]], np.where(leap >= 0, score[leap], -np.inf)])
            way = ways.argmax(0)
            came[t] = np.choose(way, [before + 1, before, leap])
            score = ways.max(0) + fits[t]
        ends = [len(rows) - 1, *([len(rows) - 1 - STATES] if names[-1] == PAUSE and len(names) > 1 else [])]
        at = max(ends, key=lambda state: float(score[state]))
        if not np.isfinite(score[at]):
            raise ValueError(f"{len(fits)} frames are too few for {len(names)} phones")
        path = np.empty(len(fits), np.int64)
        for t in range(len(fits) - 1, -1, -1):
            path[t], at = at, int(came[t, at])
        return path

    def _rows(self, names: Sequence[str]) -> np.ndarray:
        return np.array([self.row[name] + part for name in names for part in range(STATES)])

    def _fits(self, features: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """(frames, states) log-likelihoods of the named phones' states."""
        used, place = np.unique(rows, return_inverse=True)
        means, variances = self.means[used], self.variances[used]
        apart = np.square(features[:, None] - means[None]) / variances[None]
        return (-0.5 * (apart.sum(2) + np.log(variances).sum(1)))[:, place]


def _leap(names: Sequence[str], state: int) -> int:
    """The state from which a pause within is jumped over to this one; -1 where there is none."""
    phone = state // STATES
    skips = state % STATES == 0 and phone >= 2 and names[phone - 1] == PAUSE
    return (phone - 1) * STATES - 1 if skips else -1
