"""A neural synthesiser taken apart into source and filter, and put together as other speakers.

hibari (Apache 2.0, distilled of one of Kokoro's speakers) tells of each 12.5 ms how strong and of what phase harmonics
are, how strong the noise, and the pitch. Between that and the sound somebody else is drawn, with another vocal tract,
larynx and tune, at forty times Kokoro's speed; now and then one who is joined of pieces, as diphone voices are.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from recogniser.texts import accents, kana, phonemes
from recogniser.voices import kokoro

VOICED_HZ = 40.0
"""What the synthesiser gives below it is not voiced."""
ACCENTED = 0.4
"""Speakers with another first language, or from another place."""
JOINED = 0.3
MONOTONE = 0.15
MEN = 0.55
PIECE = (5, 16)
"""Frames that one of those joined says without a seam."""
SEAM_TRACT, SEAM_PITCH = 0.03, 0.04
"""Octaves by which formants and pitch jump at a seam, where loudness and tilt do by a decibel."""
LEVEL_BIN = 50
"""Where a tilt changes nothing: 1 kHz; 500 Hz and what is below are alike."""
DECIBEL = float(np.log(10) / 20)
SILENT = 1e-4

Spectra = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""(601, frames) each: log magnitude of harmonics, their phase, log magnitude of noise, of the rest, its phase."""


@dataclass(frozen=True)
class DrawnSpeaker:
    """Factors on pitch, how far it moves and formants; tilt and breath in dB; `phases` and `rest` are shares kept."""

    pitch: float
    tune: float
    tract: float
    tilt: float
    breath: float
    phases: float
    rest: float
    blur: int
    unsteady: float
    seams: float


def drawn(who: random.Random) -> DrawnSpeaker:
    """Somebody: men have longer vocal tracts and lower voices."""
    man = who.random() < MEN
    return DrawnSpeaker(
        pitch=2 ** who.gauss(-0.85 if man else 0.05, 0.25),
        tune=0.0 if who.random() < MONOTONE else who.uniform(0.3, 1.6),
        tract=min(1.3, max(0.72, who.gauss(0.86 if man else 1.04, 0.07))),
        tilt=who.gauss(0.0, 2.5),
        breath=who.gauss(0.0, 4.0),
        phases=who.choice((0.0, 0.5, 1.0, 1.0)),
        rest=who.choice((0.0, 0.5, 1.0, 1.0)),
        blur=who.choice((1, 1, 1, 5, 9, 15)),
        unsteady=who.choice((0.0, 0.15, 0.3)),
        seams=who.uniform(0.5, 1.5) if who.random() < JOINED else 0.0,
    )


def speak(lang: str, text: str, rate: float, who: random.Random) -> np.ndarray:
    """Float32 sound at Kokoro's rate of English or kana, by somebody whom `who` draws; ImportError without hibari."""
    from hibari import dsp  # here, because only training has it

    ids = model().ids(sounds(lang, text, who))
    fed = {"ids": np.asarray([ids], np.int64), "speed": np.asarray([rate], np.float32)}
    *spectra, pitch = (told[0] for told in model().sess.run(None, fed))
    noise = np.random.default_rng(who.getrandbits(32))
    other, sung = voiced_by(drawn(who), tuple(spectra), pitch, noise)
    said: np.ndarray = dsp.synth(*other, sung, noise)
    return said


def sounds(lang: str, text: str, who: random.Random) -> str:
    """Kokoro's signs for a text, as somebody says it, often with an accent; Japanese in the sounds of English."""
    if lang == "ja":
        return kokoro.of_phones(kana.words(text), evenly=True)
    reader = who.choice(kokoro.READERS)
    if who.random() >= ACCENTED:
        return kokoro.sounds(text, reader)
    accent = accents.drawn(who)
    return kokoro.of_phones(accent(word) for word in phonemes.words_by_espeak(text, reader))


def voiced_by(
    speaker: DrawnSpeaker, spectra: Spectra, pitch: np.ndarray, draw: np.random.Generator
) -> tuple[Spectra, np.ndarray]:
    """Spectra and pitch (Hz, 0 where unvoiced; one a frame) of the same words by another speaker."""
    frames = paced(len(pitch), speaker.unsteady, draw)
    seams = stepped(len(frames), speaker.seams, draw)
    harmonics, phase, noise, rest, free = (told[:, frames] for told in spectra)
    bins = np.arange(len(harmonics))[:, None] / (speaker.tract * 2 ** (SEAM_TRACT * seams[0]))
    tilted = (speaker.tilt + seams[1]) * np.log2(np.maximum(bins / LEVEL_BIN, 0.5)) + seams[2]
    louder = tilted * DECIBEL
    near, across = np.minimum(np.rint(bins), len(phase) - 1).astype(int), np.arange(len(frames))
    spoken = (
        blurred(stretched(harmonics, bins), speaker.blur) + louder,
        phase[near, across] * speaker.phases,
        stretched(noise, bins) + louder + speaker.breath * DECIBEL,
        stretched(rest, bins) + louder + np.log(max(speaker.rest, SILENT)),
        free[near, across],
    )
    single = tuple(np.asarray(told, np.float32) for told in spoken)
    return single, tuned(pitch[frames], speaker, seams[3])  # type: ignore[return-value]


def paced(count: int, unsteady: float, draw: np.random.Generator) -> np.ndarray:
    """Which frames are heard in turn: some syllables drag, some hurry."""
    knots = draw.normal(0.0, unsteady, count // 10 + 2)
    drag = np.exp(np.interp(np.arange(count) / 10, np.arange(len(knots)), knots))
    ends = np.cumsum(drag)
    return np.searchsorted(ends, np.arange(0.5, ends[-1])).clip(0, count - 1)


def stepped(count: int, size: float, draw: np.random.Generator) -> np.ndarray:
    """(4, count): how pieces differ in tract, tilt, loudness and pitch; not at all if size is 0."""
    pieces = np.repeat(np.arange(count), draw.integers(*PIECE, count))[:count]
    return draw.normal(0.0, size, (4, count))[:, pieces]


def tuned(pitch: np.ndarray, speaker: DrawnSpeaker, steps: np.ndarray) -> np.ndarray:
    """The pitch of another speaker, who moves it more or less about another mean."""
    voiced = pitch > VOICED_HZ
    octaves = np.log2(np.maximum(pitch, VOICED_HZ))
    mean = octaves[voiced].mean() if voiced.any() else 0.0
    other = 2 ** (mean + speaker.tune * (octaves - mean) + np.log2(speaker.pitch) + SEAM_PITCH * steps)
    return np.where(voiced, np.maximum(other, 1.05 * VOICED_HZ), 0.0).astype(np.float32)


def stretched(told: np.ndarray, bins: np.ndarray) -> np.ndarray:
    """Rows read at other places, between two of them."""
    low = np.minimum(bins.astype(int), len(told) - 2)
    share = np.clip(bins - low, 0.0, 1.0)
    across = np.arange(told.shape[1])
    return (1 - share) * told[low, across] + share * told[low + 1, across]


def blurred(told: np.ndarray, width: int) -> np.ndarray:
    """Rows averaged over `width`, an odd number: as coarse as envelopes of HTS or LPC voices."""
    if width == 1:
        return told
    padded = np.pad(told, ((width // 2, width // 2), (0, 0)), mode="edge")
    sums = np.cumsum(np.pad(padded, ((1, 0), (0, 0))), axis=0)
    return (sums[width:] - sums[:-width]) / width


@cache
def model() -> Any:
    """The synthesiser, on one thread."""
    from hibari import Hibari

    return Hibari()
