"""Checkpoints whose weights lie compressed: a sixth less to keep and to clone, for half a second at start."""

import lzma
from pathlib import Path
from typing import Final

PACKED: Final = "model.bin.xz"
_BESIDE: Final = ("config.json", "vocabulary.json")


def unpacked(folder: Path) -> dict[str, bytes] | None:
    """The files of a checkpoint as CTranslate2 takes them from memory; None where its weights are not compressed.

    Raises OSError for a missing file, EOFError or LZMAError for a torn one.
    """
    path = folder / PACKED
    if not path.exists():
        return None
    beside = {name: (folder / name).read_bytes() for name in _BESIDE}
    return {"model.bin": lzma.decompress(path.read_bytes()), **beside}
