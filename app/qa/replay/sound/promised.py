"""How long a file says that it is, where its first bytes tell: what was cut off in transfer is not heard as a whole."""

from pathlib import Path
from typing import Final

_HEAD: Final = 12
_UNKNOWN: Final = frozenset({0, 0xFFFFFFFF})
"""What a recorder writes that could not go back to tell the length."""


def promised_bytes(path: Path) -> int:
    """By the header of a WAV or an AU file; 0 for all others, and where the header leaves it open. Raises OSError."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if head.startswith(b"RIFF") and head[8:] == b"WAVE":
        length, before = int.from_bytes(head[4:8], "little"), 8
    elif head.startswith(b".snd"):
        length, before = int.from_bytes(head[8:], "big"), int.from_bytes(head[4:8], "big")
    else:
        return 0
    return 0 if length in _UNKNOWN else before + length
