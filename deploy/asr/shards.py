"""Files of training speech, as corpus.py reads them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

Spoken = tuple[np.ndarray, str, str]
"""int16 sound at 16 kHz, transcript, "voice|category"."""


def write(path: Path, rows: Sequence[Spoken], lang: str) -> None:
    """One shard, in one move."""
    sounds, texts, names = zip(*rows, strict=True)
    partial = path.with_suffix(".tmp.npz")
    length = np.array([len(sound) for sound in sounds])
    np.savez(
        partial, audio=np.concatenate(sounds), length=length, text=np.array(texts), voice=np.array(names), lang=lang
    )
    partial.replace(path)
