"""Checkpoints whose weights lie coded: less to keep and to clone, for half a second at start."""

import lzma
import zlib
from itertools import chain
from pathlib import Path
from typing import Any, Final

import orjson
from tokenizers import Tokenizer

CODED: Final = "model.bin.z"
"""Whole steps of each row's deviation, Huffman-coded: half of what int8 takes."""
CODED_TOKENIZER: Final = "tokenizer.json.xz"
"""A tokenizer.json in which each token that a merge makes is told by the merge alone."""


def tokenizer_of(folder: Path) -> Tokenizer:
    """The tokenizer of a checkpoint that is coded. Raises OSError for a missing file, LZMAError for a torn one."""
    return Tokenizer.from_str(_unfolded(lzma.decompress((folder / CODED_TOKENIZER).read_bytes())).decode())


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


def _unfolded(short: bytes) -> bytes:
    """The tokenizer.json of one in short, as deploy/asr writes it."""
    told: dict[str, Any] = orjson.loads(short)
    model = told["model"]
    merges = [pair.split(" ") for pair in model["merges"]]
    first, last = model["vocab"]
    tokens = chain(first, map("".join, merges), last)
    told["model"] = model | {"vocab": {token: at for at, token in enumerate(tokens)}, "merges": merges}
    return orjson.dumps(told)
