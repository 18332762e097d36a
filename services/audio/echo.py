"""Our own voice in the caller's microphone: known by what we sent, however late, faint and coloured it comes back.

What was sent and what is heard are compared as levels of bands, frame by frame. Where the one follows the other at some
delay, the path between them (delay and a gain for each band) is known, and what it explains is not the caller. A voice
over the echo is louder than the path foretells, or elsewhere in the spectrum, and stays. Pure; times are seconds of the
call's clock.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from schemas.audio import SAMPLE_RATE, Samples
from services.audio.frames import VAD_FRAME

_FRAME_S: Final = VAD_FRAME / SAMPLE_RATE
_EDGES_HZ: Final = (150, 250, 350, 450, 570, 700, 840, 1000, 1170, 1370, 1600, 1850, 2150, 2500, 2900, 3400)
_BANDS: Final = len(_EDGES_HZ) - 1
_FLOOR_DB: Final = -75.0
_DELAYS: Final = 40
"""Frames that the echo may be late: 1.3 s."""
_KNOWN: Final = 24
"""Frames of what is heard that are compared."""
_ALIKE: Final = 0.55
"""Correlation from which on the one may be the other's echo; it is, where it stays at one delay for _STAYS frames."""
_STAYS: Final = 6
_DYNAMIC_DB: Final = 40.0
"""What is fainter than the loudest by more says nothing."""
_DECAY_DB: Final = 4.0
"""What is left of a frame in the next one, in a room."""
_MARGIN_DB: Final = 6.0
"""So much louder than the path foretells is somebody else."""
_AUDIBLE: Final = 10 ** (-60 / 10)
"""Power below which nothing is heard anyway."""
_RETURNS: Final = 0.5
"""No more of our power comes back, before a path is known."""
_LATELY: Final = 10
_SPEAKS: Final = 3
"""So many of the latest frames that are somebody else's are a voice, whose fainter sounds are not cut out."""
_AGAIN: Final = 4
"""A path that is known is looked for again at every so many frames."""
_TRIAL: Final = 32
"""Frames that are held until a path is known, or none is looked for in what is held."""
_FAINTEST_DB: Final = -62.0
"""By band; below it is the line's own noise."""
_SLIP_S: Final = 0.1
_KEPT: Final = 512
"""Frames of what was sent that are remembered: 16 s."""

Levels = NDArray[np.float32]
"""Decibels of full scale by band, shape (_BANDS,) or (frames, _BANDS)."""


