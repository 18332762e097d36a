"""Our sound in the client's format: resampled, encoded, and cut into pieces of a size that every client takes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import soxr
from numpy.typing import NDArray

from schemas.audio import AudioFormat, Encoding, Samples
from schemas.speech import SpokenChunk
from services.audio.codec import ALAW, MULAW, decode, encode_pcm16

PIECE_MS: Final = 200
"""The longest piece of one event."""
_PCM16: Final = AudioFormat(Encoding.PCM16)


class Speaker:
    """One reply's sound on its way out."""

    def __init__(self, form: AudioFormat) -> None:
        self._form = form
        self._resampler: soxr.ResampleStream | None = None

    def pieces(self, chunk: SpokenChunk) -> Iterator[tuple[bytes, float]]:
        """The chunk's sound as bytes of the client's format, each with its length in ms."""
        samples = decode(chunk.pcm, _PCM16)
        if chunk.rate != self._form.rate and self._resampler is None:
            self._resampler = soxr.ResampleStream(chunk.rate, self._form.rate, 1, dtype="float32")
        if self._resampler is not None:
            samples = self._resampler.resample_chunk(samples)
        yield from self._cut(samples)

    def rest(self) -> Iterator[tuple[bytes, float]]:
        """What the resampler held back, at the end."""
        if self._resampler is not None:
            yield from self._cut(self._resampler.resample_chunk(np.zeros(0, dtype=np.float32), last=True))
            self._resampler = None

    def _cut(self, samples: Samples) -> Iterator[tuple[bytes, float]]:
        step = self._form.rate * PIECE_MS // 1000
        for at in range(0, samples.size, step):
            piece = samples[at : at + step]
            yield self._encoded(piece), piece.size / self._form.rate * 1000

    def _encoded(self, samples: Samples) -> bytes:
        match self._form.encoding:
            case Encoding.PCM16:
                return encode_pcm16(samples)
            case Encoding.MULAW:
                return _MULAW.companded(samples)
            case Encoding.ALAW:
                return _ALAW.companded(samples)


@dataclass(frozen=True, slots=True, eq=False)
class _Law:
    """A law of G.711: its 256 codes by rising value, and what lies halfway from each value to the next."""

    codes: NDArray[np.uint8]
    between: Samples

    @classmethod
    def of(cls, table: Samples) -> "_Law":
        """The law whose code i stands for the value table[i]."""
        order = np.argsort(table)
        values = table[order]
        return cls(order.astype(np.uint8), (values[1:] + values[:-1]) / np.float32(2))

    def companded(self, samples: Samples) -> bytes:
        """The nearest value to each sample, as its code."""
        return self.codes[np.searchsorted(self.between, samples)].tobytes()


_MULAW: Final = _Law.of(MULAW)
_ALAW: Final = _Law.of(ALAW)
