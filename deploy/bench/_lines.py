"""Files of ours, compressed by xz where their names say so."""

import lzma
from pathlib import Path
from typing import Any

import orjson


def unpacked(path: Path) -> bytes:
    """What a file holds. Raises OSError."""
    body = path.read_bytes()
    return lzma.decompress(body) if path.suffix == ".xz" else body


def json_lines(path: Path) -> list[dict[str, Any]]:
    """Every object of a file; empty lines are none."""
    return [orjson.loads(line) for line in unpacked(path).splitlines() if line.strip()]
