"""New sentences of a speaker's recordings: voices/phrases.py finds the words, cuts them and joins them anew."""

import itertools
import random  # noqa: TID251 - seeded where it is used
from typing import Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from recogniser.voices import phrases

RATE: Final = 16_000
LABELS: Final = 3
BLANK: Final = LABELS


def likelihood(log_probs: NDArray[np.float64], path: tuple[int, ...]) -> float:
    return float(sum(log_probs[t, label] for t, label in enumerate(path)))


def said(path: tuple[int, ...]) -> list[int]:
    return [label for label, _ in itertools.groupby(path) if label != BLANK]


@settings(max_examples=60)
@given(st.integers(1, 6), st.lists(st.integers(0, LABELS - 1), max_size=3), st.integers(0, 1000))
def test_places_are_those_of_the_likeliest_path(positions: int, ids: list[int], seed: int) -> None:
    log_probs = np.log(np.random.default_rng(seed).dirichlet(np.ones(LABELS + 1), positions))
    paths = [p for p in itertools.product(range(LABELS + 1), repeat=positions) if said(p) == ids]
    if not paths:
        with pytest.raises(ValueError, match="too few"):
            phrases.places(log_probs, ids, BLANK)
        return
    best = max(paths, key=lambda path: likelihood(log_probs, path))
    runs = [list(run) for label, run in itertools.groupby(range(positions), key=lambda t: best[t]) if label != BLANK]
    assert phrases.places(log_probs, ids, BLANK) == [(run[0], run[-1]) for run in runs]


def tone(hertz: float, seconds: float) -> NDArray[np.int16]:
    wave = 8000 * np.sin(2 * np.pi * hertz * np.arange(int(seconds * RATE)) / RATE)
    return wave.astype(np.int16)


def test_words_are_cut_at_the_quietest_place() -> None:
    quiet = np.zeros(RATE // 10, np.int16)
    sound = np.concatenate([tone(200, 0.2), quiet, tone(300, 0.2)])
    (first, second) = phrases.spans(sound, [(0.1, 0.15), (0.38, 0.45)])
    assert first[0] == 0
    assert second[1] == sound.size
    assert 0.2 * RATE <= first[1] == second[0] <= 0.3 * RATE


def test_long_silence_around_a_word_is_left_behind() -> None:
    sound = np.concatenate([np.zeros(2 * RATE, np.int16), tone(200, 0.2), np.zeros(2 * RATE, np.int16)])
    ((begin, end),) = phrases.spans(sound, [(2.05, 2.15)])
    assert begin == pytest.approx((2.05 - phrases.LEAD_S) * RATE, abs=1)
    assert end == pytest.approx((2.15 + phrases.TAIL_S) * RATE, abs=1)


def clip(words: str, hertz: float) -> object:
    """A recording of which each word lasts 100 ms."""
    step = RATE // 10
    spans = [(i * step, (i + 1) * step) for i in range(len(words.split()))]
    return phrases.PhraseClip(words.split(), spans, tone(hertz, 0.1 * len(spans)), 8000.0)


def test_a_new_sentence_takes_the_longest_phrases_that_were_said() -> None:
    speaker = phrases.PhraseSpeaker()
    speaker.add(clip("send twenty dollars", 200))
    speaker.add(clip("twenty one", 1000))
    sound = speaker.say(["send", "twenty", "one"], random.Random(1)).astype(np.float64)
    step = RATE // 10
    assert sound.size == 3 * step - phrases.FADE
    half = [np.abs(np.fft.rfft(sound[begin : begin + step])).argmax() * RATE / step for begin in (0, step)]
    assert half == [pytest.approx(200, abs=10), pytest.approx(200, abs=10)]  # "send twenty" as it was said
    assert np.abs(np.fft.rfft(sound[2 * step :])).argmax() * RATE / (step - phrases.FADE) == pytest.approx(1000, abs=12)
    assert np.abs(sound).max() == pytest.approx(0.5 * 32767, abs=1)


def test_words_never_said_can_t_be_spliced() -> None:
    speaker = phrases.PhraseSpeaker()
    speaker.add(clip("send twenty dollars", 200))
    assert speaker.words() == {"send", "twenty", "dollars"}
    with pytest.raises(KeyError, match="pounds"):
        speaker.say(["twenty", "pounds"], random.Random(1))


def test_parts_are_faded_into_each_other() -> None:
    loud = np.ones(RATE // 10, np.float32)
    assert np.ptp(phrases.joined([loud, loud, loud])) == 0
    assert phrases.joined([loud, -loud]).astype(int).min() < 0


def test_silence_stays_silence() -> None:
    assert not phrases.joined([np.zeros(100, np.float32)]).any()
