"""One utterance on its way to a turn: its samples, its voice, and the words that are known of it so far."""

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from schemas.audio import SAMPLE_RATE, Samples
from schemas.ids import RuleId
from schemas.turn import Eager, ItemId, Partial
from services.audio.buffer import AudioBuffer
from services.audio.completeness import leaves_out
from services.audio.endpointing import Timing
from services.audio.frames import VAD_FRAME
from services.audio.stable import stable_prefix

PER_MS: Final = SAMPLE_RATE // 1000


@dataclass(frozen=True, slots=True)
class DecodeRequest:
    """Samples to be recognised; the answer comes back to the listener with the same revision."""

    item: ItemId
    revision: int
    samples: Samples
    final: bool


@dataclass(slots=True)
class Utterance:
    """What is being said. Sample numbers are absolute, `voiced` counts samples; pending are revisions of decodes."""

    item: ItemId
    start: int
    onset: int
    voiced_until: int
    voiced: int
    partial_at: int
    gaps: list[tuple[int, int]] = field(default_factory=list)
    eager: Eager | None = None
    wordless: bool = False
    forced: RuleId | None = None
    partial_text: str = ""
    partial_pending: int | None = None
    final_pending: int | None = None
    known: tuple[str, int] = ("", 0)
    """Words as decoded last, and the least voice that they were decoded from."""
    decoding: int = 0
    """How much voice is in what is being decoded."""

    def voice(self, until: int) -> None:
        """A frame with voice, whose last voiced sample is `until`."""
        self.voiced_until = until
        self.voiced += VAD_FRAME

    def leave_out(self, voiced_until: int, voiced_again: int, timing: Timing) -> None:
        """A pause: most of it is not decoded, since recognisers stop at it."""
        start = voiced_until + timing.pause_after_ms * PER_MS
        end = voiced_again - timing.pause_before_ms * PER_MS
        if end > start:
            self.gaps.append((start, end))

    def continues(self, earlier: "Utterance", timing: Timing) -> None:
        """It goes on with `earlier`: both are one."""
        own, self.gaps = self.gaps, earlier.gaps
        self.leave_out(earlier.voiced_until, self.onset, timing)
        self.gaps += own
        self.start, self.voiced = earlier.start, self.voiced + earlier.voiced

    def samples(self, buffer: AudioBuffer, timing: Timing) -> Samples:
        """All of it to be decoded, without its pauses and padded with silence."""
        pieces, start = [], self.start
        for gap_start, gap_end in self.gaps:
            pieces.append(buffer.cut(start, gap_start))
            start = gap_end
        pad = np.zeros(timing.pad_ms * PER_MS, dtype=np.float32)
        return np.concatenate((*pieces, buffer.cut(start, buffer.end), pad))

    def request(self, revision: int, samples: Samples, now: int, *, final: bool) -> DecodeRequest:
        """A decode of it begins."""
        self.decoding = self.voiced
        if final:
            self.final_pending, self.partial_pending = revision, None
        else:
            self.partial_pending, self.partial_at = revision, now
        return DecodeRequest(self.item, revision, samples, final)

    def shown(self, revision: int, text: str) -> Partial:
        """The words of a partial decode, and how many of them have held."""
        stable, self.partial_text = stable_prefix(self.partial_text, text), text
        self.learn(text)
        return Partial(self.item, revision, text, stable)

    def void(self) -> Eager | None:
        """The voice comes back: what was said eagerly holds no more, and a final under way is but a partial."""
        eager, self.eager, self.wordless = self.eager, None, False
        self.partial_pending, self.final_pending = self.final_pending or self.partial_pending, None
        return eager

    def learn(self, text: str) -> int:
        """These words are known from now on; how much voice came since they were, that adds none."""
        before, voiced = self.known
        self.known = (text, voiced) if leaves_out(before, text) else (text, self.decoding)
        return self.decoding - self.known[1]
