"""Log-mel front end: the filter bank of Whisper, kept unclipped so that training can distort it afterwards.

`log_mel` gives log10 of mel power, float32 (frames, 80), 100 frames a second at 16 kHz. Whisper's own
normalisation (clamp to 8 decades below the maximum, (x + 4) / 4) is applied by `normalize`.
"""

from __future__ import annotations

from functools import cache

import numpy as np

RATE = 16_000
HOP = 160
N_FFT = 400
MELS = 80
FLOOR = 1e-10


@cache
def mel_filters() -> np.ndarray:
    """Slaney-style mel filter bank (80, 201), 0 to 8 kHz, as Whisper uses."""
    freqs = np.fft.rfftfreq(N_FFT, 1 / RATE)
    top = 15 + np.log(8000 / 1000) / (np.log(6.4) / 27)
    mels = np.linspace(0, top, MELS + 2)
    hertz = np.where(mels < 15, mels * 200 / 3, 1000 * np.exp((np.log(6.4) / 27) * (mels - 15)))
    ramps = hertz[:, None] - freqs[None, :]
    width = np.diff(hertz)
    lower = -ramps[:-2] / width[:-1, None]
    upper = ramps[2:] / width[1:, None]
    weights = np.maximum(0, np.minimum(lower, upper))
    weights *= (2.0 / (hertz[2:] - hertz[:-2]))[:, None]
    return weights.astype(np.float32)


@cache
def _window() -> np.ndarray:
    return (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(N_FFT) / N_FFT)).astype(np.float32)


def log_mel(audio: np.ndarray) -> np.ndarray:
    """log10 mel power of float32 audio in -1..1: (len(audio) // 160, 80)."""
    frames = len(audio) // HOP
    padded = np.pad(audio.astype(np.float32), (N_FFT // 2, N_FFT // 2), mode="reflect")
    windows = np.lib.stride_tricks.sliding_window_view(padded, N_FFT)[::HOP][:frames]
    power = np.abs(np.fft.rfft(windows * _window(), axis=1)) ** 2
    return np.log10(np.maximum(power.astype(np.float32) @ mel_filters().T, FLOOR))


def normalize(mel: np.ndarray) -> np.ndarray:
    """Whisper's clamp and scale."""
    return (np.maximum(mel, mel.max() - 8.0) + 4.0) / 4.0
