"""From clean sound to the features that the model sees: the distortion of sound, then of log-mel, and how strong."""

from __future__ import annotations

from dataclasses import replace
from math import lcm
from pathlib import Path

import numpy as np
import soundfile
import torch
from torch import Tensor

from recogniser.distort.augment import Augment, MelStrength
from recogniser.distort.frontend import RATE, log_mel
from recogniser.distort.transfer import sent, stepped
from recogniser.distort.wave import STEP, Placed, Wave, WaveStrength
from recogniser.train.corpus import HOP, Batch

PACE = 0.14
NOISE_HELD_OUT = ("coffee-shop", "sb_noise5", "dtmf-7", "pv_empty")


def noise_bank(folder: Path) -> Tensor:
    """(samples,) of the training share of the backgrounds, one after another, each with its peak at 1."""
    parts = []
    for path in sorted(folder.iterdir()):
        if path.suffix in {".wav", ".flac"} and path.stem not in NOISE_HELD_OUT and "leak" not in path.stem:
            audio, rate = soundfile.read(path, dtype="float32", always_2d=True)
            if rate == RATE and len(audio) > 1600:
                sound = np.tile(audio[:, 0], max(1, RATE // len(audio)))
                parts.append(sound / max(float(np.abs(sound).max()), 1e-4))
    return torch.from_numpy(np.concatenate(parts))


class Distortion:
    """From clean sound to the features that the model sees, on the device: one view of each utterance or two."""

    def __init__(self, noise: Tensor, made: Tensor, seed: int, device: str, views: int = 1) -> None:
        self.wave, self.mel = Wave(noise, made, seed, device), Augment(seed, device)
        self.device, self.views = device, views

    def __call__(self, batch: Batch, block: int) -> tuple[Tensor, Placed]:
        """(views x batch, frames, 80) with frames a multiple of `block`, and where in them the speech lies."""
        sound, placed = self.wave(batch.audio, batch.length, batch.silent)
        spread = PACE * self.wave.strength.pitch / WaveStrength.pitch
        pace = np.exp(self.wave.draw.uniform(-spread, spread, len(sound)))
        frames = stepped(int((placed.used / pace).max()) // HOP + 1, lcm(block, STEP // HOP))
        tempo = sent(pace.astype(np.float32), self.device)
        mel = self.mel(log_mel(sound), tempo, frames, self.views)
        return mel, Placed(placed.lead / pace, placed.speed * pace, placed.used / pace)


def known(named: frozenset[str]) -> None:
    """ValueError for the name of a distortion that there is not."""
    if unknown := named - vars(WaveStrength()).keys() - vars(MelStrength()).keys():
        raise ValueError(f"no such distortion: {sorted(unknown)}")


def strengths_at(
    progress: float, most: float, *, fresh: bool, without: frozenset[str] = frozenset()
) -> tuple[WaveStrength, MelStrength]:
    """None at first, the whole of it after half of the time: alignment is learnt sooner on clear speech."""
    k = most * (min(1.0, max(0.0, (progress - 0.08) / 0.3)) if fresh else 1.0)

    def shares(whole: WaveStrength | MelStrength) -> dict[str, float]:
        return {name: k * full * (name not in without) for name, full in vars(whole).items()}

    masks = 0 if k < 0.1 or "masks" in without else 1 if k < 0.7 else 2
    return WaveStrength(**shares(WaveStrength())), replace(MelStrength(**shares(MelStrength())), masks=masks)
