"""A reply's sound on its way out of any door: in the client's format, in pieces, each with its place in the text."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import soxr

from schemas.audio import PCM16, AudioFormat, Samples
from schemas.call import PlaybackIn, PlaybackState
from schemas.speech import SpokenChunk
from schemas.turn import ReplyId
from schemas.wire.client import PlaybackReport
from services.audio.codec import decode, encode

PIECE_MS: Final = 200
"""The longest piece, where a door does not say otherwise."""

TOLD: Final = 256
"""Replies of a call whose ids are known again when the client reports on them."""
UNTOLD: Final = "no reply of the latest has this id: write the response's own, not its item's"


@dataclass(frozen=True, slots=True)
class AudioChunk:
    """Sound in the client's format: `ms` of it, from `at_ms` of the reply on.

    `text_end` is how many characters of the reply have been said at its end: never more than were.
    """

    data: bytes
    at_ms: float
    ms: float
    text_end: int


class ReplySound:
    """One reply's sound: `sent_ms` of it were given out so far. No piece is longer than `piece_ms`."""

    def __init__(self, form: AudioFormat, piece_ms: int = PIECE_MS) -> None:
        self._form = form
        self._step = form.rate * piece_ms // 1000
        self._resampler: soxr.ResampleStream | None = None
        self._marks: list[tuple[float, int]] = [(0.0, 0)]
        self.sent_ms = 0.0

    def pieces(self, chunk: SpokenChunk) -> Iterator[AudioChunk]:
        """The chunk's sound."""
        samples = decode(chunk.pcm, PCM16)
        if chunk.rate != self._form.rate and self._resampler is None:
            self._resampler = soxr.ResampleStream(chunk.rate, self._form.rate, 1, dtype="float32")
        if self._resampler is not None:
            samples = self._resampler.resample_chunk(samples)
        yield from self._cut(samples, chunk.text_end)

    def rest(self) -> Iterator[AudioChunk]:
        """What the resampler held back, at the end."""
        if self._resampler is not None:
            held = self._resampler.resample_chunk(np.zeros(0, dtype=np.float32), last=True)
            self._resampler = None
            yield from self._cut(held, self._marks[-1][1])

    def said(self, ms: float) -> int:
        """How many characters of the reply have been said after so much of its sound."""
        return max(end for at, end in self._marks if at <= ms)

    def whole(self, ms: float) -> bool:
        """Whether so much is all that was given out, as far as whole milliseconds tell."""
        return ms >= int(self.sent_ms)

    def _cut(self, samples: Samples, text_end: int) -> Iterator[AudioChunk]:
        for at in range(0, samples.size, self._step):
            part = samples[at : at + self._step]
            begun, ms = self.sent_ms, part.size / self._form.rate * 1000
            self.sent_ms += ms
            last = at + self._step >= samples.size
            yield AudioChunk(encode(part, self._form), begun, ms, text_end if last else self._marks[-1][1])
        self._marks.append((self.sent_ms, text_end))


def reported(report: PlaybackReport, sound: ReplySound | None) -> PlaybackIn:
    """The client's word on a reply, whose `sound` was sent: one that was played in part was not heard in full."""
    state = PlaybackState(report.state)
    if state is PlaybackState.COMPLETED and report.played_ms is not None and sound is not None:
        state = state if sound.whole(report.played_ms) else PlaybackState.INTERRUPTED
    return PlaybackIn(ReplyId(report.response_id), state)
