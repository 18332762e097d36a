"""A voice of diphones: one piece of a recording for every pair of phones, said to a rule's timing and tune.

Classic voices of this kind are heard worst, and hardly one may be trained on; so they are made of whoever may be. WORLD
(pyworld, MIT) takes recordings apart into pitch, envelope and noise, and puts them together.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from recogniser.voices.pieces import RATE
from recogniser.voices.prosody import HOP_MS, VOICED_HZ, Told
from recogniser.voices.segment import Phone
from recogniser.voices.source_filter import stretched

FRAME_S = HOP_MS / 1000
SMALLEST = 1e-12
MONOTONE = 0.1


@dataclass(frozen=True)
class Frames:
    """Of 5 ms each: log envelope (frames, bins), noise (frames, bands) as WORLD codes it, and what is voiced."""

    envelope: np.ndarray
    noise: np.ndarray
    voiced: np.ndarray

    def at(self, rows: np.ndarray) -> Frames:
        """Some of them."""
        return Frames(self.envelope[rows], self.noise[rows], self.voiced[rows])

    @classmethod
    def joined(cls, parts: Sequence[Frames]) -> Frames:
        """One behind the other."""
        told = zip(*((part.envelope, part.noise, part.voiced) for part in parts), strict=True)
        return cls(*(np.concatenate(rows) for rows in told))


Pair = tuple[Frames, Frames]
"""The second half of a phone and the first half of the next."""


@dataclass(frozen=True)
class Diphones:
    """One piece for each pair of phones, and for each phone where a pair lacks; `pitch` is the donor's, in Hz."""

    pairs: dict[tuple[str, str], Pair]
    alone: dict[str, Pair]
    pitch: float

    def halves(self, before: str, after: str) -> Pair:
        """How the one ends and the other begins; KeyError for a phone that was never said."""
        return self.pairs.get((before, after)) or (self.alone[before][0], self.alone[after][1])


@dataclass(frozen=True)
class Manner:
    """Factors on pitch, on how far it moves, and on formants; `smooth` is how far envelopes meet in mid-phone."""

    pitch: float
    tune: float
    tract: float
    smooth: float

    @classmethod
    def drawn(cls, rng: random.Random) -> Manner:
        """Somebody near the donor."""
        return cls(
            pitch=2 ** rng.gauss(0.0, 0.18),
            tune=0.0 if rng.random() < MONOTONE else rng.uniform(0.5, 1.3),
            tract=rng.choice((1.0, rng.uniform(0.86, 1.16))),
            smooth=rng.choice((0.0, 0.5, 1.0)),
        )


def analysed(sound: np.ndarray) -> tuple[Frames, np.ndarray]:
    """A recording in frames, and its pitch (Hz, 0 where unvoiced)."""
    import pyworld

    wave = np.ascontiguousarray(sound, np.float64)
    rough, times = pyworld.dio(wave, RATE, frame_period=HOP_MS)
    pitch = pyworld.stonemask(wave, rough, times, RATE)
    envelope = np.log(pyworld.cheaptrick(wave, pitch, times, RATE) + SMALLEST).astype(np.float16)
    noise = pyworld.code_aperiodicity(pyworld.d4c(wave, pitch, times, RATE), RATE).astype(np.float32)
    return Frames(envelope, noise, pitch > VOICED_HZ), pitch


def made(recordings: Sequence[tuple[np.ndarray, Sequence[Phone]]], rngs: Sequence[random.Random]) -> list[Diphones]:
    """A voice for each generator, of a donor's recordings with their phones."""
    found = [(phones, *analysed(sound)) for sound, phones in recordings]
    pitch = float(np.median(np.concatenate([tune[frames.voiced] for _, frames, tune in found])))
    return [drawn([(phones, frames) for phones, frames, _ in found], pitch, rng) for rng in rngs]


