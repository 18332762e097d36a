"""Bytes of a stream to samples and back: PCM16 little-endian and G.711, both laws by a 256-entry table."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from schemas.audio import AudioFormat, Encoding, Samples
from schemas.errors import MalformedAudio

_FULL_SCALE: Final = np.float32(32768.0)
SILENCE: Final = MappingProxyType({Encoding.PCM16: b"\0", Encoding.MULAW: b"\xff", Encoding.ALAW: b"\xd5"})
"""The byte that silence is made of."""


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


def encode(samples: Samples, form: AudioFormat) -> bytes:
    """Samples at the format's own rate as its bytes."""
    match form.encoding:
        case Encoding.PCM16:
            return encode_pcm16(samples)
        case Encoding.MULAW:
            return _MULAW.companded(samples)
        case Encoding.ALAW:
            return _ALAW.companded(samples)


@dataclass(frozen=True, slots=True, eq=False)
class _Law:
    """A law of G.711: the code of every value that PCM16 has, from the lowest."""

    codes: NDArray[np.uint8]

    @classmethod
    def of(cls, table: Samples) -> "_Law":
        """The law whose code i stands for the value table[i]."""
        order = np.argsort(table)
        values = table[order]
        levels = np.arange(-32_768, 32_768, dtype=np.float32) / _FULL_SCALE
        nearest = np.searchsorted((values[1:] + values[:-1]) / np.float32(2), levels)
        return cls(order.astype(np.uint8)[nearest])

    def companded(self, samples: Samples) -> bytes:
        """The nearest value to each sample, as its code; looked up, for a sentence is done at once for every caller."""
        level: NDArray[np.int32] = np.clip(np.rint(samples * _FULL_SCALE), -32_768, 32_767).astype(np.int32)
        return self.codes[level + 32_768].tobytes()


_MULAW: Final = _Law.of(MULAW)
_ALAW: Final = _Law.of(ALAW)
