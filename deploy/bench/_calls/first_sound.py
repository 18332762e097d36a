"""When a caller hears the first of a reply: its sound is played as it comes, and begins with some quiet."""

import base64
from typing import Final

import numpy as np

from app.client import SOUND, Event
from schemas.audio import SAMPLE_RATE, AudioFormat
from services.audio.codec import decode

AUDIBLE: Final = 0.01
"""Of full scale: −40 dB."""
_REALTIME: Final = "response.output_audio.delta"
_REALTIME_RATE: Final = 24_000


class FirstSound:
    """One reply's sound, piece by piece. Times are seconds of the listener's clock."""

    def __init__(self) -> None:
        self._free = 0.0
        self.at: float | None = None
        """When the first audible sample is played, once it is known."""

    def take(self, event: Event, at: float) -> None:
        """An event that came at `at`, whichever it is."""
        if self.at is not None or event["type"] not in {SOUND, _REALTIME}:
            return
        own = event["type"] == SOUND
        data, rate = (event["data"], SAMPLE_RATE) if own else (base64.b64decode(event["delta"]), _REALTIME_RATE)
        samples = decode(data, AudioFormat())
        begins = max(self._free, at)
        self._free = begins + samples.size / rate
        audible = np.flatnonzero(np.abs(samples) > AUDIBLE)
        if audible.size:
            self.at = begins + int(audible[0]) / rate
