"""Streaming resampling to 16 kHz by a short polyphase filter.

soxr's streams were measured to hold back 12-60 ms and to answer in blocks of up to 104 ms (8 kHz, HQ), which would come
straight out of the caller's wait; this filter delays by 2 ms. Whole files go through soxr (see files.py).
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from schemas.audio import SAMPLE_RATE, STREAM_RATES, Samples
from schemas.errors import UnsupportedAudio

_FACTORS: Final = {8_000: (2, 1), 16_000: (1, 1), 24_000: (2, 3)}
"""Stream rate → (up, down)."""
_BACK: Final = (3, 2)
"""The same from 16 to 24 kHz."""
_HALF_TAPS: Final = {8_000: 32, 24_000: 72}
"""Half the filter's length at the intermediate rate (16 and 48 kHz)."""
_BETA: Final = 7.0
"""Kaiser window: about 70 dB of stop-band attenuation."""
_CUTOFF: Final = 0.9
"""Of the lower Nyquist frequency, which leaves room for the transition band."""


def _filter(half: int, widest: int, gain: int) -> NDArray[np.float32]:
    at = np.arange(-half, half + 1, dtype=np.float64)
    cutoff = _CUTOFF / widest
    taps = np.asarray(np.sinc(cutoff * at) * np.kaiser(2 * half + 1, _BETA), dtype=np.float64)
    scaled: NDArray[np.float32] = (taps * (gain / taps.sum())).astype(np.float32)
    return scaled


class StreamResampler:
    """One stream's filter and its memory. Output follows input by `delay_ms`."""

    def __init__(self, rate: int) -> None:
        if rate not in STREAM_RATES:
            raise UnsupportedAudio(f"a stream has 8, 16 or 24 kHz, not {rate} Hz")
        self._build(rate, *_FACTORS[rate], _HALF_TAPS.get(rate, 0))

    @classmethod
    def to_24k(cls) -> "StreamResampler":
        """The other way, for those who call: 16 kHz in, 24 out."""
        made = cls(SAMPLE_RATE)
        made._build(SAMPLE_RATE, *_BACK, _HALF_TAPS[24_000])
        return made

    def _build(self, rate: int, up: int, down: int, half: int) -> None:
        self._up, self._down, self._identity = up, down, up == down
        self._taps = _filter(half, max(self._up, self._down), self._up)
        self._history = np.zeros(2 * half, dtype=np.float32)
        self._skip = 0
        self.delay_ms = 0.0 if self._identity else half / (rate * self._up) * 1000

    def push(self, samples: Samples) -> Samples:
        """The samples at the other rate that `samples` complete, shape (n·up/down ± 1,)."""
        if self._identity or not samples.size:
            return samples
        stuffed = np.zeros(samples.size * self._up, dtype=np.float32)
        stuffed[:: self._up] = samples
        line = np.concatenate((self._history, stuffed))
        filtered = np.convolve(line, self._taps, mode="valid")
        self._history = line[-self._history.size :]
        out = filtered[self._skip :: self._down]
        self._skip = (self._skip - filtered.size) % self._down
        return np.ascontiguousarray(out)
