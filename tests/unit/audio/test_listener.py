"""The listener's states, driven by scripted probabilities: no model, no clock, no socket."""

from itertools import count, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.call import Patience
from schemas.ids import EN_US
from schemas.intent import Intent, Understood
from schemas.interpretation import Interpretation
from schemas.transcript import Hypothesis, Onward, Transcript
from schemas.turn import (
    Completeness,
    Discarded,
    Eager,
    Ended,
    ItemId,
    Merged,
    Partial,
    Resumed,
    SpeechStarted,
    SpeechStopped,
    Waste,
)
from services.audio.completeness import CompletenessJudge
from services.audio.endpointing import timing
from services.audio.frames import VAD_FRAME
from services.audio.listener import Listener, Signal
from services.audio.utterance import DecodeRequest

VOICE = (0.3 * np.sin(np.arange(VAD_FRAME) / 4)).astype(np.float32)
QUIET = np.zeros(VAD_FRAME, dtype=np.float32)
FRAME_MS = 32


class Scripted(CompletenessJudge):
    """Finds everything as complete as its bench wants."""

    def __init__(self, bench: "Bench", patience: Patience) -> None:
        super().__init__(EN_US, patience)
        self.bench = bench

    def judge(self, said: Interpretation, partial: str = "") -> Completeness:
        return self.bench.completeness


class Bench:
    """A listener whose decodes are answered at once, late, or by hand."""

    def __init__(self, completeness: Completeness = Completeness.COMPLETE, *, patience: Patience | None = None) -> None:
        items = count()
        self.listener = Listener(EN_US, lambda: ItemId(f"item-{next(items)}"), patience)
        self.completeness = completeness
        self.listener._judge = Scripted(self, patience or Patience())
        self.automatic = True
        self.words = "send fifty dollars"
        self.signals: list[Signal] = []
        self.requests: list[DecodeRequest] = []

    def take(self, signals: list[Signal]) -> None:
        for signal in signals:
            if isinstance(signal, DecodeRequest):
                self.requests.append(signal)
                if self.automatic:
                    self.answer(signal)
            else:
                self.signals.append(signal)

    def answer(self, request: DecodeRequest, words: str | None = None) -> None:
        transcript = Transcript.typed(self.words if words is None else words, EN_US)
        self.take(self.listener.heard(request.revision, Interpretation(transcript)))

    def voice(self, frames: int) -> None:
        for _ in range(frames):
            self.take(self.listener.feed(VOICE, 0.95))

    def quiet(self, frames: int) -> None:
        for _ in range(frames):
            self.take(self.listener.feed(QUIET, 0.02))

    def of(self, kind: type) -> list[Signal]:
        return [signal for signal in self.signals if isinstance(signal, kind)]


def test_a_complete_command_ends_after_its_short_silence() -> None:
    bench = Bench()
    bench.quiet(10)
    bench.voice(30)
    bench.quiet(12)
    started, ended = bench.of(SpeechStarted)[0], bench.of(Ended)[0]
    assert isinstance(started, SpeechStarted)
    assert isinstance(ended, Ended)
    assert started.at_ms == 320
    assert ended.voiced_until_ms == 40 * FRAME_MS
    assert 150 <= ended.ended_at_ms - ended.voiced_until_ms < 150 + FRAME_MS
    assert ended.rule == "endpointing.en.complete@11"


def test_the_clock_runs_between_frames() -> None:
    bench = Bench()
    bench.voice(30)
    bench.quiet(4)  # 128 ms of silence: 22 ms short
    assert not bench.of(Ended)
    bench.take(bench.listener.advance(21 * 16))
    assert not bench.of(Ended)
    bench.take(bench.listener.advance(22 * 16))
    assert len(bench.of(Ended)) == 1


