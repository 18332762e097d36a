"""Where in a frame the caller's voice ends: the VAD says whether, the level says where, to 4 ms.

The VAD's probability falls 30-100 ms after the sound has ended. The clock of a turn starts at the sound's end, so that
this lag is not paid twice.
"""

import math
import statistics
from typing import Final

import numpy as np

from schemas.audio import SAMPLE_RATE, Samples
from services.audio.endpointing import Timing
from services.audio.frames import VAD_FRAME

_BLOCK: Final = 64
"""Samples in one block of level: 4 ms."""
_QUIET_PROBABILITY: Final = 0.1
"""Frames below it are background."""
_BACKGROUND_RATE: Final = 0.1
_FAINTEST_DB: Final = -75.0
_SILENT: Final = 1e-10


class VoiceLevels:
    """Follows the background's level through a call, and the caller's through a turn."""

    def __init__(self, timing: Timing) -> None:
        self._timing = timing
        self._background_db = _FAINTEST_DB
        self._peak_db = _FAINTEST_DB
        self._stirred = -SAMPLE_RATE
        self.silent = True
        """Whether the last frame held no voice."""

    def begin_turn(self) -> None:
        """Forget how loud the last turn was."""
        self._peak_db = _FAINTEST_DB

    def stirs(self, now: int) -> bool:
        """Whether there was a sound just before the sample `now` that may begin a word."""
        return now - self._stirred < self._timing.stir_ms * SAMPLE_RATE // 1000

    def last_sound(self, frame: Samples, probability: float, now: int) -> int | None:
        """The end of the last block of `frame` that may be the caller's voice (1 … 512), None when there is none.

        `now` is the sample after the frame.
        """
        sound = self._last_loud(frame, probability)
        self.silent = probability < self._timing.voice_off or sound is None
        if sound is not None and probability >= self._timing.stir_probability:
            self._stirred = now
        return sound

    def _last_loud(self, frame: Samples, probability: float) -> int | None:
        blocks = frame.reshape(-1, _BLOCK)
        energy = np.einsum("ij,ij->i", blocks, blocks).tolist()
        level_db = [10 * math.log10(max(each / _BLOCK, _SILENT)) for each in energy]  # NumPy is slower with so few
        if probability < _QUIET_PROBABILITY:
            quiet = max(statistics.median(level_db), _FAINTEST_DB)
            self._background_db += _BACKGROUND_RATE * (quiet - self._background_db)
            return None
        self._peak_db = max(self._peak_db, *level_db)
        floor = max(
            self._peak_db + self._timing.voiced_floor_db,
            min(self._background_db + self._timing.noise_margin_db, self._peak_db - self._timing.noise_margin_db),
        )
        return next((at * _BLOCK for at in range(len(level_db), 0, -1) if level_db[at - 1] >= floor), None)


class Onset:
    """Finds where voice began, once it has lasted long enough to be an utterance."""

    def __init__(self, timing: Timing) -> None:
        self._timing = timing
        self._at: int | None = None

    @property
    def begun(self) -> bool:
        """Whether there is voice that may become one."""
        return self._at is not None

    def found(self, base: int, now: int, probability: float) -> int | None:
        """Its first sample, given the frame from `base` up to `now` and the probability of speech in it."""
        if probability < self._timing.voice_on:
            self._at = None
            return None
        if self._at is None:
            self._at = base
        if now - self._at < self._timing.onset_ms * SAMPLE_RATE // 1000:
            return None
        at, self._at = self._at, None
        return at


assert VAD_FRAME % _BLOCK == 0
