"""Which channel of a recording is the caller's: never guessed between two speakers."""

from itertools import pairwise
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from schemas.errors import UnsupportedAudio

Channel = int | Literal["mix"]
SILENT_DB: Final = -60.0
"""A channel that never gets louder holds no speech: G.711's own noise lies below."""
_SAME: Final = 0.02
"""Two channels are one and the same where they differ by less than this share of their level."""


def named(word: Literal["0", "1", "mix"] | None) -> Channel | None:
    """The channel that a client names."""
    match word:
        case None | "mix":
            return word
    return int(word)


def heard(frames: NDArray[np.float32], wanted: Channel | None) -> NDArray[np.float32]:
    """What is to be heard of samples of shape (channels, n). Raises UnsupportedAudio where it is open."""
    channel, _ = choose(frames, wanted, "the recording")
    mono: NDArray[np.float32] = frames.mean(axis=0, dtype=np.float32) if channel == "mix" else frames[channel]
    return mono


def choose(frames: NDArray[np.float32], wanted: Channel | None, name: str) -> tuple[Channel, str]:
    """The channel to hear and why: as said, or the only one with sound in it. Raises UnsupportedAudio where it is open.

    Who of two speakers is the caller can't be told from sound alone, so it is never assumed.
    """
    count = frames.shape[0]
    if wanted == "mix":
        return "mix", "as said"
    if wanted is not None:
        if wanted >= count:
            raise UnsupportedAudio(f"{name}: channel {wanted} of {count}")
        return wanted, "as said"
    if count == 1:
        return 0, "the only one"
    levels = [peak_db(frames[n]) for n in range(count)]
    loud = [n for n in range(count) if levels[n] > SILENT_DB]
    if len(loud) <= 1:
        return (loud or [0])[0], "the only one with sound"
    if all(_alike(frames[a], frames[b]) for a, b in pairwise(loud)):
        return loud[0], "all the same"
    raise UnsupportedAudio(f"{name}: {len(loud)} channels with sound, and none is said to be the caller's (`channel`)")


def peak_db(samples: NDArray[np.float32]) -> float:
    """The loudest sample in decibels of full scale."""
    return float(20 * np.log10(max(float(np.abs(samples).max(initial=0.0)), 1e-9)))


def _alike(a: NDArray[np.float32], b: NDArray[np.float32]) -> bool:
    level = max(float(np.abs(a).mean()), float(np.abs(b).mean()), 1e-9)
    return float(np.abs(a - b).mean()) < _SAME * level
