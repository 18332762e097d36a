"""What a file is, by its first bytes; and what of it is worth a demuxer's time: the sound, without names or pictures.

FFmpeg looks through every name it has for each further one, so that a list of half a million keeps it for hours.
"""

from itertools import pairwise
from typing import Final

from schemas.errors import MalformedAudio, UnsupportedAudio

MAX_BLOCKS: Final = 256
"""Chunks of a WAV, blocks of FLAC metadata or ID3 tags that may come before the sound."""
MAX_LINKS: Final = 16
"""Streams of an Ogg, chained or side by side."""
_OGG_HEAD: Final = 27
_MAX_FORMAT: Final = 64
"""Bytes of a WAV's format chunk; the longest that is taken has 40."""
_UNKNOWN: Final = frozenset({0, 0xFFFFFFFF})
"""What a recorder that could not go back writes as a RIFF length."""

_HEADS: Final = (
    *(b"RIFF", b"RF64", b"OggS", b"fLaC", b"ID3", b".snd", b"FORM", b"caff", b"#!AMR", b"NIST_1A"),
    b"\x1aE\xdf\xa3",
)
"""How files begin that say themselves what they are."""
HEAD_BYTES: Final = max(map(len, _HEADS))


def has_header(data: bytes) -> bool:
    """Whether these are the first bytes of a file that says itself how its sound is written."""
    return data.startswith(_HEADS)


def bare(data: bytes) -> tuple[str, bytes]:
    """The demuxer for a file and the file without what surrounds its sound. Raises MalformedAudio, UnsupportedAudio."""
    if not data:
        raise MalformedAudio("the file is empty")
    data = _without_id3(data)
    if data.startswith(b"RIFF"):
        return "wav", _bare_wav(data)
    if data.startswith(b"fLaC"):
        return "flac", _bare_flac(data)
    if data.startswith(b"OggS"):
        return "ogg", data
    if len(data) > 1 and data[0] == 0xFF and data[1] & 0xE6 == 0xE2:  # noqa: PLR2004 - MPEG audio's sync, layer III
        return "mp3", data
    raise UnsupportedAudio("WAV, FLAC, Ogg or MP3 is taken")


def links(data: bytes) -> list[bytes]:
    """The streams of a chained Ogg, each a file: FFmpeg follows no change of rate. Raises UnsupportedAudio."""
    starts, at, began, beginnings = [0], 0, True, 0
    while data[at : at + 4] == b"OggS" and len(data) >= at + _OGG_HEAD:
        begins = bool(data[at + 5] & 2)
        if begins and not began:
            starts.append(at)
        began, beginnings = begins, beginnings + begins
        if beginnings > MAX_LINKS:
            raise UnsupportedAudio("the file has too many streams")
        segments = data[at + 26]
        at += _OGG_HEAD + segments + sum(data[at + _OGG_HEAD : at + _OGG_HEAD + segments])
    return [data[start:end] for start, end in pairwise([*starts, len(data)])]


def _without_id3(data: bytes) -> bytes:
    """The file after its ID3 tags; their length is given in four times seven bits."""
    start = 0
    for _ in range(MAX_BLOCKS):
        head = data[start : start + 10]
        if len(head) < 10 or not head.startswith(b"ID3"):  # noqa: PLR2004 - bytes of a tag's head
            return data[start:] if start else data
        start += 10 + sum((byte & 127) << shift for byte, shift in zip(head[6:], (21, 14, 7, 0), strict=True))
    raise UnsupportedAudio("the file has too many tags")


def _bare_wav(data: bytes) -> bytes:
    """Format and sound alone. FFmpeg trusts the file's own length rather than the header's; here they must agree."""
    promised = int.from_bytes(data[4:8], "little")
    if promised not in _UNKNOWN and len(data) < promised + 8:
        raise MalformedAudio("the file is shorter than its header says")
    if data[8:12] != b"WAVE":
        raise UnsupportedAudio("RIFF without WAVE")
    form, at = b"", 12
    for _ in range(MAX_BLOCKS):
        kind, size = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "little")
        if kind == b"fmt " and size <= _MAX_FORMAT:
            form = data[at + 8 : at + 8 + size]
        elif kind == b"data":
            return _wave(form, data[at + 8 :] if size in _UNKNOWN else data[at + 8 : at + 8 + size])
        at += 8 + size + size % 2
        if at >= len(data):
            break
    raise MalformedAudio("the file holds no sound")


def _wave(form: bytes, sound: bytes) -> bytes:
    chunks = b"fmt " + len(form).to_bytes(4, "little") + form + b"data" + len(sound).to_bytes(4, "little") + sound
    return b"RIFF" + (len(chunks) + 4).to_bytes(4, "little") + b"WAVE" + chunks


def _bare_flac(data: bytes) -> bytes:
    """The stream's own description and its frames, without comments, pictures and tables."""
    at, info = 4, b""
    for _ in range(MAX_BLOCKS):
        head, size = data[at : at + 1], int.from_bytes(data[at + 1 : at + 4], "big")
        if not head or at + 4 + size > len(data):
            break
        if not head[0] & 127:
            info = data[at + 4 : at + 4 + size]
        at += 4 + size
        if head[0] & 128:
            return b"fLaC\x80" + len(info).to_bytes(3, "big") + info + data[at:]
    raise MalformedAudio("the file's metadata has no end")
