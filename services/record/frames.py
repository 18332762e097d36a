"""How a spool's file is cut into entries, and what a crash leaves of one that was being written."""

import struct
from itertools import pairwise
from typing import Final

LENGTH: Final = struct.Struct(">I")
NONCE_BYTES, TAG_BYTES = 12, 16
SECTOR: Final = 512
"""Bytes that a disk writes as a whole."""
_NOTHING: Final = bytes(1 << 16)


def framed(whole: bytes, at: int) -> bytes | None:
    """What is sealed at a place; none where no entry can be."""
    if at + LENGTH.size > len(whole):
        return None
    (length,) = LENGTH.unpack_from(whole, at)
    sealed = whole[at + LENGTH.size : at + LENGTH.size + length]
    return sealed if len(sealed) == length >= NONCE_BYTES + TAG_BYTES else None


def missing(whole: bytes, start: int, end: int) -> bool:
    """Whether a sector, or the part of one in these bounds, never reached the disk."""
    bounds = [start, *range(sector_after(start), end, SECTOR), end]
    return any(not any(whole[a:b]) for a, b in pairwise(bounds))


def written_up_to(whole: bytes) -> int:
    """The place behind the last byte that is no zero. Most of a file was never written: that is passed in strides."""
    end = len(whole)
    while end >= len(_NOTHING) and whole[end - len(_NOTHING) : end] == _NOTHING:
        end -= len(_NOTHING)
    return len(whole[:end].rstrip(b"\0"))


def sector_after(at: int) -> int:
    """Where the sector after that of a place begins."""
    return at - at % SECTOR + SECTOR
