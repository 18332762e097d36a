"""Changes of the weights that hear a corpus."""

import io
import lzma
import zlib
from pathlib import Path
from typing import Final

import numpy as np

from services.asr.packed import CODED

SEED: Final = 46


def worse_weights(_manifest: Path, tree: Path) -> None:
    """The recogniser with noise in its last layer's biases, as a training that went wrong leaves them."""
    path = tree / "services" / "asr" / "model" / "en" / "ctc.npz"
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    generator = np.random.default_rng(SEED)
    worse = {
        name: (array + generator.normal(0, 0.5 * float(np.std(array)) + 1e-6, array.shape)).astype(array.dtype)
        if array.dtype.kind == "f"
        else array
        for name, array in arrays.items()
    }
    path.unlink()
    np.savez(path, **worse)


def torn_weights(_manifest: Path, tree: Path) -> None:
    path = tree / "services" / "asr" / "model" / CODED
    body = path.read_bytes()
    path.unlink()
    path.write_bytes(body[: len(body) // 2])


def swapped_bytes(_manifest: Path, tree: Path) -> None:
    """Weights in which a stretch is noise: they load, and hear badly."""
    path = tree / "services" / "asr" / "model" / CODED
    body = bytearray(zlib.decompress(path.read_bytes()))
    middle, size = len(body) // 2, len(body) // 20
    body[middle : middle + size] = np.random.default_rng(SEED).integers(100, 140, size, dtype=np.uint8).tobytes()
    path.unlink()
    path.write_bytes(zlib.compress(bytes(body), level=1))


def noisy_language(_manifest: Path, tree: Path) -> None:
    """A language model in which what words cost is shuffled."""
    path = tree / "services" / "asr" / "model" / "en" / "language.npz.xz"
    with np.load(io.BytesIO(lzma.decompress(path.read_bytes()))) as stored:
        arrays = {name: stored[name] for name in stored.files}
    generator = np.random.default_rng(SEED)
    for name in [name for name in arrays if name.startswith("cost")]:
        arrays[name] = generator.permutation(arrays[name])
    body = io.BytesIO()
    np.savez(body, **arrays)
    path.unlink()
    path.write_bytes(lzma.compress(body.getvalue(), preset=0))


def shifted_tokens(_manifest: Path, tree: Path) -> None:
    """A head whose outputs stand two places beside where its tokens are."""
    path = tree / "services" / "asr" / "model" / "en" / "ctc.npz"
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    arrays |= {name: np.roll(arrays[name], 2, axis=0) for name in ("weight", "bias")}
    path.unlink()
    np.savez(path, **arrays)


def repacked(_manifest: Path, tree: Path) -> None:
    path = tree / "services" / "asr" / "model" / "en" / "language.npz.xz"
    body = lzma.decompress(path.read_bytes())
    path.unlink()
    path.write_bytes(lzma.compress(body, preset=1))
