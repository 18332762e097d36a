"""What the guards let through, and what they empty."""

from dataclasses import replace

import numpy as np
import pytest

from rules.asr import asr_rules
from schemas.transcript import Hypothesis
from services.asr.decoder import Decoded, Witness
from services.asr.guards import Guard

LANGUAGES = ("en", "ja")
CLEAR = Witness(joint_logprob=-2.0, surest=0.99, over_silence=20.0, unwritten=0.2)


def decoded(text: str, logprob: float = -0.2, no_speech: float = 0.0) -> Decoded:
    return Decoded((Hypothesis(text, logprob), Hypothesis("another", -1.0)), no_speech)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_speech_stands_with_its_alternatives(lang: str) -> None:
    kept = Guard(asr_rules(lang)).keep(decoded("send fifty dollars to kate"), final=True)
    assert [h.text for h in kept] == ["send fifty dollars to kate", "another"]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    "heard",
    [
        decoded("yes", no_speech=0.97),
        decoded("yes", logprob=-1.0, no_speech=0.6),
        decoded("murmur", logprob=-3.0),
        decoded("send send " * 12),
        Decoded((), 0.0),
    ],
)
def test_what_nobody_said_is_empty(lang: str, heard: Decoded) -> None:
    kept = Guard(asr_rules(lang)).keep(heard, final=True)
    assert [h.text for h in kept] == [""]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    ("witness", "stands"),
    [
        (CLEAR, True),
        (None, False),
        (replace(CLEAR, joint_logprob=-3.0), False),
        (replace(CLEAR, surest=0.4), False),
        (replace(CLEAR, over_silence=-9.0), False),
        (replace(CLEAR, unwritten=4.0), False),
    ],
)
def test_a_ctc_head_must_hear_what_is_written(lang: str, witness: Witness | None, stands: bool) -> None:
    heard = Decoded((Hypothesis("pay kate", -2.0),), 0.0, witness)
    assert bool(Guard(asr_rules(lang)).keep(heard, final=True)[0].text) is stands


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_partial_may_be_less_sure_than_a_final(lang: str) -> None:
    heard = Decoded((Hypothesis("pay", -2.4),), 0.0, replace(CLEAR, joint_logprob=-2.4))
    assert Guard(asr_rules(lang)).keep(heard, final=True)[0].text == ""
    assert Guard(asr_rules(lang)).keep(heard, final=False)[0].text == "pay"


def test_a_partial_which_the_head_hears_alone_is_farther_from_silence_than_a_final() -> None:
    rules = asr_rules("en")
    between = (rules.least_over_silence + rules.least_partial_over_silence) / 2
    heard = Decoded((Hypothesis("pay", -0.4),), 0.0, replace(CLEAR, joint_logprob=-0.5, over_silence=between))
    assert Guard(rules).keep(heard, final=True)[0].text == "pay"
    assert Guard(rules).keep(heard, final=False)[0].text == ""


@pytest.mark.parametrize(
    ("lang", "phrase"), [("en", "Thank you for watching!"), ("ja", "ご視聴ありがとうございました。")]
)
def test_phantom_phrases_need_certainty(lang: str, phrase: str) -> None:
    guard = Guard(asr_rules(lang))
    assert guard.keep(decoded(phrase, logprob=-0.5), final=True)[0].text == ""
    assert guard.keep(decoded(phrase, logprob=-0.01), final=True)[0].text == phrase


@pytest.mark.parametrize("lang", LANGUAGES)
def test_faint_sound_is_not_decoded(lang: str) -> None:
    guard = Guard(asr_rules(lang))
    assert guard.wordless(np.zeros(16_000, dtype=np.float32))
    assert guard.wordless(np.zeros(0, dtype=np.float32))
    assert not guard.wordless(np.random.default_rng(1).normal(0, 0.01, 16_000).astype(np.float32))


@pytest.mark.parametrize(
    ("lang", "phrase"),
    [
        ("en", "no no no no"),
        ("en", "seven seven seven seven seven seven seven"),
        ("en", "double five double five double five oh oh oh"),
        ("ja", "〇〇〇〇〇〇〇"),
        ("ja", "はいはいはいはい"),
    ],
)
def test_what_callers_do_repeat_is_no_loop(lang: str, phrase: str) -> None:
    assert Guard(asr_rules(lang)).keep(decoded(phrase), final=True)[0].text == phrase


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("hertz", [(50,), (440,), (350, 440), (480, 620), (852, 1477)])
def test_tones_are_not_decoded(lang: str, hertz: tuple[int, ...]) -> None:
    time = np.arange(32_000) / 16_000
    beat = np.floor(time * 2.5) % 2
    tone = sum(0.1 * np.sin(2 * np.pi * h * time) for h in hertz) * beat
    assert Guard(asr_rules(lang)).wordless(np.asarray(tone, dtype=np.float32))


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("pitch", [95, 140, 190, 240])
def test_a_held_vowel_is_no_tone(lang: str, pitch: int) -> None:
    time = np.arange(8_000) / 16_000
    vowel = sum(0.1 * level * np.sin(2 * np.pi * pitch * n * time) for n, level in ((1, 1.0), (2, 0.8), (3, 0.03)))
    assert not Guard(asr_rules(lang)).wordless(np.asarray(vowel, dtype=np.float32))


@pytest.mark.parametrize(
    ("heard", "written"),
    [
        ("佐藤花子二五千円送って", "佐藤花子に五千円送って"),
        ("田中一郎三二九万五千円", "田中一郎さんに九万五千円"),
        ("佐藤さん二二千円送って", "佐藤さんに二千円送って"),
        ("ハナコ二千円送って", "ハナコ二千円送って"),  # or に千円: both are spoken
        ("十二万五千円", "十二万五千円"),
        ("暗証番号は三二九五", "暗証番号は三二九五"),
    ],
)
def test_a_particle_is_no_figure_where_no_number_is_spoken_so(heard: str, written: str) -> None:
    found = Decoded((Hypothesis(heard, -0.1), Hypothesis(written, -0.2), Hypothesis("別", -1.0)), 0.0)
    kept = Guard(asr_rules("ja")).keep(found, final=True)
    assert [(h.text, h.avg_logprob) for h in kept] == [(written, -0.1), ("別", -1.0)]
