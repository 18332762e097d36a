"""Room impulse responses: `recogniser rooms --measured SPEECH/rir --out corpus/rooms.npy` writes them once.

Made ones are shoebox rooms by the image-source method (pyroomacoustics, MIT), beside the measured ones of a folder.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import soundfile

RATE = 16_000
TAPS = 8_000
"""Half a second; what comes later is below the noise of a call."""
_ORDER = 24
MADE = 96
"""Rooms; the measured ones come as often as a quarter of them."""


def shoebox(rng: np.random.Generator) -> np.ndarray:
    """Response (TAPS,) of a random room of 3 to 9 m with a speaker 0.2 to 2.5 m from the microphone."""
    import pyroomacoustics

    size = rng.uniform((2.5, 2.5, 2.3), (9.0, 7.0, 3.5))
    walls = pyroomacoustics.Material(rng.uniform(0.12, 0.7))
    microphone = rng.uniform(0.2, 0.8, 3) * size
    away = rng.normal(size=3)
    source = np.clip(microphone + away / np.linalg.norm(away) * rng.uniform(0.2, 2.5), 0.1, size - 0.1)
    # Displaced images: exact ones of a box arrive in step, and low tones pile up.
    room = pyroomacoustics.ShoeBox(
        size, fs=RATE, materials=walls, max_order=_ORDER, use_rand_ism=True, max_rand_disp=0.08
    )
    room.add_source(source).add_microphone(microphone).compute_rir()
    return aligned(room.rir[0][0])


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


def read(path: Path) -> np.ndarray:
    """(rooms, TAPS) as they were written."""
    return np.load(path)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measured", type=Path, help="folder of measured responses, 16 kHz WAV")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=MADE, help="made rooms")
    args = parser.parse_args()
    args.out.parent.mkdir(parents=True, exist_ok=True)
    np.save(args.out, bank(args.measured, args.count))
