"""Files of training speech, which export/payload.py reads, and sound as Ogg Opus."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

RATE = 16_000
Spoken = tuple[np.ndarray, str, str]
"""int16 sound at 16 kHz, transcript, "voice|category"."""


def write(path: Path, rows: Sequence[Spoken], lang: str) -> None:
    """One shard, in one move."""
    sounds, texts, names = zip(*rows, strict=True)
    length = np.array([len(sound) for sound in sounds])
    told = {"length": length, "text": np.array(texts), "voice": np.array(names), "lang": np.array(lang)}
    partial = path.with_suffix(".tmp.npz")
    np.savez(partial, audio=np.concatenate(sounds), **told)
    partial.replace(path)


def planned(out: Path, seed: int, items: range, size: int) -> list[tuple[range, Path]]:
    """Items and file of each shard; a file's number tells where its items begin."""
    parts = [items[at : at + size] for at in range(0, len(items), size)]
    return [(part, out / f"{seed:03d}-{part[0] // size:05d}.npz") for part in parts]


def to_opus(sound: np.ndarray, level: float) -> bytes:
    """Sound as Ogg Opus, at a compression `level` from 0 (best) to 1 (worst)."""
    import soundfile  # here, because only training has it

    coded = io.BytesIO()
    soundfile.write(coded, sound, RATE, format="OGG", subtype="OPUS", compression_level=level)
    return coded.getvalue()


def through_opus(sound: np.ndarray, level: float) -> np.ndarray:
    """What comes back of it, float32."""
    import soundfile

    heard: np.ndarray = soundfile.read(io.BytesIO(to_opus(sound, level)), dtype="float32")[0]
    return heard[: len(sound)]
