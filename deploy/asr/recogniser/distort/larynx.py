"""Another larynx for the same words: the spectral envelope is kept, what excites it is made anew.

Synthetic voices differ most in their vocoders, and there are few to train on. A row keeps its formants and gets pulses
of a made pitch below a cut-off, and noise above it and where nothing is voiced: as diphone and LPC voices buzz.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

from recogniser.distort.drawn import Drawn

RATE = 16_000
_WINDOW, _HOP = 512, 128
_LIFTER = (22, 46)
"""Cepstral coefficients kept: the fewer, the smoother the envelope."""
_PITCH_HZ = (75.0, 280.0)
_CUT_HZ = (1_500.0, 9_000.0)
_VOICED_BELOW_HZ = 1_200.0
_FLOOR = 1e-5


class Larynx(Drawn):
    """Random excitation by a generator on the device."""

    def __init__(self, rng: torch.Generator, device: str) -> None:
        super().__init__(rng, device)
        self.window = torch.hann_window(_WINDOW, device=device)
        self.hertz = torch.linspace(0, RATE / 2, _WINDOW // 2 + 1, device=device)[None, :, None]

    def __call__(self, x: Tensor) -> Tensor:
        """(batch, samples) -> the same words and level, excited anew."""
        spectrum = self.spectrum(x)
        envelope, power = self.envelope(spectrum.abs().clamp(min=_FLOOR)), spectrum.abs() ** 2
        low = (power * (self.hertz < _VOICED_BELOW_HZ)).sum(1, keepdim=True)
        voiced = low > self.uniform(0.3, 0.6, len(x), 1, 1) * power.sum(1, keepdim=True)
        pulsed = voiced & (self.hertz < self.uniform(*_CUT_HZ, len(x), 1, 1))
        noise = torch.randn(x.shape, generator=self.rng, device=self.device)
        excited = torch.where(pulsed, self.spectrum(self.pulses(x)), self.spectrum(noise))
        out = self.sound(envelope * excited, x.shape[1])
        level = (x**2).sum(1, keepdim=True) / (out**2).sum(1, keepdim=True).clamp(min=_FLOOR)
        return out * level.sqrt()

    def spectrum(self, x: Tensor) -> Tensor:
        """(batch, 257, frames)."""
        return torch.stft(x, _WINDOW, _HOP, window=self.window, return_complex=True)

    def sound(self, spectrum: Tensor, samples: int) -> Tensor:
        """Overlapped and added, at no certain level; `torch.istft` would look at the device, which then waits."""
        frames = torch.fft.irfft(spectrum, dim=1) * self.window[None, :, None]
        size = (1, _WINDOW + _HOP * (frames.shape[2] - 1))
        added = functional.fold(frames, size, (1, _WINDOW), stride=(1, _HOP))
        return added[:, 0, 0, _WINDOW // 2 : _WINDOW // 2 + samples]

    def envelope(self, magnitude: Tensor) -> Tensor:
        """The magnitude without its fine structure, smoothed in the cepstrum."""
        cepstrum = torch.fft.irfft(magnitude.log(), dim=1)
        kept = torch.arange(_WINDOW, device=self.device)
        kept = torch.minimum(kept, _WINDOW - kept)[None, :, None]
        smooth = cepstrum * (kept <= self.uniform(*_LIFTER, len(magnitude), 1, 1))
        return torch.fft.rfft(smooth, dim=1).real.exp()

    def pulses(self, x: Tensor) -> Tensor:
        """A pulse a period, as strong as white noise of power one, on a wandering pitch."""
        time = torch.arange(x.shape[1], device=self.device)[None] / RATE
        turn = 6.283 * (self.uniform(0.2, 2.5, len(x), 1) * time + self.uniform(0, 1, len(x), 1))
        pitch = self.uniform(*map(math.log, _PITCH_HZ), len(x), 1).exp()
        pitch = pitch * (self.uniform(0, 0.25, len(x), 1) * torch.sin(turn)).exp()
        cycles = (pitch / RATE).cumsum(1).floor()
        strike = torch.diff(cycles, dim=1, prepend=cycles[:, :1]) > 0
        return strike * (RATE / pitch).sqrt()
