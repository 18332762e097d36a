"""One caller's turns: Start → Eager → (Resumed | Ended). Sans I/O: audio and transcripts in, events and requests out.

Every time is audio time. A turn ends when silence since the last voiced sample reaches the threshold that its words ask
for, and its words are known; so the same audio and transcripts give the same turns however fast they came. `waiting`
tells the driver when feeding more audio would let the clock run past a decision whose words are still being decoded.
"""

from collections.abc import Callable
from dataclasses import replace
from enum import Enum, auto
from typing import Final

from schemas.audio import Samples
from schemas.call import Patience
from schemas.ids import Locale, RuleId
from schemas.interpretation import Interpretation
from schemas.transcript import Onward
from schemas.turn import (
    Completeness,
    Discarded,
    Eager,
    Ended,
    ItemId,
    ListenerEvent,
    Merged,
    Resumed,
    SpeechStarted,
    SpeechStopped,
    Waste,
)
from services.audio.buffer import AudioBuffer
from services.audio.completeness import CompletenessJudge
from services.audio.endpointing import Timing, timing
from services.audio.frames import VAD_FRAME
from services.audio.utterance import PER_MS, DecodeRequest, Utterance
from services.audio.voice import Onset, VoiceLevels

COMMITTED: Final = RuleId("endpointing.commit@1")
"""The client said that the utterance was over."""
_TOO_LONG: Final = RuleId("endpointing.max_turn@1")
_DEAF_MS: Final = 320
"""Silence by level that counts although the VAD still hears speech."""

Signal = ListenerEvent | DecodeRequest


class _State(Enum):
    IDLE = auto()
    SPEAKING = auto()
    EAGER = auto()


