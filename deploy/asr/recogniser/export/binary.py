"""CTranslate2's model.bin (version 6), read and written tensor by tensor, without a converter."""

from __future__ import annotations

import lzma
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from recogniser.export.tokens import unfolded

TYPES = (np.float32, np.int8, np.int16, np.int32, np.float16)
"""By CTranslate2's number for each."""
SCALE = "_scale"


@dataclass
class Binary:
    """A model: its specification's name and revision, its tensors by name, and names that stand for others."""

    spec: str
    revision: int
    tensors: dict[str, np.ndarray]
    aliases: dict[str, str]

    def floats(self) -> dict[str, np.ndarray]:
        """All tensors as float32, whole numbers divided by their rows' scales; scalars as they are."""
        found = {}
        for name, value in self.tensors.items():
            if name.endswith(SCALE):
                continue
            if value.dtype == np.int8 and value.ndim == 2:
                found[name] = value.astype(np.float32) / self.tensors[name + SCALE][:, None]
            else:
                found[name] = value.astype(np.float32) if value.ndim else value
        return found


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def number(self, kind: str) -> int:
        size = struct.calcsize("<" + kind)
        self.at += size
        return int(struct.unpack("<" + kind, self.data[self.at - size : self.at])[0])

    def take(self, size: int) -> bytes:
        self.at += size
        return self.data[self.at - size : self.at]

    def string(self) -> str:
        return self.take(self.number("H"))[:-1].decode()


def read(data: bytes) -> Binary:
    """The model in a file's bytes. ValueError: another version."""
    file = _Reader(data)
    if file.number("I") != 6:
        raise ValueError("not a model.bin of version 6")
    spec, revision, tensors = file.string(), file.number("I"), {}
    for _ in range(file.number("I")):
        name = file.string()
        shape = [file.number("I") for _ in range(file.number("B"))]
        kind = TYPES[file.number("B")]
        tensors[name] = np.frombuffer(file.take(file.number("I")), kind).reshape(shape).copy()
    aliases = {file.string(): file.string() for _ in range(file.number("I"))}
    return Binary(spec, revision, tensors, aliases)


def load(folder: Path) -> Binary:
    """The model of a folder: as CTranslate2 takes it, or coded, as it ships."""
    whole = folder / "model.bin"
    return read(whole.read_bytes() if whole.exists() else zlib.decompress((folder / "model.bin.z").read_bytes()))


def tokenizer(folder: Path) -> str:
    """Its tokenizer.json, likewise."""
    whole = folder / "tokenizer.json"
    if whole.exists():
        return whole.read_text(encoding="utf-8")
    return unfolded(lzma.decompress((folder / "tokenizer.json.xz").read_bytes()).decode())


def written(model: Binary) -> bytes:
    """The bytes of a model's file."""

    def string(text: str) -> bytes:
        coded = text.encode() + b"\0"
        return struct.pack("<H", len(coded)) + coded

    out = [struct.pack("<I", 6), string(model.spec), struct.pack("<II", model.revision, len(model.tensors))]
    for name in sorted(model.tensors):
        value = model.tensors[name]
        value = value if value.ndim == 0 else np.ascontiguousarray(value)
        out += [string(name), struct.pack("<B", value.ndim), struct.pack(f"<{value.ndim}I", *value.shape)]
        out += [struct.pack("<BI", TYPES.index(value.dtype.type), value.nbytes), value.tobytes()]
    out.append(struct.pack("<I", len(model.aliases)))
    out += [string(name) + string(of) for name, of in sorted(model.aliases.items())]
    return b"".join(out)


def quantized(tensors: dict[str, np.ndarray], aliases: dict[str, str], step: dict[str, float]) -> Binary:
    """Whisper in int8: each row of a matrix on whole steps of `step[kind]` of its deviation, the rest in float16.

    `kind` is "embedding" or "linear". Coarse steps take few of int8's levels, which a Huffman code makes small.
    """
    found: dict[str, np.ndarray] = {}
    for name, value in tensors.items():
        if name.endswith("/weight") and value.ndim == 2:
            rows, scale = whole(value, step["embedding" if "embeddings" in name else "linear"])
            found[name], found[name + SCALE] = rows, scale
        else:
            found[name] = value.astype(np.float16) if value.dtype == np.float32 and value.ndim else value
    named = dict(aliases) | {a + SCALE: b + SCALE for a, b in aliases.items() if b + SCALE in found}
    return Binary("WhisperSpec", 3, found, named)


def whole(rows: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
    """(int8 rows, float32 scales): rows in whole steps of so much of their standard deviation, wider where need be."""
    size = np.maximum(rows.std(axis=1) * step, np.abs(rows).max(axis=1) / 127)
    size = np.where(size > 0, size, 1.0)
    return np.rint(rows / size[:, None]).astype(np.int8), (1 / size).astype(np.float32)


def coded(data: bytes) -> bytes:
    """Huffman-coded alone: what is left of weights has no repeats to find."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 15, 9, zlib.Z_HUFFMAN_ONLY)
    return packer.compress(data) + packer.flush()
