"""Bytes of a stream to samples: PCM16 little-endian and G.711, both laws by a 256-entry table."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from schemas.audio import AudioFormat, Encoding, Samples
from schemas.errors import MalformedAudio

_FULL_SCALE: Final = np.float32(32768.0)


def _mulaw_table() -> NDArray[np.float32]:
    """G.711 µ-law: bits are inverted; sign, 3 bits of segment, 4 of step, bias 132."""
    code = ~np.arange(256, dtype=np.uint8)
    segment, step = (code >> 4) & 7, (code & 15).astype(np.int32)
    magnitude = ((step << 3) + 132 << segment.astype(np.int32)) - 132
    return np.where(code & 0x80, -magnitude, magnitude).astype(np.float32) / _FULL_SCALE


def _alaw_table() -> NDArray[np.float32]:
    """G.711 A-law: even bits are inverted; segment 0 is linear, the others carry a hidden bit."""
    code = np.arange(256, dtype=np.uint8) ^ 0x55
    segment, step = ((code >> 4) & 7).astype(np.int32), (code & 15).astype(np.int32)
    magnitude = np.where(segment == 0, (step << 4) + 8, ((step << 4) + 264) << np.maximum(segment - 1, 0))
    return np.where(code & 0x80, magnitude, -magnitude).astype(np.float32) / _FULL_SCALE


MULAW: Final = _mulaw_table()
"""µ-law code → sample, shape (256,)."""
ALAW: Final = _alaw_table()
"""A-law code → sample, shape (256,)."""


def decode(data: bytes, form: AudioFormat) -> Samples:
    """Samples at the stream's own rate, shape (n,); none of an empty frame. Raises MalformedAudio on half ones."""
    if form.encoding is Encoding.PCM16:
        if len(data) % 2:
            raise MalformedAudio("a PCM16 frame has an odd number of bytes")
        return np.frombuffer(data, dtype="<i2").astype(np.float32) / _FULL_SCALE
    table = MULAW if form.encoding is Encoding.MULAW else ALAW
    return table[np.frombuffer(data, dtype=np.uint8)]


def encode_pcm16(samples: Samples) -> bytes:
    """Samples as PCM16 little-endian, clipped to full scale."""
    return (np.clip(samples, -1.0, 1.0) * np.float32(32767.0)).round().astype("<i2").tobytes()
