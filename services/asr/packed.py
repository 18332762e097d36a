"""Checkpoints whose weights lie compressed: less to keep and to clone, for half a second at start."""

import lzma
import zlib
from pathlib import Path
from typing import Final

import orjson
from tokenizers import Tokenizer

PACKED: Final = "model.bin.xz"
CODED: Final = "model.bin.z"
"""Whole steps of each row's deviation, Huffman-coded: half of what int8 takes."""
CODED_TOKENIZER: Final = "tokenizer.json.xz"
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


def tokenizer_of(folder: Path) -> Tokenizer:
    """The tokenizer of a checkpoint that is coded. Raises OSError for a missing file, LZMAError for a torn one."""
    return Tokenizer.from_str(lzma.decompress((folder / CODED_TOKENIZER).read_bytes()).decode())


def decoded(folder: Path, tokenizer: Tokenizer) -> dict[str, bytes]:
    """The files of a checkpoint that is coded; its vocabulary is the tokenizer's.

    Raises OSError for a missing file, zlib.error for a torn one.
    """
    vocabulary = tokenizer.get_vocab(with_added_tokens=True)
    return {
        "model.bin": zlib.decompress((folder / CODED).read_bytes()),
        "config.json": (folder / "config.json").read_bytes(),
        "vocabulary.json": orjson.dumps(sorted(vocabulary, key=vocabulary.__getitem__)),
    }
