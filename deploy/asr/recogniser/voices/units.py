"""A voice of somebody's recordings: new sentences of pieces of old ones, joined in the middle of phones."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recogniser.voices.pieces import RATE, Sequences, faded
from recogniser.voices.segment import FRAME_S, PAUSE, Phone

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
class PhonedRecording:
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

    recording: PhonedRecording
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


class UnitVoice:
    """What a speaker has said, by every sequence of phones."""

    def __init__(self, recordings: Sequence[PhonedRecording]) -> None:
        self.recordings = recordings
        self.said = Sequences(LONGEST)
        for recording in recordings:
            self.said.add([phone.name for phone in recording.phones])

    def say(self, names: Sequence[str], rng: random.Random, most: int = LONGEST) -> np.ndarray:
        """float32 sound of phones, in pieces of at most so many; KeyError for one that was never said."""
        pieces = self.pieces(names, rng, most)
        joints = [piece.joined for piece in pieces[1:]]
        return spoken(
            [
                (piece.recording.sound, int(piece.begin * RATE), int(piece.end(joining=joining) * RATE))
                for piece, joining in zip(pieces, [*joints, False], strict=True)
            ]
        )

    def pieces(self, names: Sequence[str], rng: random.Random, most: int = LONGEST) -> list[Piece]:
        """As long as were ever said, up to `most` phones, each from the phone that the one before ends with.

        Two phones that never met are put side by side.
        """
        pieces: list[Piece] = []
        at, joined = 0, False
        while at < len(names) - joined:
            size = self.said.longest(names[at : at + most])
            if joined and size == 1:
                at, joined = at + 1, False
                continue
            pieces.append(self._piece(names[at : at + size], pieces[-1] if joined else None, rng))
            at, joined = at + size - 1, True
        return pieces

    def _piece(self, names: Sequence[str], before: Piece | None, rng: random.Random) -> Piece:
        """One of the pieces with these phones: that which goes best with the piece before it."""
        found = self.said.places(names)
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
    for sound, begin, end in parts[1:]:
        if len(whole) < FADE or end - begin < FADE + SHIFT:
            whole = faded(whole, sound[begin:end], 0)
        else:
            whole = faded(whole, sound[meeting(whole[-FADE:], sound, begin) : end], FADE)
    return whole


def meeting(tail: np.ndarray, sound: np.ndarray, begin: int) -> int:
    """The sample near `begin` from which the sound goes on most like the tail."""
    starts = np.arange(max(0, begin - SHIFT), min(len(sound) - len(tail), begin + SHIFT) + 1)
    windows = sound[starts[:, None] + np.arange(len(tail))]
    alike = windows @ tail / (np.sqrt(np.square(windows).sum(1) * np.square(tail).sum()) + 1e-6)
    return int(starts[alike.argmax()])
