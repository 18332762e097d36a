"""One caller's turns: Start → Eager → (Resumed | Ended). Sans I/O: audio and transcripts in, events and requests out.

Every time is audio time. A turn ends when silence since the last voiced sample reaches the threshold that its words ask
for, and its words are known; so the same audio and transcripts give the same turns however fast they came. `waiting`
tells the driver when feeding more audio would let the clock run past a decision whose words are still being decoded.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final

import numpy as np

from schemas.audio import SAMPLE_RATE, Samples
from schemas.call import Patience
from schemas.ids import Locale, RuleId
from schemas.transcript import Transcript
from schemas.turn import (
    Completeness,
    Discarded,
    Eager,
    Ended,
    ItemId,
    ListenerEvent,
    Merged,
    Partial,
    Resumed,
    SpeechStarted,
    SpeechStopped,
    Waste,
)
from services.audio.endpointing import Timing, doubted, endpointing, gone_on_politely, timing
from services.audio.frames import VAD_FRAME
from services.audio.stable import stable_prefix
from services.audio.tape import Tape
from services.audio.voice import Voice

_PER_MS: Final = SAMPLE_RATE // 1000
_COMMITTED: Final = RuleId("endpointing.commit@1")
_TOO_LONG: Final = RuleId("endpointing.max_turn@1")
_FIXED: Final = RuleId("endpointing.fixed@1")
_DEAF_MS: Final = 320
"""Silence by level that counts although the VAD still hears speech."""


@dataclass(frozen=True, slots=True)
class DecodeRequest:
    """Samples to be recognised; the answer comes back by `heard` or `unheard` with the same revision."""

    item: ItemId
    revision: int
    samples: Samples
    final: bool


Signal = ListenerEvent | DecodeRequest


class _State(Enum):
    IDLE = auto()
    SPEAKING = auto()
    EAGER = auto()


@dataclass(slots=True)
class _Turn:
    """The turn in progress; sample numbers are absolute."""

    item: ItemId
    start: int
    onset: int
    voiced_until: int
    voiced: int = 0
    gaps: list[tuple[int, int]] = field(default_factory=list)
    eager: Eager | None = None
    wordless: bool = False
    forced: RuleId | None = None
    partial_text: str = ""
    partial_at: int = 0
    partial_pending: int | None = None
    final_pending: int | None = None


class Listener:
    """The state machine of one call. Not safe across threads; every method is quick and never blocks."""

    def __init__(self, locale: Locale, new_item: Callable[[], ItemId], patience: Patience | None = None) -> None:
        self._timing: Timing = timing()
        self._rules = endpointing(locale)
        self._new_item = new_item
        self._patience = patience or Patience()
        self._tape = Tape()
        self._voice = Voice(self._timing)
        self._state = _State.IDLE
        self._turn: _Turn | None = None
        self._last: _Turn | None = None
        self._revision = 0
        self._onset = 0
        self._now = 0
        self._silent_frame = True

    # What the driver may ask

    @property
    def now_ms(self) -> int:
        """Audio received so far."""
        return self._now // _PER_MS

    @property
    def item(self) -> ItemId | None:
        """The utterance in progress."""
        return self._turn.item if self._turn else None

    @property
    def voiced_ms(self) -> int:
        """Voice in the utterance in progress."""
        return self._turn.voiced // _PER_MS if self._turn else 0

    @property
    def waiting(self) -> int | None:
        """The revision that must be decoded before more audio is fed; None when audio may go on."""
        turn = self._turn
        if turn is None or self._state is not _State.EAGER or turn.final_pending is None:
            return None
        shortest = min(self._wait(kind)[0] for kind in Completeness)
        due = turn.forced is not None or self._silence(turn) >= shortest * _PER_MS
        return turn.final_pending if due else None

    def wants(self, revision: int) -> bool:
        """Whether a decode's answer is still of use."""
        turn = self._turn
        return turn is not None and revision in {turn.partial_pending, turn.final_pending}

    @property
    def continues(self) -> ItemId | None:
        """The last utterance, when the one in progress began so soon after it that it may be its continuation."""
        last, turn = self._last, self._turn
        if last is None or turn is None:
            return None
        soon = turn.onset - last.voiced_until <= self._timing.merge_ms * _PER_MS
        short = self._now - last.start <= self._timing.max_turn_ms * _PER_MS
        return last.item if soon and short else None

    # What the driver tells

    def configure(self, locale: Locale, patience: Patience) -> None:
        """Change language or patience between turns."""
        self._rules = endpointing(locale)
        self._patience = patience

    def feed(self, frame: Samples, probability: float) -> list[Signal]:
        """Take 512 samples and the probability that they hold speech."""
        assert frame.size == VAD_FRAME
        base = self._tape.end
        self._tape.push(frame)
        self._now = self._tape.end
        sound = self._voice.last_sound(frame, probability)
        self._silent_frame = probability < self._timing.voice_off or sound is None
        if self._turn is None:
            return self._listen(base, probability)
        if self._state is _State.SPEAKING:
            return self._follow(self._turn, base, sound, probability)
        return self._wait_on(self._turn, base, sound, probability)

    def advance(self, pending: int) -> list[Signal]:
        """`pending` samples came that fill no frame yet: the clock moves by them."""
        self._now = self._tape.end + pending
        return self._settle()

    def heard(self, revision: int, transcript: Transcript, completeness: Completeness) -> list[Signal]:
        """Take a decode's words and how complete they are. Stale ones change nothing."""
        turn = self._turn
        if turn is None:
            return []
        if revision == turn.partial_pending:
            turn.partial_pending = None
            return self._partial(turn, revision, transcript)
        if revision != turn.final_pending:
            return []
        turn.final_pending = None
        if not transcript.text.strip() or transcript.no_speech_prob > self._timing.no_speech_prob:
            turn.wordless = True
            return self._settle()
        completeness = gone_on_politely(doubted(completeness, transcript, turn.partial_text), transcript)
        wait, rule = self._wait(completeness)
        if turn.forced is not None:
            wait, rule = 0, turn.forced
        turn.eager = Eager(turn.item, revision, transcript, completeness, wait, rule)
        return [turn.eager, *self._settle()]

    def unheard(self, revision: int) -> list[Signal]:
        """A decode failed. A lost partial costs nothing; without a final there is no turn."""
        turn = self._turn
        if turn is not None and revision == turn.partial_pending:
            turn.partial_pending = None
        if turn is None or revision != turn.final_pending:
            return []
        return self._discard(turn, Waste.FAILED)

    def commit(self) -> list[Signal]:
        """The client says that the turn is over."""
        return self._force(self._turn, _COMMITTED) if self._turn else []

    def clear(self) -> list[Signal]:
        """The client drops what was said so far."""
        return self._discard(self._turn, Waste.CLEARED) if self._turn else []

    def merge(self) -> list[Signal]:
        """The last turn was withdrawn: the utterance in progress is its continuation and is decoded with it."""
        turn, last = self._turn, self._last
        if turn is None or last is None:
            return []
        turn.start, turn.voiced, self._last = last.start, turn.voiced + last.voiced, None
        own, turn.gaps = turn.gaps, last.gaps
        self._leave_out(turn, last.voiced_until, turn.onset)
        turn.gaps += own
        merged: list[Signal] = [Merged(last.item, turn.item)]
        if self._state is _State.EAGER:
            return [*merged, *self._void(turn), self._request(turn, final=True)]
        return merged

    # The states

    def _listen(self, base: int, probability: float) -> list[Signal]:
        """IDLE: wait for an onset."""
        if probability < self._timing.voice_on:
            self._onset = 0
            self._trim()
            return []
        self._onset = self._onset or base + 1  # never 0, which means none
        if self._now - self._onset + 1 < self._timing.onset_ms * _PER_MS:
            return []
        onset = self._onset - 1
        earliest = self._last.voiced_until if self._last else 0
        start = max(onset - self._timing.preroll_ms * _PER_MS, earliest, 0)
        self._turn = _Turn(self._new_item(), start, onset, self._now, voiced=self._now - onset, partial_at=onset)
        self._onset, self._state = 0, _State.SPEAKING
        self._voice.begin_turn()
        return [SpeechStarted(self._turn.item, onset // _PER_MS)]

    def _follow(self, turn: _Turn, base: int, sound: int | None, probability: float) -> list[Signal]:
        """SPEAKING: follow the voice; partials, and the first silence."""
        if sound is not None and probability >= self._timing.voice_off:
            turn.voiced_until = base + sound
            turn.voiced += VAD_FRAME
        if self._now - turn.start >= self._timing.max_turn_ms * _PER_MS:
            return self._force(turn, _TOO_LONG)
        if self._silence(turn) >= self._eager_after * _PER_MS and self._quiet(turn):
            return self._stop(turn)
        return self._maybe_partial(turn)

    def _wait_on(self, turn: _Turn, base: int, sound: int | None, probability: float) -> list[Signal]:
        """EAGER: silence runs, until it is long enough or the voice comes back."""
        if sound is None or probability < self._timing.voice_on or turn.forced is not None:
            return self._settle()
        self._state = _State.SPEAKING
        self._leave_out(turn, turn.voiced_until, base)
        turn.voiced_until = base + sound
        turn.voiced += VAD_FRAME
        return self._void(turn)

    def _stop(self, turn: _Turn) -> list[Signal]:
        self._state = _State.EAGER
        turn.wordless = turn.voiced < self._timing.min_voiced_ms * _PER_MS
        return [] if turn.wordless else [self._request(turn, final=True)]

    def _force(self, turn: _Turn, rule: RuleId) -> list[Signal]:
        """End the turn now, whatever the silence: as soon as its words are known."""
        turn.forced = rule
        if self._state is _State.EAGER and turn.eager is not None:
            return self._end(turn, turn.eager.revision, turn.eager.transcript, rule)
        if self._state is _State.EAGER and turn.final_pending is not None:
            return []
        if self._state is _State.EAGER:
            return self._discard(turn, Waste.NO_SPEECH)
        self._state = _State.EAGER
        return [self._request(turn, final=True)]

    def _settle(self) -> list[Signal]:
        """EAGER: end the turn, or drop it, when its silence is long enough."""
        turn = self._turn
        if turn is None or self._state is not _State.EAGER:
            return []
        if turn.wordless:
            over = turn.forced is not None or self._silence(turn) >= self._timing.no_speech_ms * _PER_MS
            return self._discard(turn, Waste.NO_SPEECH) if over else []
        eager = turn.eager
        if eager is None:
            return []
        long_enough = self._silence(turn) >= eager.wait_ms * _PER_MS and self._quiet(turn)
        if turn.forced is None and not long_enough:
            return []
        return self._end(turn, eager.revision, eager.transcript, eager.rule)

    def _end(self, turn: _Turn, revision: int, transcript: Transcript, rule: RuleId) -> list[Signal]:
        voiced_until_ms = turn.voiced_until // _PER_MS
        self._last, self._turn, self._state = turn, None, _State.IDLE
        ended = Ended(turn.item, revision, transcript, rule, voiced_until_ms, self.now_ms)
        return [SpeechStopped(turn.item, voiced_until_ms), ended]

    def _discard(self, turn: _Turn, reason: Waste) -> list[Signal]:
        self._turn, self._state = None, _State.IDLE
        stopped = SpeechStopped(turn.item, turn.voiced_until // _PER_MS)
        return [*self._void(turn), stopped, Discarded(turn.item, reason)]

    def _void(self, turn: _Turn) -> list[Signal]:
        """What was said eagerly holds no more."""
        eager, turn.eager, turn.final_pending, turn.wordless = turn.eager, None, None, False
        return [Resumed(turn.item, eager.revision)] if eager else []

    # Decodes

    def _leave_out(self, turn: _Turn, voiced_until: int, voiced_again: int) -> None:
        """A pause inside a turn: most of it is not decoded, since recognisers stop at it."""
        start = voiced_until + self._timing.pause_after_ms * _PER_MS
        end = voiced_again - self._timing.pause_before_ms * _PER_MS
        if end > start:
            turn.gaps.append((start, end))

    def _request(self, turn: _Turn, *, final: bool) -> DecodeRequest:
        self._revision += 1
        pieces, start = [], turn.start
        for gap_start, gap_end in turn.gaps:
            pieces.append(self._tape.cut(start, gap_start))
            start = gap_end
        pad = np.zeros(self._timing.pad_ms * _PER_MS, dtype=np.float32)
        samples = np.concatenate((*pieces, self._tape.cut(start, self._tape.end), pad))
        if final:
            turn.final_pending, turn.partial_pending = self._revision, None
        else:
            turn.partial_pending, turn.partial_at = self._revision, self._now
        return DecodeRequest(turn.item, self._revision, samples, final)

    def _maybe_partial(self, turn: _Turn) -> list[Signal]:
        due = self._timing.partial_after_ms((self._now - turn.start) // _PER_MS, words=bool(turn.partial_text))
        if turn.partial_pending is not None or self._silent_frame or self._now - turn.partial_at < due * _PER_MS:
            return []
        return [self._request(turn, final=False)]

    def _partial(self, turn: _Turn, revision: int, transcript: Transcript) -> list[Signal]:
        text = transcript.text.strip()
        if not text or self._state is not _State.SPEAKING:
            return []
        stable = stable_prefix(turn.partial_text, text)
        turn.partial_text = text
        return [Partial(turn.item, revision, text, stable)]

    # Time

    @property
    def _eager_after(self) -> int:
        return self._patience.fixed_ms or self._timing.eager_after_ms

    def _wait(self, completeness: Completeness) -> tuple[int, RuleId]:
        if self._patience.fixed_ms is not None:
            return self._patience.fixed_ms, _FIXED
        wait, rule = self._rules.threshold(completeness)
        return max(round(wait * self._patience.scale), self._timing.eager_after_ms), rule

    def _silence(self, turn: _Turn) -> int:
        return self._now - turn.voiced_until

    def _quiet(self, turn: _Turn) -> bool:
        """VAD and level agree that the caller is silent, or the level has said so for long."""
        return self._silent_frame or self._silence(turn) >= _DEAF_MS * _PER_MS

    def _trim(self) -> None:
        """Forget audio that no turn can need: all but the pre-roll, or the last turn while it may be merged."""
        keep = self._now - (self._timing.preroll_ms + self._timing.onset_ms) * _PER_MS - VAD_FRAME
        if self._last is not None and self._now - self._last.voiced_until <= self._timing.merge_ms * _PER_MS:
            keep = min(keep, self._last.start)
        self._tape.forget(keep)
