"""Log-mel front end: the filter bank of Whisper on batches of sound, kept unclipped until `augment.level_scale`."""

from __future__ import annotations

from functools import cache

import numpy as np
import torch
from torch import Tensor

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
def _constants(device: str) -> tuple[Tensor, Tensor]:
    """(window, filters transposed) on a device."""
    return torch.hann_window(N_FFT, device=device), torch.from_numpy(mel_filters()).T.contiguous().to(device)


def log_mel(sound: Tensor) -> Tensor:
    """log10 mel power of (batch, samples) float32 in -1..1: (batch, samples // 160, 80)."""
    window, filters = _constants(str(sound.device))
    spectrum = torch.stft(sound, N_FFT, HOP, window=window, return_complex=True)[..., :-1]
    power = spectrum.real**2 + spectrum.imag**2
    return torch.log10((power.transpose(1, 2) @ filters).clamp(min=FLOOR))
