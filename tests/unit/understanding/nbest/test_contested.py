"""Contested amounts: which alternatives give an amount another reading, and which say nothing about it."""

from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from rules.load import load
from rules.locales import locale_rules
from schemas.ids import EN_GB, EN_US, JA_JP, Locale, language
from schemas.money import exponent
from schemas.span import Ambiguity, Span, amount_readings, amount_spans
from schemas.transcript import Hypothesis, Source, Transcript
from services.normalization import Normalizer
from services.understanding.fast.ruleset.rules import ConfidenceFile
from services.understanding.nbest.contested import contested
from tests.fakes.desk import NOW

CASES: Final[list[dict[str, Any]]] = yaml.load(
    (Path(__file__).parents[3] / "data" / "contested.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader
)
WORDS: Final = sorted({text for case in CASES if "locale" not in case for text, _ in case["heard"]})


def spans(heard: list[tuple[str, float]], locale: Locale = EN_US, source: Source = Source.SPEECH) -> tuple[Span, ...]:
    transcript = Transcript(heard[0][0], locale, tuple(Hypothesis(*each) for each in heard), source=source)
    normalize = partial(Normalizer.for_locale(locale).normalize, now=NOW, currencies=())
    return contested(transcript, normalize(transcript.text), normalize)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_readings_of_an_amount(case: dict[str, Any]) -> None:
    locale = Locale(case.get("locale", EN_US))
    digits = exponent(locale_rules(locale).currency)
    found = amount_spans(spans(case["heard"], locale, Source(case.get("source", "speech"))))
    assert [[a.amount_minor for a in amount_readings(span, digits)] for span in found] == case["amounts"]


def test_why_it_has_several_is_on_the_span() -> None:
    [span] = spans([("sixty dollars", -0.4), ("sixteen dollars", -0.4)])
    assert span.ambiguity is Ambiguity.HEARD_TWO_WAYS
    assert [str(reading.rule) for reading in span.readings] == [str(span.rule)]
    [doubtful] = spans([("one fifty", -0.4), ("one sixty", -0.4)])
    assert doubtful.ambiguity is Ambiguity.HEARD_TWO_WAYS


@given(st.lists(st.tuples(st.sampled_from(WORDS), st.floats(-0.6, -0.2)), min_size=1, max_size=5))
def test_what_the_best_hypothesis_says_stays_first(heard: list[tuple[str, float]]) -> None:
    alone, among = spans(heard[:1]), spans(heard)
    assert [(s.kind, s.start, s.end, s.value) for s in among] == [(s.kind, s.start, s.end, s.value) for s in alone]
    for before, after in zip(alone, among, strict=True):
        assert after.readings[: len(before.readings)] == before.readings
        assert (after == before) == (len(after.readings) == len(before.readings))


@pytest.mark.parametrize("locale", [EN_US, EN_GB, JA_JP])
def test_every_language_has_its_tokens_and_odds(locale: Locale) -> None:
    assert language(locale) in load("intents/confidence.yaml", ConfidenceFile).contested