def drawn(found: Sequence[tuple[Sequence[Phone], Frames]], pitch: float, rng: random.Random) -> Diphones:
    """One voice of recordings in frames: which of a pair's pieces it has is chance."""
    places: defaultdict[tuple[str, ...], list[tuple[int, int]]] = defaultdict(list)
    for row, (phones, _) in enumerate(found):
        for at, phone in enumerate(phones):
            places[(phone.name,)].append((row, at))
            if at:
                places[(phones[at - 1].name, phone.name)].append((row, at))
    chosen = {names: rng.choice(where) for names, where in places.items()}
    cut = {names: _cut(*found[row], at, len(names)) for names, (row, at) in chosen.items()}
    pairs = {(names[0], names[1]): pair for names, pair in cut.items() if len(names) > 1}
    return Diphones(pairs, {names[0]: pair for names, pair in cut.items() if len(names) == 1}, pitch)


def _cut(phones: Sequence[Phone], frames: Frames, at: int, count: int) -> Pair:
    """(second half of the phone before, first half of this one), or of this one both where `count` is 1."""
    before, after = phones[at - (count - 1)], phones[at]

    def part(begin: float, end: float) -> Frames:
        first = min(round(begin / FRAME_S), len(frames.voiced) - 1)
        return frames.at(np.arange(first, min(max(first + 1, round(end / FRAME_S)), len(frames.voiced))))

    return part(before.middle, before.end), part(after.begin, after.middle)


def say(voice: Diphones, told: Told, manner: Manner) -> np.ndarray:
    """float32 sound; KeyError for a phone that the voice lacks."""
    import pyworld

    frames = spoken(voice, told.phones, manner.smooth)
    count = len(frames.voiced)
    octaves = np.log2(np.interp(np.arange(count), np.arange(len(told.pitch)), told.pitch))
    tune = np.log2(voice.pitch * manner.pitch) + manner.tune * (octaves - octaves.mean())
    pitch = np.where(frames.voiced, np.maximum(2**tune, VOICED_HZ + 5), 0.0)
    bins = frames.envelope.shape[1]
    envelope = np.exp(_warped(frames.envelope.astype(np.float64), manner.tract))
    noise = pyworld.decode_aperiodicity(frames.noise.astype(np.float64), RATE, 2 * (bins - 1))
    sound: np.ndarray = pyworld.synthesize(pitch, np.ascontiguousarray(envelope), noise, RATE, HOP_MS)
    return sound.astype(np.float32)


def spoken(voice: Diphones, phones: Sequence[Phone], smooth: float) -> Frames:
    """Frames of phones at their times; envelopes that jump in mid-phone meet half-way, as far as `smooth` says."""
    names = [phone.name for phone in phones]
    pairs = [voice.halves(before, after) for before, after in pairwise(names)]
    firsts = [voice.alone[names[0]][1], *(pair[1] for pair in pairs)]
    seconds = [*(pair[0] for pair in pairs), voice.alone[names[-1]][0]]
    return Frames.joined(
        [
            half
            for phone, first, second in zip(phones, firsts, seconds, strict=True)
            for half in _met(
                _fitted(first, phone.begin, phone.middle), _fitted(second, phone.middle, phone.end), smooth
            )
        ]
    )


def _fitted(half: Frames, begin: float, end: float) -> Frames:
    """A half stretched, or pressed, to its time."""
    count = round(end / FRAME_S) - round(begin / FRAME_S)
    return half.at(np.arange(count) * len(half.voiced) // max(count, 1))


def _met(first: Frames, second: Frames, smooth: float) -> list[Frames]:
    """Both halves of a phone, each bent towards the other."""
    if not (smooth and len(first.voiced) and len(second.voiced)):
        return [first, second]
    gap = smooth / 2 * (second.envelope[0].astype(np.float32) - first.envelope[-1])
    rising = (np.arange(len(first.voiced)) + 1)[:, None] / len(first.voiced)
    falling = np.arange(len(second.voiced), 0, -1)[:, None] / len(second.voiced)
    bent = first.envelope + rising * gap, second.envelope - falling * gap
    return [
        Frames(envelope.astype(np.float16), half.noise, half.voiced)
        for envelope, half in zip(bent, (first, second), strict=True)
    ]


def _warped(envelope: np.ndarray, tract: float) -> np.ndarray:
    """Formants higher by a factor."""
    bins = np.arange(envelope.shape[1])[:, None] / tract
    return stretched(envelope.T, bins).T
