"""A stream's bytes to VAD frames: decoded, put in order, resampled, cut."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from schemas.audio import AudioFormat, Encoding, Samples
from schemas.errors import TooLarge, UnsupportedAudio
from services.audio import codec
from services.audio.frames import VAD_FRAME, Cutter, Reorder
from services.audio.resample import StreamResampler

MAX_FRAME: Final = 64 * 1024
"""Bytes of one frame."""


class Ingest:
    """One stream. A frame that can't be read is refused and leaves no trace."""

    def __init__(self, form: AudioFormat) -> None:
        if form.channels != 1:
            raise UnsupportedAudio("a stream has one channel")
        self._form = form
        self._resampler = StreamResampler(form.rate)
        self._cutter = Cutter()
        self._reorder = Reorder()
        self._half = b""
        self.received = 0
        """Samples at 16 kHz so far."""

    @property
    def pending(self) -> int:
        """Samples received that fill no frame yet."""
        return self._cutter.pending

    def push(self, data: bytes, sequence: int | None) -> Samples:
        """The whole frames that `data` completes, shape (512·n,); half a sample waits for its other half.

        Raises MalformedAudio where frames are numbered and one has half a sample, TooLarge.
        """
        if len(data) > MAX_FRAME:
            raise TooLarge(f"a frame is at most {MAX_FRAME} bytes long")
        if sequence is None and self._form.encoding is Encoding.PCM16:
            data = self._half + data
            whole = len(data) // 2 * 2
            data, self._half = data[:whole], data[whole:]
        samples = codec.decode(data, self._form)
        ready: Sequence[Samples] = [samples] if sequence is None else self._reorder.push(sequence, samples)
        line = [self._resampler.push(chunk) for chunk in ready if chunk.size]
        if not line:
            return np.zeros(0, dtype=np.float32)
        joined = np.concatenate(line)
        self.received += joined.size
        return self._cutter.push(joined)

    def cleared(self) -> None:
        """What came was dropped: what comes now begins with a whole sample."""
        self._half = b""

    def silence(self, frames: int) -> Samples:
        """What is missing from a stream that stalled, as silence."""
        samples = np.zeros(frames * VAD_FRAME, dtype=np.float32)
        self.received += samples.size
        return self._cutter.push(samples)
