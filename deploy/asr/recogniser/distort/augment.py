"""Distortion of log-mel batches on whichever device holds them: what sound alone (distort/wave.py) does not reach.

A batch is (batch, frames, 80) of log10 mel power. Pace and formants move by one interpolation, each along a crooked
line, so that no two utterances share a vocal tract; formants drift and sounds hurry or linger, so that no two
share an accent; then the colour of another utterance and of a microphone, and masks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from recogniser.distort.drawn import Drawn

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
class MelStrength:
    """How far each distortion goes; the defaults are for synthetic voices."""

    formant: float = 0.16
    crooked: float = 0.05
    drift: float = 3.0
    hurry: float = 4.0
    borrowed: float = 0.5
    colour: float = 1.0
    masks: int = 2


class Augment(Drawn):
    """Random distortion with its own generator."""

    def __init__(self, seed: int, device: str = "cpu") -> None:
        super().__init__(torch.Generator(device=device).manual_seed(seed), device)
        self.strength = MelStrength()
        self.hertz = centres(device)
        self.unevenness = torch.tensor([0.45, 0.3, 0.2, 0.15, 0.12], device=device)

    def __call__(self, mel: Tensor, pace: Tensor, frames: int, views: int = 1) -> Tensor:
        """(batch, n, 80) spoken `pace` times as fast -> (views x batch, frames, 80), scaled as the recogniser does.

        The views of an utterance go alike in time: it is said by other vocal tracts, into other microphones.
        """
        return self.mask(level_scale(self.colour(self.borrow(self.warp(mel, pace, frames, views)))))

    def wave(self, positions: Tensor, batch: int) -> Tensor:
        """(batch, n) smooth random curves within about one, over positions 0 to 1."""
        phase, turns = self.uniform(0, 1, batch, 2, 1), self.uniform(0.3, 2.0, batch, 2, 1)
        return torch.sin(2 * math.pi * (turns * positions + phase)).mean(1)

    def warp(self, mel: Tensor, pace: Tensor, frames: int, views: int) -> Tensor:
        """Move pace, and for each view its formants."""
        batch, before, _ = mel.shape
        s = self.strength
        share = torch.linspace(0, 1, frames, device=self.device)
        time = torch.arange(frames, device=self.device) * pace[:, None] + 60 * s.crooked * self.wave(share, batch)
        time = (time + s.hurry * self.ripples(frames, batch)).repeat(views, 1)
        mel, batch = mel.repeat(views, 1, 1), views * batch
        formant = torch.exp(self.uniform(-s.formant, s.formant, batch, 1))
        formant = formant * (1 + s.crooked * self.wave(torch.linspace(0, 1, MELS, device=self.device), batch))
        band = _mel_of(self.hertz[None] / formant) * (MELS + 1) / _TOP - 1
        grid_t = (2 * time.clamp(0, before - 1) + 1) / before - 1
        band = band[:, None, :] + s.drift * self.ripples(frames, batch)[:, :, None] * self.slopes(batch)[:, None, :]
        grid_f = (2 * band.clamp(0, MELS - 1) + 1) / MELS - 1
        grid = torch.stack([grid_f, grid_t[:, :, None].expand(-1, -1, MELS)], dim=-1)
        moved = F.grid_sample(mel[:, None], grid, mode="bilinear", padding_mode="border", align_corners=False)
        return moved[:, 0]

    def ripples(self, frames: int, batch: int) -> Tensor:
        """(batch, frames) curves within about one that turn a few times a second."""
        seconds = torch.arange(frames, device=self.device) / 100
        phase, hertz = self.uniform(0, 1, batch, 3, 1), self.uniform(0.8, 4.5, batch, 3, 1)
        return self.uniform(0, 1, batch, 1) * torch.sin(2 * math.pi * (hertz * seconds + phase)).sum(1) / 1.7

    def slopes(self, batch: int) -> Tensor:
        """(batch, 80) by how much, and which way, each band takes part in a drift."""
        return torch.cos(math.pi * (torch.linspace(0, 1, MELS, device=self.device) * 2 + self.uniform(0, 2, batch, 1)))

    def borrow(self, x: Tensor) -> Tensor:
        """Some rows take on, more or less of it, the mean and the spread that each band has in the row before."""
        mean, spread = x.mean(1, keepdim=True), x.std(1, keepdim=True).clamp(min=0.05)
        share = self.uniform(0, 1, len(x), 1, 1) * (self.uniform(0, 1, len(x), 1, 1) < self.strength.borrowed)
        depth = (spread.roll(1, 0) / spread).clamp(0.6, 1.6) ** share
        return (x - mean) * depth + mean + share * (mean.roll(1, 0) - mean)

    def colour(self, x: Tensor) -> Tensor:
        """A smooth random frequency response of a few decibels, with tilt."""
        band = torch.linspace(0, 1, MELS, device=self.device)
        waves = torch.stack([torch.cos(math.pi * k * band) for k in range(1, 6)])
        gain = torch.randn(len(x), 5, generator=self.rng, device=self.device) * self.unevenness
        return x + self.strength.colour * (gain @ waves)[:, None, :]

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
