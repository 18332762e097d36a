"""The last seconds of a call's audio, addressed by absolute sample number."""

from collections import deque
from typing import Final

import numpy as np

from schemas.audio import SAMPLE_RATE, Samples
from services.audio.frames import VAD_FRAME

BUFFER_SECONDS: Final = 30
"""What is kept at most."""


class AudioBuffer:
    """A ring of whole frames. `end` is how many samples the call has had so far."""

    def __init__(self) -> None:
        self._frames: deque[Samples] = deque(maxlen=BUFFER_SECONDS * SAMPLE_RATE // VAD_FRAME)
        self.end = 0

    def push(self, frame: Samples) -> None:
        """Append a frame; the oldest falls off."""
        self._frames.append(frame)
        self.end += frame.size

    def cut(self, start: int, end: int) -> Samples:
        """A copy of the samples [start, end), as far as they are still kept."""
        oldest = self.end - len(self._frames) * VAD_FRAME
        first = max(start - oldest, 0) // VAD_FRAME
        last = -(-max(end - oldest, 0) // VAD_FRAME)
        line = [self._frames[i] for i in range(first, min(last, len(self._frames)))]
        if not line:
            return np.zeros(0, dtype=np.float32)
        base = oldest + first * VAD_FRAME
        return np.concatenate(line)[max(start - base, 0) : end - base]

    def forget(self, before: int) -> None:
        """Drop whole frames that end at or before sample `before`."""
        while self._frames and self.end - (len(self._frames) - 1) * VAD_FRAME <= before:
            self._frames.popleft()
