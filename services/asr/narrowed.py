"""A decoder for one language alone: the rows of what that language never writes are left out of its vocabulary.

Each token is chosen among all rows, so they are half of a decoder's time. Its encoder, which is never asked, has one
layer, as CTranslate2 wants one.
"""

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import orjson
from tokenizers import Tokenizer

_ROWS: Final = frozenset({"decoder/embeddings/weight", "decoder/embeddings/weight_scale"})
"""Tensors with a row for each token."""
_UNASKED: Final = re.compile(r"encoder/layer_[1-9]")
_PART: Final = "\ufffd"
"""What a token is decoded to that is part of a character."""
_MODEL: Final = "model.bin"
_VOCABULARY: Final = "vocabulary.json"


@dataclass(frozen=True, slots=True)
class OwnTokens:
    """The tokens that a language writes: `whole` are their ids in the whole vocabulary, by their ids among these."""

    whole: tuple[int, ...]
    own: Mapping[int, int]
    """The other way round."""

    @classmethod
    def of(cls, tokenizer: Tokenizer, pattern: str) -> "OwnTokens":
        """Those whose text is of a pattern, parts of characters and marks."""
        like = re.compile(pattern)
        names = sorted(tokenizer.get_vocab(with_added_tokens=True).items(), key=lambda named: named[1])
        whole = tuple(i for name, i in names if name.startswith("<|") or _said(like, tokenizer.decode([i])))
        return cls(whole, {i: at for at, i in enumerate(whole)})

    def ids(self, whole: Sequence[int]) -> list[int] | None:
        """Tokens of the whole vocabulary by their ids here; None where one is not written."""
        found = [self.own.get(i, -1) for i in whole]
        return None if -1 in found else found

    def narrowed(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        """A checkpoint's files for these tokens alone. Raises ValueError or struct.error for one of another form."""
        names = orjson.loads(files[_VOCABULARY])
        config = orjson.loads(files["config.json"])
        own = {name: self.ids(ids) for name, ids in config.items() if name in ("lang_ids", "suppress_ids")}
        return {
            _MODEL: _without(files[_MODEL], self.whole),
            "config.json": orjson.dumps(config | own),
            _VOCABULARY: orjson.dumps([names[i] for i in self.whole]),
        }


def _said(like: re.Pattern[str], text: str) -> bool:
    return _PART in text or like.fullmatch(text) is not None


@dataclass(slots=True)
class _ModelFile:
    """Reads CTranslate2's model.bin, version 6."""

    data: memoryview
    at: int = 0

    def number(self, kind: str) -> int:
        (found,) = struct.unpack_from(f"<{kind}", self.data, self.at)
        self.at += struct.calcsize(f"<{kind}")
        return int(found)

    def take(self, size: int) -> memoryview:
        self.at += size
        return self.data[self.at - size : self.at]

    def string(self) -> str:
        return bytes(self.take(self.number("H"))[:-1]).decode()


def _without(data: bytes, kept: Sequence[int]) -> bytes:
    """A model of those rows, and of the parts that are asked."""
    file = _ModelFile(memoryview(data))
    if file.number("I") != 6:  # noqa: PLR2004 - the version that is told above
        raise ValueError("not a model.bin of version 6")
    file.string()
    head = bytes(file.data[: file.at + 4])
    file.number("I")
    tensors = [(name, body) for name, body in _tensors(file, kept) if not _UNASKED.match(name)]
    return b"".join([head, struct.pack("<I", len(tensors)), *(body for _, body in tensors), file.data[file.at :]])


def _tensors(file: _ModelFile, kept: Sequence[int]) -> Iterator[tuple[str, bytes]]:
    """Each tensor's name, and all that is written of it."""
    for _ in range(file.number("I")):
        begun = file.at
        name = file.string()
        named = file.at
        shape = [file.number("I") for _ in range(file.number("B"))]
        kind, size = file.number("B"), file.number("I")
        body = file.take(size)
        if name not in _ROWS:
            yield name, bytes(file.data[begun : file.at])
            continue
        rows = np.frombuffer(body, np.uint8).reshape(shape[0], -1)[list(kept)]
        sizes = struct.pack(f"<B{len(shape)}I", len(shape), len(kept), *shape[1:])
        yield name, bytes(file.data[begun:named]) + sizes + struct.pack("<BI", kind, rows.size) + rows.tobytes()
