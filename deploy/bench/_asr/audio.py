"""Sounds that the recogniser's benchmark makes: a telephone line, a noisy telephone, and things that are not speech."""

from pathlib import Path
from typing import Final

import numpy as np
import soxr

from schemas.audio import SAMPLE_RATE, AudioFormat, Encoding, Samples
from services.audio.codec import decode, encode
from services.audio.resample import StreamResampler

PHONE_RATE: Final = 8_000
SNR_DB: Final = (10.0, 20.0)
_MU: Final = 255.0


def line(samples: Samples) -> Samples:
    """G.711 mu-law at 8 kHz and no noise, taken in as the service takes in what a bridge sends."""
    return StreamResampler(PHONE_RATE).push(g711(samples))


def g711(samples: Samples) -> Samples:
    """What G.711 mu-law leaves of a sound, at the telephone's rate."""
    form = AudioFormat(Encoding.MULAW, PHONE_RATE)
    return decode(encode(soxr.resample(samples, SAMPLE_RATE, PHONE_RATE).astype(np.float32), form), form)


def telephone(samples: Samples, *, seed: int) -> Samples:
    """300 to 3,400 Hz, G.711 mu-law at 8 kHz, with pinkish noise at 10 to 20 dB below the speech."""
    rng = np.random.default_rng(seed)
    narrow = _band(soxr.resample(samples, SAMPLE_RATE, PHONE_RATE), PHONE_RATE, 300.0, 3_400.0)
    noise = _band(pink(rng, narrow.size), PHONE_RATE, 300.0, 3_400.0)
    level = float(np.sqrt(np.mean(narrow**2))) * 10 ** (-rng.uniform(*SNR_DB) / 20)
    mixed = narrow + noise * (level / (float(np.sqrt(np.mean(noise**2))) + 1e-9))
    coded = np.round(np.sign(mixed) * np.log1p(_MU * np.abs(np.clip(mixed, -1, 1))) / np.log1p(_MU) * 127) / 127
    heard = np.sign(coded) * np.expm1(np.abs(coded) * np.log1p(_MU)) / _MU
    wide: Samples = soxr.resample(heard.astype(np.float32), PHONE_RATE, SAMPLE_RATE)
    return wide


def pink(rng: np.random.Generator, size: int) -> Samples:
    """Noise whose power falls by 3 dB an octave."""
    spectrum = np.fft.rfft(rng.standard_normal(size))
    return np.fft.irfft(spectrum / np.sqrt(np.arange(1, spectrum.size + 1)), size).astype(np.float32)


def _band(samples: Samples, rate: int, low: float, high: float) -> Samples:
    spectrum = np.fft.rfft(samples)
    frequency = np.fft.rfftfreq(samples.size, 1 / rate)
    spectrum[(frequency < low) | (frequency > high)] *= 0.01
    return np.fft.irfft(spectrum, samples.size).astype(np.float32)


def phantoms() -> dict[str, Samples]:
    """Two to six seconds each of silence, hiss, rumble, hum, tones, dial signals, clicks and a tune."""
    rng = np.random.default_rng(11)
    time = np.arange(4 * SAMPLE_RATE) / SAMPLE_RATE

    def tone(hertz: float, level: float) -> Samples:
        return (level * np.sin(2 * np.pi * hertz * time)).astype(np.float32)

    sounds: dict[str, Samples] = {"silence": np.zeros(3 * SAMPLE_RATE, dtype=np.float32)}
    for level in (0.0003, 0.003, 0.03, 0.2):
        sounds[f"hiss_{level}"] = (level * rng.standard_normal(5 * SAMPLE_RATE)).astype(np.float32)
        noise = pink(rng, 4 * SAMPLE_RATE)
        sounds[f"rumble_{level}"] = (level * noise / noise.std()).astype(np.float32)
    for hertz in (50, 220, 440, 1000, 2500):
        sounds[f"tone_{hertz}"] = tone(hertz, 0.2)
    beat = (np.floor(time * 2.5) % 2).astype(np.float32)
    sounds["dial"] = tone(350, 0.15) + tone(440, 0.15)
    sounds["busy"] = beat * (tone(480, 0.15) + tone(620, 0.15))
    sounds["ringback"] = (np.floor(time / 1.5) % 2).astype(np.float32) * (tone(440, 0.1) + tone(480, 0.1))
    for key, (low, high) in {"1": (697, 1209), "5": (770, 1336), "9": (852, 1477)}.items():
        sounds[f"keypad_{key}"] = beat * (tone(low, 0.2) + tone(high, 0.2))
    clicks = np.zeros(4 * SAMPLE_RATE, dtype=np.float32)
    clicks[rng.integers(0, clicks.size, 12)] = 0.8
    sounds["clicks"] = clicks
    sounds["tune"] = _tune(rng)
    return sounds


def stretches(folder: Path, seconds: float = 4.0) -> dict[str, Samples]:
    """Every second stretch of the recordings in a folder; shorter ones whole."""
    from services.audio.files import read_file

    size = int(seconds * SAMPLE_RATE)
    found = {}
    for path in sorted(p for p in folder.iterdir() if p.suffix in {".wav", ".flac", ".ogg", ".opus"}):
        samples = read_file(path.read_bytes())
        for at in range(0, max(1, samples.size - size), 2 * size):
            found[f"{path.stem}-{at // SAMPLE_RATE}"] = samples[at : at + size]
    return found


def _tune(rng: np.random.Generator) -> Samples:
    """Six seconds of plucked chords."""
    notes = []
    for _ in range(12):
        time = np.arange(SAMPLE_RATE // 2) / SAMPLE_RATE
        roots = 220.0 * 2 ** (rng.integers(0, 12, 3) / 12)
        chord = sum(np.sin(2 * np.pi * r * k * time) / k for r in roots for k in (1, 2, 3))
        notes.append(chord * np.exp(-4 * time) * 0.06)
    return np.concatenate(notes).astype(np.float32)
