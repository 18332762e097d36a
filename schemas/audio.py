"""Audio values. The pipeline works on mono float32 at 16 kHz, −1 … 1."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

SAMPLE_RATE: Final = 16_000
"""Hertz inside the pipeline."""

Samples = NDArray[np.float32]
"""Mono samples at SAMPLE_RATE, shape (n,), within −1 … 1."""


class Encoding(StrEnum):
    """Encodings accepted on a stream."""

    PCM16 = "pcm16"
    MULAW = "g711_ulaw"
    ALAW = "g711_alaw"


STREAM_RATES: Final = (8_000, 16_000, 24_000)
"""Sample rates accepted on a stream, in hertz."""


@dataclass(frozen=True, slots=True)
class AudioFormat:
    """How a stream's bytes are to be read."""

    encoding: Encoding = Encoding.PCM16
    rate: int = SAMPLE_RATE
    channels: int = 1


PCM16 = AudioFormat(Encoding.PCM16)
"""Sound as it is within a call."""
