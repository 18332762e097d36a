"""A speaker's recordings as words with places, and new sentences of them: where to cut, and how to join."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import reduce
from itertools import pairwise

import numpy as np

from recogniser.voices.pieces import RATE, Sequences, faded
from recogniser.voices.shards import written

PHRASE = 4
"""Words at most that are taken from a recording at a time."""
FADE = RATE // 125
FRAME = RATE // 100
LEAD_S, TAIL_S = 0.3, 0.4
"""How much of the quiet before and behind a word stays with it at most."""


@dataclass
class PhraseClip:
    """A recording: its words, where each begins and ends in samples, its sound, int16, and its root mean square."""

    words: list[str]
    spans: list[tuple[int, int]]
    sound: np.ndarray
    level: float


@dataclass
class PhraseSpeaker:
    """A speaker's recordings, and where in them each phrase of up to PHRASE words is said."""

    clips: list[PhraseClip] = field(default_factory=list)
    phrases: Sequences = field(default_factory=lambda: Sequences(PHRASE))

    def add(self, clip: PhraseClip) -> None:
        """Take in one more recording."""
        self.phrases.add(clip.words)
        self.clips.append(clip)

    def words(self) -> set[str]:
        """What the speaker can say."""
        return {word for clip in self.clips for word in clip.words}

    def say(self, words: list[str], rng: random.Random) -> np.ndarray:
        """int16 sound of words that the speaker can say, in phrases as long as were ever said; KeyError for others."""
        parts: list[np.ndarray] = []
        at = 0
        while at < len(words):
            size = self.phrases.longest(words[at:])
            clip, first = rng.choice(self.phrases.places(words[at : at + size]))
            parts.append(part(self.clips[clip], first, first + size - 1))
            at += size
        return joined(parts)


def part(clip: PhraseClip, first: int, last: int) -> np.ndarray:
    """float32 sound of the words from `first` to `last`, at the level common to all recordings."""
    return clip.sound[clip.spans[first][0] : clip.spans[last][1]].astype(np.float32) / np.float32(clip.level)


def joined(parts: list[np.ndarray]) -> np.ndarray:
    """int16 sound of float32 parts, each faded into the next."""
    return written(reduce(lambda whole, after: faded(whole, after, FADE), parts))


def places(log_probs: np.ndarray, ids: list[int], blank: int) -> list[tuple[int, int]]:
    """First and last position of each label on the likeliest CTC path; log_probs is (positions, labels).

    ValueError where the positions are too few for the labels.
    """
    states = [blank, *(state for label in ids for state in (label, blank))]
    leaps = np.array([s > 1 and state not in (blank, states[s - 2]) for s, state in enumerate(states)])
    score = np.full(len(states), -np.inf)
    score[:2] = log_probs[0, states[:2]]
    came = np.zeros((len(log_probs), len(states)), np.int8)
    for t in range(1, len(log_probs)):
        ways = np.full((3, len(states)), -np.inf)
        ways[0], ways[1, 1:], ways[2, 2:] = score, score[:-1], np.where(leaps[2:], score[:-2], -np.inf)
        came[t] = ways.argmax(0)
        score = ways.max(0) + log_probs[t, states]
    at = len(states) - 1 - int(len(ids) > 0 and score[-2] > score[-1])
    if not np.isfinite(score[at]):
        raise ValueError(f"{len(log_probs)} positions are too few for {len(ids)} labels")
    path = [at]
    for t in range(len(log_probs) - 1, 0, -1):
        path.append(path[-1] - int(came[t, path[-1]]))
    path.reverse()
    return [(path.index(2 * i + 1), len(path) - 1 - path[::-1].index(2 * i + 1)) for i in range(len(ids))]


def spans(sound: np.ndarray, heard: list[tuple[float, float]]) -> list[tuple[int, int]]:
    """Samples of each word; two are cut at the quietest place between where, in seconds, they are heard for certain."""
    frames = sound[: len(sound) // FRAME * FRAME].reshape(-1, FRAME).astype(np.float64)
    loud = np.convolve(np.square(frames).mean(1), np.ones(3) / 3, mode="same")
    cuts = [0]
    for (_, end), (begin, _) in pairwise(heard):
        low = min(int(end * RATE / FRAME), len(loud) - 1)
        high = max(low + 1, int(begin * RATE / FRAME))
        cuts.append((low + int(loud[low:high].argmin())) * FRAME)
    cuts.append(len(sound))
    return [
        (max(begin, int((first - LEAD_S) * RATE)), min(end, int((last + TAIL_S) * RATE)))
        for (begin, end), (first, last) in zip(pairwise(cuts), heard, strict=True)
    ]
