"""A language model of a few sentences over a few tokens."""

import io
import lzma
from pathlib import Path
from typing import Final

import numpy as np

from recogniser.export import ngram_counts
from services.asr.ngrams import Ngrams

TOKENS: Final = 3


def counted(folder: Path, texts: list[list[int]], least: list[int]) -> Ngrams:
    """The model of these sentences, by way of its file."""
    before = [0] * (len(least) - 1)
    text = [t for row in texts for t in [*before, *(token + 1 for token in row), 0]]
    foretold = [f for row in texts for f in [*[False] * len(before), *[True] * (len(row) + 1)]]
    arrays = ngram_counts.model(np.array(text, dtype=np.int64), np.array(foretold), TOKENS + 1, least)
    whole = io.BytesIO()
    np.savez(whole, **arrays)
    (folder / "language.npz.xz").write_bytes(lzma.compress(whole.getvalue()))
    return Ngrams(folder / "language.npz.xz", TOKENS)