def test_each_kind_of_words_has_its_own_silence() -> None:
    waits = {}
    for kind in Completeness:
        bench = Bench(kind)
        bench.voice(30)
        bench.quiet(80)
        (ended,) = bench.of(Ended)
        assert isinstance(ended, Ended)
        waits[kind] = ended.ended_at_ms - ended.voiced_until_ms
        assert ended.rule == f"endpointing.en.{kind.value}@11"
    assert waits[Completeness.COMPLETE] < 250 < waits[Completeness.UNKNOWN] < waits[Completeness.MISSING_SLOT]
    assert waits[Completeness.YES_NO] < 250 < waits[Completeness.DIGITS] < waits[Completeness.TRAILING]


def test_words_of_no_rule_end_sooner_where_nothing_may_follow() -> None:
    bench = Bench(Completeness.UNKNOWN)
    bench.automatic = False
    bench.voice(30)
    bench.quiet(4)
    (request,) = (each for each in bench.requests if each.final)
    said = Interpretation(Transcript.typed("the rain in spain", EN_US))
    assert bench.listener.asks(request.revision, said)
    assert not bench.listener.asks(request.revision + 1, said)
    bench.take(bench.listener.heard(request.revision, said, Onward(-12.0, -12.0)))
    assert not bench.listener.asks(request.revision, said)
    bench.quiet(12)
    (ended,) = bench.of(Ended)
    assert isinstance(ended, Ended)
    assert 400 <= ended.ended_at_ms - ended.voiced_until_ms < 450


def test_doubted_words_are_waited_for() -> None:
    bench = Bench()
    bench.listener.configure(EN_US, Patience())
    bench.automatic = False
    bench.voice(30)
    bench.quiet(3)
    unsure = Transcript("lock my card", EN_US, (Hypothesis("lock my card", -1.2),))
    said = Interpretation(unsure, understood=Understood(Intent.CARD_LOCK))
    bench.take(bench.listener.heard(bench.requests[-1].revision, said))
    bench.quiet(30)
    (ended,) = bench.of(Ended)
    assert isinstance(ended, Ended)
    assert ended.rule == "endpointing.en.doubtful@11"
    assert ended.ended_at_ms - ended.voiced_until_ms >= 600


def test_going_on_voids_the_eager_words() -> None:
    bench = Bench(Completeness.MISSING_SLOT)
    bench.voice(20)
    bench.quiet(10)
    bench.voice(20)
    bench.quiet(80)
    kinds = [type(s) for s in bench.signals if not isinstance(s, Partial)]
    assert kinds == [SpeechStarted, Eager, Resumed, Eager, SpeechStopped, Ended]


def test_a_click_starts_nothing_and_a_short_noise_is_nothing() -> None:
    bench = Bench()
    bench.voice(1)
    bench.quiet(30)
    assert not bench.signals
    bench.voice(2)
    bench.quiet(40)
    (discarded,) = bench.of(Discarded)
    assert isinstance(discarded, Discarded)
    assert discarded.reason is Waste.NO_SPEECH
    assert not bench.requests


def test_sound_without_words_is_dropped() -> None:
    bench = Bench()
    bench.words = "  "
    bench.voice(20)
    bench.quiet(40)
    assert [type(s) for s in bench.signals] == [SpeechStarted, SpeechStopped, Discarded]


def test_the_segment_has_its_pre_roll_and_its_padding() -> None:
    bench = Bench()
    bench.quiet(20)
    bench.voice(20)
    bench.quiet(4)
    final = next(request for request in bench.requests if request.final)
    rules = timing()
    silence_ms = final.samples.size / 16 - 20 * FRAME_MS - rules.preroll_ms - rules.pad_ms
    assert rules.eager_after_ms <= silence_ms <= rules.eager_after_ms + FRAME_MS
    assert not final.samples[-rules.pad_ms * 16 :].any()


def test_partials_come_one_at_a_time_and_grow() -> None:
    bench = Bench()
    bench.automatic = False
    bench.voice(40)
    assert len(bench.requests) == 1
    assert bench.requests[0].samples.size / 16 <= 500 + timing().pad_ms
    bench.answer(bench.requests[0], "send")
    bench.voice(10)
    bench.answer(bench.requests[1], "send fifty")
    bench.voice(10)
    bench.answer(bench.requests[2], "send fifteen dollars")
    shown = [(s.text, s.stable) for s in bench.of(Partial) if isinstance(s, Partial)]
    assert shown == [("send", 0), ("send fifty", 4), ("send fifteen dollars", 5)]