class Listener:
    """The state machine of one call. Not safe across threads; no method blocks."""

    def __init__(self, locale: Locale, new_item: Callable[[], ItemId], patience: Patience | None = None) -> None:
        self._timing: Timing = timing()
        self.configure(locale, patience or Patience())
        self._new_item = new_item
        self._buffer = AudioBuffer()
        self._voice = VoiceLevels(self._timing)
        self._state = _State.IDLE
        self._turn: Utterance | None = None
        self._last: Utterance | None = None
        self._revision = 0
        self._onset = Onset(self._timing)
        self._now = self._kept = 0

    # What the driver may ask

    @property
    def now_ms(self) -> int:
        """Audio received so far."""
        return self._now // PER_MS

    @property
    def item(self) -> ItemId | None:
        """The utterance in progress."""
        return self._turn.item if self._turn else None

    @property
    def voiced_ms(self) -> int:
        """Voice in the utterance in progress."""
        return self._turn.voiced // PER_MS if self._turn else 0

    @property
    def stirs(self) -> bool:
        """Whether there is voice now, perhaps the first of an utterance."""
        return self._turn is not None or self._onset.begun or self._voice.stirs(self._now)

    @property
    def waiting(self) -> int | None:
        """The revision that must be decoded before more audio is fed; None when audio may go on."""
        turn = self._turn
        if turn is None or self._state is not _State.EAGER or turn.final_pending is None:
            return None
        due = turn.forced is not None or self._silence(turn) >= self._judge.shortest_ms * PER_MS
        return turn.final_pending if due else None

    def wants(self, revision: int) -> bool:
        """Whether a decode's answer is still of use."""
        return self._turn is not None and revision in {self._turn.partial_pending, self._turn.final_pending}

    @property
    def continues(self) -> ItemId | None:
        """The last utterance, when the one in progress began so soon after it that it may be its continuation."""
        if (last := self._last) is None or (turn := self._turn) is None:
            return None
        soon = turn.onset - last.voiced_until <= self._timing.merge_ms * PER_MS
        return last.item if soon and self._now - last.start <= self._timing.max_turn_ms * PER_MS else None

    # What the driver tells

    def configure(self, locale: Locale, patience: Patience) -> None:
        """Change language or patience between turns."""
        self._judge, self._manual = CompletenessJudge(locale, patience), patience.manual

    def feed(self, frame: Samples, probability: float) -> list[Signal]:
        """Take 512 samples and the probability that they hold speech."""
        assert frame.size == VAD_FRAME
        base = self._buffer.end
        self._buffer.push(frame)
        self._now = self._buffer.end
        sound = self._voice.last_sound(frame, probability, self._now)
        if self._turn is None:
            return self._listen(base, probability)
        if self._state is _State.SPEAKING:
            return self._follow(self._turn, base, sound, probability)
        return self._wait_on(self._turn, base, sound, probability)

    def advance(self, pending: int) -> list[Signal]:
        """`pending` samples came that fill no frame yet: the clock moves by them."""
        self._now = self._buffer.end + pending
        return self._settle()

    def asks(self, revision: int, said: Interpretation) -> bool:
        """Whether it matters what may follow the words of this final."""
        turn = self._turn if self.wants(revision) else None
        return turn is not None and turn.forced is None and self._judge.asks(said, turn.partial_text)

    def heard(self, revision: int, said: Interpretation, onward: Onward | None = None) -> list[Signal]:
        """Take a decode's words; of a final what they mean and what may follow, too. Stale ones change nothing."""
        turn, transcript = self._turn, said.transcript
        if turn is None:
            return []
        if revision == turn.partial_pending:
            turn.partial_pending = None
            speaking = self._state is _State.SPEAKING and transcript.text.strip()
            return [turn.shown(revision, transcript.text.strip())] if speaking else []
        if revision != turn.final_pending:
            return []
        turn.final_pending = None
        if not transcript.text.strip() or transcript.no_speech_prob > self._timing.no_speech_prob:
            turn.wordless = True
            return self._settle()
        unheard, guessed_ahead = turn.learn(transcript.text), self._judge.filled_ms(transcript.text) * PER_MS
        whole = unheard < self._timing.unheard_voice_ms * PER_MS or turn.decoding <= guessed_ahead
        completeness = self._judge.judge(said, turn.partial_text)
        waited = self._judge.wait(completeness, transcript.text, onward)
        wait, rule = waited if turn.forced is None else (0, turn.forced)
        turn.eager = Eager(turn.item, revision, replace(transcript, whole=whole), completeness, wait, rule)
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
        return self._force(self._turn, COMMITTED) if self._turn else []

    def clear(self) -> list[Signal]:
        """The client drops what was said so far: nothing of it comes before the next words."""
        self._kept = self._now
        return self._discard(self._turn, Waste.CLEARED) if self._turn else []

    def merge(self) -> list[Signal]:
        """The last turn was withdrawn: the utterance in progress is its continuation and is decoded with it."""
        turn, last = self._turn, self._last
        if turn is None or last is None:
            return []
        turn.continues(last, self._timing)
        self._last = None
        merged: list[Signal] = [Merged(last.item, turn.item)]
        if self._state is _State.EAGER:
            return [*merged, *self._void(turn), self._request(turn, final=True)]
        return merged

    def _listen(self, base: int, probability: float) -> list[Signal]:
        """IDLE: wait for an onset."""
        onset = self._onset.found(base, self._now, probability)
        if onset is None:
            if not self._onset.begun:
                self._trim()
            return []
        kept, onset = max(self._kept, self._last.voiced_until if self._last else 0), max(onset, self._kept)
        start = max(onset - self._timing.preroll_ms * PER_MS, kept)
        self._turn = Utterance(self._new_item(), start, onset, self._now, self._now - onset, onset)
        self._state = _State.SPEAKING
        self._voice.begin_turn()
        return [SpeechStarted(self._turn.item, onset // PER_MS)]

    def _follow(self, turn: Utterance, base: int, sound: int | None, probability: float) -> list[Signal]:
        """SPEAKING: follow the voice; partials, and the first silence."""
        if sound is not None and probability >= self._timing.voice_off:
            turn.voice(base + sound)
        if self._now - turn.start >= self._timing.max_turn_ms * PER_MS:
            return self._force(turn, _TOO_LONG)
        if not self._manual and self._silence(turn) >= self._judge.eager_after_ms * PER_MS and self._quiet(turn):
            return self._stop(turn)
        return self._maybe_partial(turn)

    def _wait_on(self, turn: Utterance, base: int, sound: int | None, probability: float) -> list[Signal]:
        """EAGER: silence runs, until it is long enough or the voice comes back."""
        if sound is None or probability < self._timing.voice_on or turn.forced is not None:
            return self._settle()
        self._state = _State.SPEAKING
        turn.leave_out(turn.voiced_until, base, self._timing)
        turn.voice(base + sound)
        return self._void(turn)

    def _stop(self, turn: Utterance) -> list[Signal]:
        self._state = _State.EAGER
        turn.wordless = turn.voiced < self._timing.min_voiced_ms * PER_MS
        return [] if turn.wordless else [self._request(turn, final=True)]

    def _force(self, turn: Utterance, rule: RuleId) -> list[Signal]:
        """End the turn now, whatever the silence: as soon as its words are known."""
        turn.forced = rule
        if self._state is _State.EAGER and turn.eager is not None:
            return self._end(turn, turn.eager, rule)
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
            over = turn.forced is not None or self._silence(turn) >= self._timing.no_speech_ms * PER_MS
            return self._discard(turn, Waste.NO_SPEECH) if over else []
        if (eager := turn.eager) is None:
            return []
        silence, wait = self._silence(turn), eager.wait_ms * PER_MS
        sure = wait if eager.completeness is Completeness.BINDING else 0
        stirring = sure > 0 and self._voice.stirs(self._now) and silence < sure + _DEAF_MS * PER_MS
        if turn.forced is None and (silence < wait or stirring or not self._quiet(turn, sure)):
            return []
        return self._end(turn, eager, eager.rule)

    def _end(self, turn: Utterance, eager: Eager, rule: RuleId) -> list[Signal]:
        voiced_until_ms = turn.voiced_until // PER_MS
        self._last, self._turn, self._state = turn, None, _State.IDLE
        ended = Ended(turn.item, eager.revision, eager.transcript, rule, voiced_until_ms, self.now_ms)
        return [SpeechStopped(turn.item, voiced_until_ms), ended]

    def _discard(self, turn: Utterance, reason: Waste) -> list[Signal]:
        self._turn, self._state = None, _State.IDLE
        stopped = SpeechStopped(turn.item, turn.voiced_until // PER_MS)
        return [*self._void(turn), stopped, Discarded(turn.item, reason, turn.voiced // PER_MS)]

    def _void(self, turn: Utterance) -> list[Signal]:
        eager = turn.void()
        return [Resumed(turn.item, eager.revision)] if eager else []

    def _request(self, turn: Utterance, *, final: bool) -> DecodeRequest:
        self._revision += 1
        samples = turn.samples(self._buffer, self._timing)
        return turn.request(self._revision, samples, self._now, final=final)

    def _maybe_partial(self, turn: Utterance) -> list[Signal]:
        due = self._timing.partial_after_ms((self._now - turn.start) // PER_MS, words=bool(turn.partial_text))
        if turn.partial_pending is not None or self._voice.silent or self._now - turn.partial_at < due * PER_MS:
            return []
        return [self._request(turn, final=False)]

    def _silence(self, turn: Utterance) -> int:
        return self._now - turn.voiced_until

    def _quiet(self, turn: Utterance, sure: int = 0) -> bool:
        """VAD and level agree that the caller is silent, or the level has said so for long beyond `sure` samples."""
        return self._voice.silent or self._silence(turn) >= sure + _DEAF_MS * PER_MS

    def _trim(self) -> None:
        """Forget audio that no turn can need: all but the pre-roll, or the last turn while it may be merged."""
        keep = self._now - (self._timing.preroll_ms + self._timing.onset_ms) * PER_MS - VAD_FRAME
        if self._last is not None and self._now - self._last.voiced_until <= self._timing.merge_ms * PER_MS:
            keep = min(keep, self._last.start)
        self._buffer.forget(keep)
