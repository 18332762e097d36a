"""Lines of JSON in a file of ours, compressed by xz where its name says so."""

import lzma
from pathlib import Path
from typing import Any

import orjson


def json_lines(path: Path) -> list[dict[str, Any]]:
    """Every object of a file; empty lines are none."""
    body = path.read_bytes()
    unpacked = lzma.decompress(body) if path.suffix == ".xz" else body
    return [orjson.loads(line) for line in unpacked.splitlines() if line.strip()]