def test_partials_of_a_long_turn_come_more_rarely() -> None:
    bench = Bench()
    bench.voice(440)
    lengths = [request.samples.size / 16 - timing().pad_ms for request in bench.requests]
    rests = [later - sooner for sooner, later in pairwise(lengths)]
    assert timing().partial_every_ms <= min(rests[:3]) <= max(rests[:3]) <= timing().partial_every_ms + FRAME_MS
    assert rests[-1] >= timing().partial_share * lengths[-1] > 4 * rests[0]
    assert sum(lengths) <= lengths[-1] / timing().partial_share + sum(length for length in lengths if length < 2_000)


def test_the_words_of_a_pause_that_ended_are_shown_and_end_nothing() -> None:
    bench = Bench()
    bench.automatic = False
    bench.voice(20)
    bench.quiet(3)
    early = bench.requests[-1]
    assert early.final
    bench.voice(4)
    assert bench.listener.wants(early.revision)
    bench.answer(early, "send")
    assert [event.text for event in bench.of(Partial) if isinstance(event, Partial)] == ["send"]
    assert not bench.of(Eager)


def test_a_stale_answer_changes_nothing() -> None:
    bench = Bench()
    bench.automatic = False
    bench.voice(20)
    bench.quiet(3)
    stale = bench.requests[-1]
    bench.voice(10)
    bench.quiet(3)
    assert not bench.listener.wants(stale.revision)
    bench.answer(stale, "send")
    assert not bench.of(Eager)


@pytest.mark.parametrize(("more", "said", "whole"), [(10, "yes", False), (3, "yes", True), (10, "yes no", True)])
def test_voice_that_no_word_stands_for_is_noticed(more: int, said: str, whole: bool) -> None:
    bench = Bench()
    bench.automatic = False
    bench.voice(20)
    bench.quiet(3)
    bench.answer(bench.requests[-1], "yes")
    bench.voice(more)
    bench.quiet(3)
    bench.answer(bench.requests[-1], said)
    assert [event.transcript.whole for event in bench.of(Eager) if isinstance(event, Eager)] == [True, whole]


@pytest.mark.parametrize(("said", "whole"), [("yes", False), ("yes please go ahead and do it", True)])
def test_words_that_fill_the_voice_were_guessed_ahead_and_leave_nothing_out(said: str, whole: bool) -> None:
    bench = Bench()
    bench.automatic = False
    bench.voice(20)
    bench.quiet(3)
    bench.answer(bench.requests[-1], said)
    bench.voice(10)
    bench.quiet(3)
    bench.answer(bench.requests[-1], said)
    assert [event.transcript.whole for event in bench.of(Eager) if isinstance(event, Eager)] == [True, whole]


def test_audio_waits_for_words_once_a_turn_could_end() -> None:
    bench = Bench()
    bench.automatic = False
    bench.voice(20)
    bench.quiet(3)
    assert bench.listener.waiting is None
    bench.quiet(3)
    assert bench.listener.waiting == bench.requests[-1].revision
    bench.answer(bench.requests[-1])
    assert bench.listener.waiting is None
    assert len(bench.of(Ended)) == 1


def test_a_failed_final_is_no_turn() -> None:
    bench = Bench()
    bench.automatic = False
    bench.voice(20)
    bench.quiet(4)
    bench.take(bench.listener.unheard(bench.requests[-1].revision))
    (discarded,) = bench.of(Discarded)
    assert isinstance(discarded, Discarded)
    assert discarded.reason is Waste.FAILED


