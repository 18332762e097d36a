"""Checkpoints of a fine-tuning: the weights that it begins with, and those that it writes, coded, in pieces."""

from __future__ import annotations

import copy
import zlib
from pathlib import Path

from torch import Tensor

from recogniser.export import binary
from recogniser.train.whisper import Tensors, Whisper

PIECE = 15 << 20
"""Bytes of a file."""


def begun(folder: Path) -> tuple[Tensors, dict[str, str]]:
    """Weights to begin with, and their aliases."""
    data = b"".join((folder / f"weights.{n}").read_bytes() for n in (1, 2))
    model = binary.read(zlib.decompress(data))
    return model.floats(), model.aliases


def kept(model: Whisper, average: dict[str, Tensor], scalars: Tensors, aliases: dict[str, str], out: Path, name: str,
         steps: dict[str, float]) -> None:  # fmt: skip
    """Write a checkpoint, coded, in pieces."""
    shadow = copy.deepcopy(model)
    shadow.load_state_dict(average, strict=False)
    tensors = {k: v for k, v in scalars.items() if v.ndim == 0 or k == "decoder/alignment_heads"} | shadow.tensors()
    data = binary.coded(binary.written(binary.quantized(tensors, aliases, steps)))
    for old in out.glob(f"{name}.[0-9]"):
        old.unlink()
    for n, at in enumerate(range(0, len(data), PIECE)):
        (out / f"{name}.{n}.tmp").write_bytes(data[at : at + PIECE])
        (out / f"{name}.{n}.tmp").rename(out / f"{name}.{n}")