def _filters() -> NDArray[np.float32]:
    """Which bins of a frame's spectrum a band sums, shape (_BANDS, VAD_FRAME // 2 + 1)."""
    hertz = np.arange(VAD_FRAME // 2 + 1) * SAMPLE_RATE / VAD_FRAME
    low, high = np.array(_EDGES_HZ[:-1])[:, None], np.array(_EDGES_HZ[1:])[:, None]
    return ((hertz >= low) & (hertz < high)).astype(np.float32)


_FILTERS: Final = _filters()
_SILENCE: Final = np.full(_BANDS, _FLOOR_DB, dtype=np.float32)
_WINDOW: Final = np.hanning(VAD_FRAME).astype(np.float32)


def levels(frames: Samples) -> Levels:
    """The bands' levels of frames, from shape (n, VAD_FRAME) to (n, _BANDS)."""
    power = np.square(np.abs(np.fft.rfft(frames * _WINDOW))) / (VAD_FRAME * VAD_FRAME / 4)
    found: Levels = (10 * np.log10(power @ _FILTERS.T + 10 ** (_FLOOR_DB / 10))).astype(np.float32)
    return found


@dataclass(frozen=True, slots=True)
class _Path:
    """How what was sent comes back: so many frames late, so many decibels louder by band."""

    late: int
    gain_db: Levels


class Echo:
    """One call's: what was sent, what is heard, and the path between them once it is known."""

    def __init__(self) -> None:
        self._sent: dict[int, Levels] = {}
        self._until = 0.0
        self._rest: Samples = np.zeros(0, dtype=np.float32)
        self._heard: deque[tuple[int, Levels]] = deque(maxlen=_KNOWN)
        self._seen: deque[int] = deque(maxlen=_STAYS)
        self._others: deque[bool] = deque(maxlen=_LATELY)
        self._path: _Path | None = None
        self._held: list[tuple[int, Samples]] | None = []
        self._taken = 0
        self._offset = 0.0

    def sent(self, samples: Samples, at: float) -> None:
        """Sound of ours at SAMPLE_RATE, played from `at` on at the earliest; what was sent before comes before it."""
        if at - self._until > _FRAME_S:
            self._rest = np.zeros(0, dtype=np.float32)
        first = round((at - self._rest.size / SAMPLE_RATE) / _FRAME_S)
        joined = np.concatenate((self._rest, samples))
        whole = joined.size // VAD_FRAME * VAD_FRAME
        self._until, self._rest = at + samples.size / SAMPLE_RATE, joined[whole:]
        for number, level in enumerate(levels(joined[:whole].reshape(-1, VAD_FRAME)), first):
            before = self._sent.get(number - 1)
            self._sent[number] = level if before is None else np.maximum(level, before - _DECAY_DB)
        while len(self._sent) > _KEPT:
            del self._sent[next(iter(self._sent))]

    def stopped(self, at: float) -> None:
        """What was to be played after `at` is not."""
        self._rest = np.zeros(0, dtype=np.float32)
        self._sent = {number: level for number, level in self._sent.items() if number * _FRAME_S <= at}

    def without(self, frames: Samples, at: float) -> Samples:
        """What was heard until `at`, shape (VAD_FRAME·n,), with silence in place of the frames that are our own.

        The first time that something comes back while we speak, it is held until it is known whose it is: a second.
        """
        self._taken += frames.size // VAD_FRAME
        if abs(at - self._taken * _FRAME_S - self._offset) > _SLIP_S:
            self._offset = at - self._taken * _FRAME_S
        cut = frames.reshape(-1, VAD_FRAME)
        first = round(self._offset / _FRAME_S) + self._taken - len(cut)
        if self._sent and first - max(self._sent) > _DELAYS:
            self._sent.clear()
            self._heard.clear()
        if not self._sent:
            return np.concatenate((self.release(), frames))
        return np.concatenate([self._take(number, frame) for number, frame in enumerate(cut, first)] or [frames])

    def release(self) -> Samples:
        """What was held, as it was heard."""
        held, self._held = self._held or [], [] if self._held is not None else None
        return np.concatenate([frame for _, frame in held]) if held else np.zeros(0, dtype=np.float32)

    def _take(self, number: int, frame: Samples) -> Samples:
        """What may be heard now that a frame has come."""
        level: Levels = levels(frame[None])[0]
        self._heard.append((number, level))
        self._path = self._found() or self._path
        if self._path is None:
            return self._on_trial(number, frame, float(_power(level).sum()))
        held, self._held = self._held or [], None
        return np.concatenate([self._without_ours(*one) for one in (*held, (number, frame))])

    def _on_trial(self, number: int, frame: Samples, heard: float) -> Samples:
        """Nothing is known of this line yet: what is no louder than what was sent may be its echo."""
        if self._held is None or not (self._held or _AUDIBLE < heard < self._loudest(number) * _RETURNS):
            return frame
        self._held.append((number, frame))
        if len(self._held) < _TRIAL:
            return frame[:0]
        held, self._held = self.release(), None
        return held

    def _loudest(self, number: int) -> float:
        late = range(number - _DELAYS, number + 1)
        return max((float(_power(self._sent[at]).sum()) for at in late if at in self._sent), default=0.0)

    def _without_ours(self, number: int, frame: Samples) -> Samples:
        assert self._path is not None
        sent = self._sent.get(number - self._path.late)
        foretold = 0.0 if sent is None else float(_power(sent + self._path.gain_db).sum())
        heard = float(_power(levels(frame[None])[0]).sum())
        self._others.append(heard > max(foretold * 10 ** (_MARGIN_DB / 10), _AUDIBLE))
        return frame if self._others[-1] or sum(self._others) >= _SPEAKS else np.zeros_like(frame)

    def _found(self) -> _Path | None:
        """The path, where what is heard has followed what was sent for a while."""
        if len(self._heard) < _KNOWN or (self._path is not None and self._heard[-1][0] % _AGAIN):
            return None
        heard = np.stack([level for _, level in self._heard])
        first, last = self._heard[-1][0] - _KNOWN + 1 - _DELAYS, self._heard[-1][0]
        line = np.stack([self._sent.get(number, _SILENCE) for number in range(first, last + 1)])
        sent = np.moveaxis(sliding_window_view(line, _KNOWN, axis=0), 2, 1)[::-1]  # by how late it is
        alike = _correlations(sent, heard)
        late = int(np.argmax(alike))
        self._seen.append(late if alike[late] >= _ALIKE else -_DELAYS)
        if len(self._seen) < _STAYS or min(self._seen) < 0 or max(self._seen) - min(self._seen) > 1:
            return None
        return _Path(late, np.median(heard - sent[late], axis=0).astype(np.float32))


def _power(level: Levels) -> Levels:
    found: Levels = np.power(np.float32(10), level / np.float32(10), dtype=np.float32)
    return found


def _correlations(sent: Levels, heard: Levels) -> Levels:
    """Of each of `sent`, shape (delays, frames, bands), with `heard`: less what any two voices have in common.

    That is the colour of each, and that it is louder or fainter.
    """
    one, other = _detail(sent), _detail(heard[None])
    norms = np.sqrt(np.square(one).sum(axis=(1, 2)) * np.square(other).sum())
    found: Levels = (one * other).sum(axis=(1, 2)) / np.maximum(norms, np.float32(1e-9))
    return found


def _detail(level: Levels) -> Levels:
    audible = np.maximum(level, np.maximum(level.max(axis=(1, 2), keepdims=True) - _DYNAMIC_DB, _FAINTEST_DB))
    even = audible - audible.mean(axis=1, keepdims=True)
    found: Levels = even - even.mean(axis=2, keepdims=True)
    return found