def test_a_turn_without_end_is_cut() -> None:
    bench = Bench(Completeness.MISSING_SLOT)
    bench.voice(16_000 // FRAME_MS)
    (ended,) = bench.of(Ended)
    assert isinstance(ended, Ended)
    assert ended.rule == "endpointing.max_turn@1"
    assert ended.ended_at_ms <= timing().max_turn_ms + FRAME_MS


def test_what_was_said_right_after_the_end_can_be_merged() -> None:
    bench = Bench()
    bench.voice(20)
    bench.quiet(10)
    (ended,) = bench.of(Ended)
    assert isinstance(ended, Ended)
    bench.voice(10)
    assert bench.listener.continues == ended.item
    bench.take(bench.listener.merge())
    (merged,) = bench.of(Merged)
    assert isinstance(merged, Merged)
    assert (merged.item, merged.into) == (ended.item, bench.listener.item)
    bench.voice(10)
    bench.quiet(10)
    rules = timing()
    kept_ms = bench.requests[-1].samples.size / 16 - rules.pad_ms - rules.eager_after_ms
    assert abs(kept_ms - 40 * FRAME_MS - rules.pause_after_ms - rules.pause_before_ms) <= FRAME_MS


def test_a_long_pause_inside_a_turn_is_hardly_decoded() -> None:
    rules, sizes = timing(), []
    for pause in (10, 30):
        bench = Bench(Completeness.MISSING_SLOT)
        bench.voice(20)
        bench.quiet(pause)
        bench.voice(20)
        bench.quiet(5)
        sizes.append(bench.requests[-1].samples.size / 16)
    assert sizes[0] == sizes[1]
    assert sizes[0] <= 40 * FRAME_MS + rules.pause_after_ms + rules.pause_before_ms + rules.pad_ms + 100


def test_what_comes_later_is_a_turn_of_its_own() -> None:
    bench = Bench()
    bench.voice(20)
    bench.quiet(60)
    bench.voice(10)
    assert bench.listener.continues is None


def test_a_fixed_silence_decodes_only_then() -> None:
    bench = Bench(patience=Patience(fixed_ms=500))
    bench.voice(30)
    bench.quiet(14)
    assert not any(request.final for request in bench.requests)
    bench.quiet(3)
    (ended,) = bench.of(Ended)
    assert isinstance(ended, Ended)
    assert 500 <= ended.ended_at_ms - ended.voiced_until_ms <= 500 + FRAME_MS


script = st.lists(st.tuples(st.booleans(), st.integers(1, 60)), min_size=1, max_size=12)


@settings(max_examples=60, deadline=None)
@given(script, st.lists(st.sampled_from(list(Completeness)), min_size=1), st.lists(st.integers(0, 8), min_size=1))
def test_invariants_hold_whatever_is_said_and_however_late_the_words_come(
    parts: list[tuple[bool, int]], kinds: list[Completeness], delays: list[int]
) -> None:
    """End's text is the last Eager's, or Resumed came first; every utterance ends once; nothing grows."""
    bench = Bench()
    bench.automatic = False
    due: list[tuple[int, DecodeRequest]] = []
    frame = answered = 0
    for voiced, frames in [*parts, (False, 200)]:
        for _ in range(frames):
            frame += 1
            waiting = bench.listener.waiting
            for at, request in list(due):
                if at <= frame or request.revision == waiting:
                    due.remove((at, request))
                    bench.completeness = kinds[answered % len(kinds)]
                    bench.answer(request, f"words {request.revision}")
            before = len(bench.requests)
            bench.voice(1) if voiced else bench.quiet(1)
            for request in bench.requests[before:]:
                due.append((frame + delays[answered % len(delays)], request))
                answered += 1
    _check(bench.signals)


def _check(signals: list[Signal]) -> None:
    eager: Eager | None = None
    open_item: ItemId | None = None
    for signal in signals:
        match signal:
            case SpeechStarted():
                assert open_item is None
                open_item, eager = signal.item, None
            case Eager():
                assert eager is None
                eager = signal
            case Resumed():
                assert eager is not None
                eager = None
            case Ended():
                assert eager is not None
                assert signal.item == open_item == eager.item
                assert signal.transcript == eager.transcript
                assert signal.revision == eager.revision
                assert signal.ended_at_ms - signal.voiced_until_ms >= eager.wait_ms or "max_turn" in signal.rule
                open_item, eager = None, None
            case Discarded():
                assert signal.item == open_item
                assert eager is None
                open_item = None
            case _:
                pass
    assert open_item is None
