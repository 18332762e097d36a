"""How a recording sounds: level, clipping, speech over background. What errors are often explained by."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from schemas.audio import SAMPLE_RATE, Samples

_FRAME: Final = SAMPLE_RATE // 50
_CLIPPED: Final = 0.999
_LEAST: Final = 1e-9
_PAUSE_DB: Final = 6.0
"""Speech and background are told apart where they differ by at least this much."""


def level_db(samples: Samples) -> float:
    """Root mean square in decibels of full scale."""
    return _db(float(np.mean(np.square(samples, dtype=np.float64))) if len(samples) else 0.0)


def clipped(samples: Samples) -> float:
    """Share of samples at full scale."""
    return float(np.mean(np.abs(samples) >= _CLIPPED)) if len(samples) else 0.0


def snr_db(samples: Samples) -> float | None:
    """The level of the loud fifth of 20 ms frames over that of the quiet tenth; None where nothing is a pause."""
    frames = samples[: len(samples) // _FRAME * _FRAME].reshape(-1, _FRAME)
    if len(frames) < 10:  # noqa: PLR2004 - a fifth of a second
        return None
    power = np.sort(np.mean(np.square(frames, dtype=np.float64), axis=1))
    quiet, loud = _mean_db(power[: len(power) // 10]), _mean_db(power[-(len(power) // 5) :])
    return loud - quiet if loud - quiet >= _PAUSE_DB else None


def _mean_db(power: NDArray[np.float64]) -> float:
    return _db(float(power.mean()))


def _db(power: float) -> float:
    return float(10 * np.log10(max(power, _LEAST)))
