"""Files of training speech, as train/corpus.py reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

Spoken = tuple[np.ndarray, str, str]
"""int16 sound at 16 kHz, transcript, "voice|category"."""


def written(sound: np.ndarray) -> np.ndarray:
    """int16 sound with its peak at half of full scale; silence stays silent."""
    return (sound * (0.5 * 32767 / max(float(np.abs(sound).max()), 1e-4))).astype(np.int16)


def write(path: Path, rows: Sequence[Spoken], lang: str) -> None:
    """One shard."""
    sounds, texts, names = zip(*rows, strict=True)
    length = np.array([len(sound) for sound in sounds])
    told = {"length": length, "text": np.array(texts), "voice": np.array(names), "lang": np.array(lang)}
    save(path, {"audio": np.concatenate(sounds)} | told)


def save(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """A file of arrays, in one move."""
    partial = path.with_suffix(".tmp.npz")
    np.savez(partial, **arrays)
    partial.replace(path)


def planned(out: Path, seed: int, items: range, size: int) -> list[tuple[range, Path]]:
    """Items and file of each shard; a file's number tells where its items begin."""
    parts = [items[at : at + size] for at in range(0, len(items), size)]
    return [(part, out / f"{seed:03d}-{part[0] // size:05d}.npz") for part in parts]
