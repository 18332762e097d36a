"""A code that was asked for is one string of figures, however it is grouped."""

from pathlib import Path

import pytest
import yaml

from schemas.ids import Locale
from schemas.span import SpanKind
from services.normalization import Normalizer

CASES = yaml.load((Path(__file__).parents[2] / "data/normalize-rules/codes.yaml").read_text(), yaml.CSafeLoader)
EACH = [
    (Locale(locale), code, said) for locale, codes in CASES.items() for code, ways in codes.items() for said in ways
]


@pytest.mark.parametrize(("locale", "code", "said"), EACH)
def test_a_code_is_one_string(locale: Locale, code: str, said: str) -> None:
    (span,) = Normalizer.for_locale(locale).normalize(said, digits=True)
    assert (span.kind, span.value) == (SpanKind.DIGITS, code)
    assert said[span.start : span.end] == span.surface


@pytest.mark.parametrize("said", ["4 dollars, 9", "4 and then 9", "send 493 to 544"])
def test_what_is_said_between_figures_keeps_them_apart(said: str) -> None:
    spans = Normalizer.for_locale("en-US").normalize(said, digits=True)
    assert len(spans) == 2
