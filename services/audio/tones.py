"""The keys of a telephone as tones in the sound (ITU-T Q.23): told from speech, and made. Pure; no clock.

A key is two tones at once, one of four low ones and one of four high ones. Goertzel's measure gives the energy at each
of the eight in blocks of 12.75 ms, every 6.4 ms. A block is a key's where one low and one high tone stand out from
their kind, hold nearly all of the energy, and are about equally loud; a key is pressed once four blocks on end are.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from schemas.audio import Samples

ROWS: Final = (697.0, 770.0, 852.0, 941.0)
COLUMNS: Final = (1209.0, 1336.0, 1477.0, 1633.0)
KEYS: Final = ("123A", "456B", "789C", "*0#D")
BLOCK_S: Final = 0.01275
HITS: Final = 4
"""Blocks on end that make a key: 32 ms, of the 40 that every telephone gives it."""
MISSES: Final = 3
"""Blocks without it that end one."""
TWIST_DB: Final = 9.5
"""So much louder the low tone may be, as lines weaken high ones,"""
REVERSE_TWIST_DB: Final = 5
"""and so much the high one."""
STANDS_OUT_DB: Final = 6.5
"""Of others of its kind."""
SHARE: Final = 0.75
"""Of a block's energy, that both tones have together: speech has harmonics elsewhere."""
LEVEL_DB: Final = -40.0
"""Of full scale: nothing softer is a key."""
PRESS_MS, PAUSE_MS = 100, 80
"""How long a key that is made lasts, and the silence behind it."""
_LOUD: Final = 0.2
"""Amplitude of each tone that is made: −14 dB of full scale."""


@dataclass(frozen=True, slots=True)
class Block:
    """Samples `start` up to `end` of the stream sound like a key."""

    start: int
    end: int


class ToneDetector:
    """One stream of 8 kHz or more, in pieces of any length."""

    def __init__(self, rate: int) -> None:
        self._size = round(BLOCK_S * rate)
        self._hop = self._size // 2
        self._basis = _basis(rate, self._size)
        self._rest: Samples = np.zeros(0, dtype=np.float32)
        self._at = 0
        self._key, self._hits, self._misses = "", 0, MISSES

    @property
    def block(self) -> int:
        """Samples of a block."""
        return self._size

    def push(self, samples: Samples) -> tuple[str, list[Block]]:
        """The keys that were pressed by the end of `samples`, shape (n,); and every block that sounds like one."""
        line = np.concatenate((self._rest, samples))
        pressed, blocks = "", []
        if line.size >= self._size:
            windows = np.lib.stride_tricks.sliding_window_view(line, self._size)[:: self._hop]
            for number, key in enumerate(_keys(windows, self._basis)):
                if key:
                    start = self._at + number * self._hop
                    blocks.append(Block(start, start + self._size))
                pressed += self._note(key)
            used = windows.shape[0] * self._hop
            line, self._at = line[used:], self._at + used
        self._rest = line
        return pressed, blocks

    def _note(self, key: str) -> str:
        """What a block tells: the key, once it is certain."""
        if key and key == self._key:
            self._hits, self._misses = self._hits + 1, 0
            return key if self._hits == HITS else ""
        self._misses += 1
        if key and (self._hits < HITS or self._misses >= MISSES):
            self._key, self._hits, self._misses = key, 1, 0
        elif self._misses >= MISSES or self._hits < HITS:
            self._key, self._hits = "", 0
        return ""


def made(keys: str, rate: int) -> Samples:
    """Keys as tones, shape (n,): each 100 ms and a pause of 80. What is no key is left out."""
    at = np.arange(rate * PRESS_MS // 1000) / rate
    pause = np.zeros(rate * PAUSE_MS // 1000, dtype=np.float32)
    parts: list[Samples] = []
    for row, column in (_place(key) for key in keys if key in "".join(KEYS)):
        tone = np.sin(2 * np.pi * ROWS[row] * at) + np.sin(2 * np.pi * COLUMNS[column] * at)
        parts += [(_LOUD * tone).astype(np.float32), pause]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.float32)


def _place(key: str) -> tuple[int, int]:
    return next((row, line.index(key)) for row, line in enumerate(KEYS) if key in line)


@lru_cache(maxsize=8)
def _basis(rate: int, size: int) -> NDArray[np.complex64]:
    """Shape (size, 8): what a block is multiplied with for its tones."""
    at = np.arange(size)[:, None] / rate
    basis: NDArray[np.complex64] = np.exp(-2j * np.pi * at * np.array([*ROWS, *COLUMNS])).astype(np.complex64)
    return basis


def _keys(windows: NDArray[np.float32], basis: NDArray[np.complex64]) -> list[str]:
    """The key that each of the windows, shape (n, size), sounds like; empty where it is none."""
    size = windows.shape[1]
    tones = np.square(np.abs(windows @ basis)) * (4.0 / size**2)  # a tone's amplitude, squared
    low, high = tones[:, :4], tones[:, 4:]
    row, column = low.argmax(axis=1), high.argmax(axis=1)
    loudest_low, loudest_high = low.max(axis=1), high.max(axis=1)
    energy = np.square(windows).mean(axis=1) + 1e-12
    both = (loudest_low + loudest_high) / 2
    twist = 10 * np.log10((loudest_low + 1e-12) / (loudest_high + 1e-12))
    fits = (
        (both >= 10 ** (LEVEL_DB / 10))
        & (both >= SHARE * energy)
        & (twist <= TWIST_DB)
        & (twist >= -REVERSE_TWIST_DB)
        & (_second(low) * 10 ** (STANDS_OUT_DB / 10) <= loudest_low)
        & (_second(high) * 10 ** (STANDS_OUT_DB / 10) <= loudest_high)
    )
    return [KEYS[r][c] if fit else "" for fit, r, c in zip(fits, row, column, strict=True)]


def _second(tones: NDArray[np.float32]) -> NDArray[np.float32]:
    """The second loudest of each."""
    return np.partition(tones, -2, axis=1)[:, -2]
