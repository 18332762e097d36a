"""Distortion of log-mel batches on whichever device holds them: cheap enough that no example is ever seen twice.

A batch is (batch, frames, 80) of log10 mel power with FLOOR_LOG where there is nothing. Speed, formants, colouring,
rooms, noise, babble, the telephone band, and masks all act on mel power, so no resampling or FFT is needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

FLOOR_LOG = -10.0
MELS = 80
_TOP = 15 + math.log(8) / (math.log(6.4) / 27)


def _mel_of(hertz: Tensor) -> Tensor:
    return torch.where(hertz < 1000, hertz * 3 / 200, 15 + torch.log(hertz.clamp(min=1) / 1000) / (math.log(6.4) / 27))


def _hertz_of(mel: Tensor) -> Tensor:
    return torch.where(mel < 15, mel * 200 / 3, 1000 * torch.exp((math.log(6.4) / 27) * (mel - 15)))


def centres(device: torch.device | str = "cpu") -> Tensor:
    """Centre frequency of each mel band in Hz."""
    return _hertz_of(torch.arange(1, MELS + 1, device=device) * _TOP / (MELS + 1))


@dataclass
class Strength:
    """How far each distortion goes; the defaults are for synthetic voices."""

    speed: float = 0.16
    formant: float = 0.16
    noise: float = 0.75
    telephone: float = 0.35
    room: float = 0.3
    colour: float = 1.0
    masks: int = 2


class Augment:
    """Random distortion with its own generator; `noise` is (frames, 80) of recorded background in log10 mel power."""

    def __init__(self, noise: Tensor, seed: int, device: str = "cpu", strength: Strength | None = None) -> None:
        self.device = device
        self.noise = noise.float().to(device)
        self.strength = strength or Strength()
        self.rng = torch.Generator(device=device).manual_seed(seed)
        self.hertz = centres(device)
        self.placed: tuple[Tensor, Tensor] | None = None

    def uniform(self, low: float, high: float, *size: int) -> Tensor:
        """Uniform numbers on the device."""
        return low + (high - low) * torch.rand(*size, generator=self.rng, device=self.device)

    def __call__(self, mel: Tensor, lengths: Tensor, silent: Tensor) -> Tensor:
        """(batch, frames, 80), lengths, silent flags -> distorted batch in Whisper's scale with room around it."""
        x = self.warp(mel, lengths)
        x = torch.where(silent[:, None, None], torch.full_like(x, FLOOR_LOG), x)
        x = self.colour(x)
        if self.uniform(0, 1, 1).item() < self.strength.room:
            x = self.room(x)
        x = self.add_noise(x, silent)
        x = self.telephone(x)
        return self.mask(level_scale(x))

    def warp(self, mel: Tensor, lengths: Tensor) -> Tensor:
        """Stretch time and frequency in one interpolation, and place the utterance after a random silence."""
        batch, frames, _ = mel.shape
        s = self.strength
        speed = torch.exp(self.uniform(-s.speed, s.speed, batch))
        formant = torch.exp(self.uniform(-s.formant, s.formant, batch))
        lead = self.uniform(0, 1, batch) ** 2 * 60
        tail = self.uniform(0, 1, batch) ** 2 * 50
        self.placed = (lead, speed)
        out = int((lengths / speed + lead + tail).max().item())
        out += -out % 12  # whole encoder positions for a stack of 1, 2 or 3
        source = (torch.arange(out, device=self.device)[None] - lead[:, None]) * speed[:, None]
        band = _mel_of(self.hertz[None] / formant[:, None]) * (MELS + 1) / _TOP - 1
        grid_t = (2 * source + 1) / frames - 1
        grid_f = ((2 * band.clamp(0, MELS - 1) + 1) / MELS - 1)[:, None, :].expand(-1, out, -1)
        grid = torch.stack([grid_f, grid_t[:, :, None].expand(-1, -1, MELS)], dim=-1)
        moved = F.grid_sample(
            (mel - FLOOR_LOG)[:, None], grid, mode="bilinear", padding_mode="zeros", align_corners=False
        )
        return moved[:, 0] + FLOOR_LOG

    def colour(self, x: Tensor) -> Tensor:
        """A smooth random frequency response of a few decibels, with tilt."""
        band = torch.linspace(0, 1, MELS, device=self.device)
        waves = torch.stack([torch.cos(math.pi * k * band) for k in range(1, 6)])
        gain = torch.randn(len(x), 5, generator=self.rng, device=self.device) * torch.tensor(
            [0.45, 0.3, 0.2, 0.15, 0.12], device=self.device
        )
        return x + self.strength.colour * (gain @ waves)[:, None, :]

    def room(self, x: Tensor) -> Tensor:
        """Late reverberation as an exponential tail of power: 0.1 to 0.7 s."""
        taps = torch.arange(40, device=self.device)
        decay = self.uniform(0.1, 0.7, len(x))
        level = 10 ** self.uniform(-2.2, -0.7, len(x))
        tail = torch.exp(-13.8 * taps[None] * 0.01 / decay[:, None]) * level[:, None]
        tail[:, 0] = 1.0
        power = 10**x
        flat = power.permute(0, 2, 1)
        kernel = tail.flip(1)[:, None, :]
        out = F.conv1d(F.pad(flat, (39, 0)).permute(1, 0, 2), kernel, groups=len(x))
        return torch.log10(out.permute(1, 2, 0).clamp(min=1e-10))

    def background(self, batch: int, frames: int) -> Tensor:
        """Log power of recorded noise, or of stationary noise with a random slope, a hum or a tone now and then."""
        start = (self.uniform(0, 1, batch) * (len(self.noise) - frames - 1)).long()
        rows = start[:, None] + torch.arange(frames, device=self.device)[None]
        recorded = self.noise[rows]
        band = torch.linspace(0, 1, MELS, device=self.device)
        slope = self.uniform(-5, 1.5, batch, 1, 1) * band
        ripple = torch.log10(
            torch.rand(batch, frames, MELS, generator=self.rng, device=self.device).clamp(min=0.02) * 1.5
        )
        made = slope + ripple * self.uniform(0.2, 0.8, batch, 1, 1)
        where = self.uniform(2, 60, batch, 1, 1)
        tone = -((torch.arange(MELS, device=self.device) - where) ** 2) * 0.6
        on = (
            torch.sin(torch.arange(frames, device=self.device)[None, :, None] * self.uniform(0.02, 0.5, batch, 1, 1))
            > self.uniform(-1.2, 0.8, batch, 1, 1)
        ).float()
        toned = torch.maximum(made - 2.5, tone + (on - 1) * 6)
        kind = self.uniform(0, 1, batch, 1, 1)
        return torch.where(kind < 0.55, recorded, torch.where(kind < 0.92, made, toned))

    def add_noise(self, x: Tensor, silent: Tensor) -> Tensor:
        """Mix background, or the next utterance as babble, at -2 to 40 dB."""
        batch, frames, _ = x.shape
        noise = self.background(batch, frames)
        babble = self.uniform(0, 1, batch, 1, 1) < 0.12
        noise = torch.where(babble & ~silent[:, None, None] & ~silent.roll(1)[:, None, None], x.roll(1, 0), noise)
        loud = lambda t: torch.log10((10**t).mean(dim=(1, 2), keepdim=True).clamp(min=1e-10))  # noqa: E731
        speech = loud(x).clamp(min=-4.0)
        snr = self.uniform(-0.1, 3.6, batch, 1, 1) + babble.float() * 0.9
        used = (self.uniform(0, 1, batch, 1, 1) < self.strength.noise) | silent[:, None, None]
        level = torch.where(silent[:, None, None], self.uniform(-7, 0, batch, 1, 1), speech - snr)
        mixed = torch.log10(10**x + 10 ** (noise - loud(noise) + level))
        floor = torch.log10(10**x + 10 ** self.uniform(-9.5, -5.0, batch, 1, 1))
        return torch.where(used, mixed, floor)

    def telephone(self, x: Tensor) -> Tensor:
        """300 to 3,400 Hz with soft edges and a quantiser's noise floor."""
        low, high = self.uniform(120, 350, len(x), 1), self.uniform(3100, 4000, len(x), 1)
        under = ((low - self.hertz[None]) / 60).clamp(0, 4.5)
        over = ((self.hertz[None] - high) / 90).clamp(0, 8)
        narrow = x - (under + over)[:, None, :]
        floor = x.amax(dim=(1, 2), keepdim=True) - self.uniform(4.2, 7.0, len(x), 1, 1) - over[:, None, :]
        narrow = torch.maximum(narrow, floor).clamp(min=FLOOR_LOG)
        used = self.uniform(0, 1, len(x), 1, 1) < self.strength.telephone
        return torch.where(used, narrow, x)

    def mask(self, x: Tensor) -> Tensor:
        """SpecAugment: a few bands and stretches of time replaced by the mean."""
        batch, frames, mels = x.shape
        mean = x.mean(dim=(1, 2), keepdim=True)
        for _ in range(self.strength.masks):
            width, at = self.uniform(0, 13, batch, 1), self.uniform(0, mels, batch, 1)
            bands = torch.arange(mels, device=self.device)[None]
            x = torch.where(((bands >= at) & (bands < at + width))[:, None, :], mean, x)
            width, at = self.uniform(0, 1, batch, 1) * min(22, 0.1 * frames), self.uniform(0, frames, batch, 1)
            steps = torch.arange(frames, device=self.device)[None]
            x = torch.where(((steps >= at) & (steps < at + width))[:, :, None], mean, x)
        return x


def level_scale(x: Tensor) -> Tensor:
    """Clamp to 8 decades below each utterance's maximum and scale as Whisper does, then put that maximum at 1.

    So loudness does not matter; services/asr does the same to Whisper's features (subtract the maximum, add 1).
    """
    top = x.amax(dim=(1, 2), keepdim=True)
    return (torch.maximum(x.clamp(min=FLOOR_LOG), top - 8.0) - top) / 4.0 + 1.0
