"""Room impulse responses: the measured ones of a folder, and shoebox rooms made by the image-source method."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soundfile

RATE = 16_000
TAPS = 8_000
"""Half a second; what comes later is below the noise of a call."""
_SOUND = 343.0
_ORDER = 12


def shoebox(rng: np.random.Generator) -> np.ndarray:
    """Response (TAPS,) of a random room of 3 to 9 m with a speaker 0.2 to 2.5 m from the microphone."""
    size = rng.uniform((2.5, 2.5, 2.3), (9.0, 7.0, 3.5))
    absorbed = rng.uniform(0.12, 0.7)
    microphone = rng.uniform(0.2, 0.8, 3) * size
    away = rng.normal(size=3)
    source = np.clip(microphone + away / np.linalg.norm(away) * rng.uniform(0.2, 2.5), 0.1, size - 0.1)
    order = np.arange(-_ORDER, _ORDER + 1)
    cells = np.stack(np.meshgrid(order, order, order, indexing="ij"), -1).reshape(-1, 3)
    mirrored = np.where(cells % 2, size - source, source) + cells * size
    distance = np.linalg.norm(mirrored - microphone, axis=1).clip(0.1)
    loss = np.sqrt(1 - absorbed) ** np.abs(cells).sum(1)
    at = (distance / _SOUND * RATE).astype(int)
    sign = np.where(rng.random(len(at)) < 0.5, -1.0, 1.0)  # walls turn the phase; without it low tones pile up
    sign[distance.argmin()] = 1.0
    out = np.zeros(TAPS)
    near = at < TAPS
    np.add.at(out, at[near], (sign * loss / distance)[near])
    return aligned(out)


def aligned(response: np.ndarray) -> np.ndarray:
    """The response from its strongest tap on, cut to TAPS, of unit energy."""
    tail = response[int(np.abs(response).argmax()) :][:TAPS]
    padded = np.pad(tail, (0, TAPS - len(tail)))
    return (padded / np.linalg.norm(padded)).astype(np.float32)


def bank(folder: Path | None, count: int, seed: int = 7) -> np.ndarray:
    """(rooms, TAPS): `count` made rooms, and those of the folder as often as a quarter of them."""
    rng = np.random.default_rng(seed)
    rooms = [shoebox(rng) for _ in range(count)]
    measured = [] if folder is None else [soundfile.read(p)[0] for p in sorted(folder.glob("*.wav"))]
    return np.stack(rooms + [aligned(m) for m in measured] * max(1, count // 16))
