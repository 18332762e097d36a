"""A voice of somebody's recordings: new sentences of pieces of old ones, joined in the middle of phones."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from segment import FRAME_S, PAUSE, Phone

RATE = 16_000
LONGEST = 8
"""Phones of a piece at most."""
TRIED = 40
"""Pieces of a kind whose joint with what was said is looked at."""
AROUND_S = 0.15
"""Quiet that stays before and behind a sentence."""
FADE = RATE // 100
SHIFT = 96
"""Samples by which a piece is shifted at most, so that waves meet."""


@dataclass(frozen=True)
class Recording:
    """Sound at a level common to all, its phones in turn, and its features, one frame in 10 ms."""

    sound: np.ndarray
    phones: Sequence[Phone]
    features: np.ndarray

    def features_at(self, second: float) -> np.ndarray:
        """One frame."""
        frame: np.ndarray = self.features[min(int(second / FRAME_S), len(self.features) - 1)]
        return frame


@dataclass(frozen=True)
class Piece:
    """Phones `first` to `last` of a recording, of which the outer ones are halved where it is joined with another."""

    recording: Recording
    first: int
    last: int
    joined: bool
    """Whether it begins in the middle of a phone that the piece before it ends with."""

    @property
    def begin(self) -> float:
        """Where it begins, in seconds."""
        phone = self.recording.phones[self.first]
        if self.joined:
            return phone.middle
        return max(phone.begin, phone.end - AROUND_S) if phone.name == PAUSE else phone.begin

    def end(self, *, joining: bool) -> float:
        """Where it ends, in seconds: in the middle of its last phone if the next piece begins there."""
        phone = self.recording.phones[self.last]
        if joining:
            return phone.middle
        return min(phone.end, phone.begin + AROUND_S) if phone.name == PAUSE else phone.end


class Voice:
    """What a speaker has said, by every sequence of phones."""

    def __init__(self, recordings: Sequence[Recording]) -> None:
        self.recordings = recordings
        self.found: defaultdict[tuple[str, ...], list[tuple[int, int]]] = defaultdict(list)
        for number, recording in enumerate(recordings):
            names = [phone.name for phone in recording.phones]
            for size in range(1, LONGEST + 1):
                for at in range(len(names) - size + 1):
                    self.found[tuple(names[at : at + size])].append((number, at))

    def say(self, names: Sequence[str], rng: random.Random) -> np.ndarray:
        """float32 sound of phones; KeyError for one that was never said."""
        pieces = self.pieces(names, rng)
        joints = [piece.joined for piece in pieces[1:]]
        return spoken(
            [
                (piece.recording.sound, int(piece.begin * RATE), int(piece.end(joining=joining) * RATE))
                for piece, joining in zip(pieces, [*joints, False], strict=True)
            ]
        )

    def pieces(self, names: Sequence[str], rng: random.Random) -> list[Piece]:
        """As long as were ever said, each from the phone that the one before ends with.

        Two phones that never met are put side by side.
        """
        pieces: list[Piece] = []
        at, joined = 0, False
        while at < len(names) - joined:
            size = self._longest(names[at:])
            if joined and size == 1:
                at, joined = at + 1, False
                continue
            pieces.append(self._piece(tuple(names[at : at + size]), pieces[-1] if joined else None, rng))
            at, joined = at + size - 1, True
        return pieces

    def _longest(self, names: Sequence[str]) -> int:
        """How many of the next phones were said together."""
        most = min(LONGEST, len(names))
        size = next((n for n in range(most, 0, -1) if tuple(names[:n]) in self.found), 0)
        if not size:
            raise KeyError(names[0])
        return size

    def _piece(self, names: tuple[str, ...], before: Piece | None, rng: random.Random) -> Piece:
        """One of the pieces with these phones: that which goes best with the piece before it."""
        found = self.found[names]
        tried = rng.sample(found, min(TRIED, len(found)))
        made = [Piece(self.recordings[r], at, at + len(names) - 1, before is not None) for r, at in tried]
        if before is None:
            return made[0]
        last = before.recording.features_at(before.end(joining=True))
        return min(made, key=lambda piece: float(np.abs(piece.recording.features_at(piece.begin) - last).sum()))


def spoken(parts: Sequence[tuple[np.ndarray, int, int]]) -> np.ndarray:
    """float32 sound of (sound, first sample, last sample) in turn, each faded into the next where their waves meet."""
    sound, begin, end = parts[0]
    whole: np.ndarray = sound[begin:end].astype(np.float32)
    ramp = np.linspace(0, 1, FADE, dtype=np.float32)
    for sound, begin, end in parts[1:]:
        if len(whole) < FADE or end - begin < FADE + SHIFT:
            whole = np.concatenate([whole, sound[begin:end]])
            continue
        tail = whole[-FADE:]
        first = meeting(tail, sound, begin)
        mixed = tail * ramp[::-1] + sound[first : first + FADE] * ramp
        whole = np.concatenate([whole[:-FADE], mixed, sound[first + FADE : end]])
    return whole.astype(np.float32)


def meeting(tail: np.ndarray, sound: np.ndarray, begin: int) -> int:
    """The sample near `begin` from which the sound goes on most like the tail."""
    starts = np.arange(max(0, begin - SHIFT), min(len(sound) - len(tail), begin + SHIFT) + 1)
    windows = sound[starts[:, None] + np.arange(len(tail))]
    alike = windows @ tail / (np.sqrt(np.square(windows).sum(1) * np.square(tail).sum()) + 1e-6)
    return int(starts[alike.argmax()])
