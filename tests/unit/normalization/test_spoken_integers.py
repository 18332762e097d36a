"""Every integer, spoken in every supported style, comes back."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.span import Ambiguity, MoneyValue, Span, SpanKind
from services.normalization import Normalizer
from tests.unit.normalization.speaker import ENGLISH, JAPANESE

INTEGERS = st.one_of(st.integers(0, 10**9), st.integers(0, 10_000), st.sampled_from([10**k for k in range(10)]))


def found_in(locale: str, text: str) -> Span:
    spans = Normalizer.for_locale(locale).normalize(text)
    assert len(spans) == 1, f"{text!r} gave {[(s.surface, s.value) for s in spans]}"
    assert (spans[0].start, spans[0].end) == (0, len(text)), f"{text!r} gave {spans[0].surface!r}"
    return spans[0]


def assert_number(locale: str, text: str, n: int) -> None:
    span = found_in(locale, text)
    assert span.kind in {SpanKind.NUMBER, SpanKind.DIGITS}
    assert isinstance(span.value, str)
    assert Decimal(span.value) == n


def assert_amount(locale: str, text: str, minor: int, currency: str) -> None:
    span = found_in(locale, text)
    assert span.value == MoneyValue(minor, currency), text
    assert span.ambiguity is None or (span.ambiguity is Ambiguity.RANGE and locale == "ja-JP"), text


@pytest.mark.parametrize("style", ENGLISH)
@settings(max_examples=50, deadline=None, derandomize=True)
@given(n=INTEGERS)
def test_english_number(style: str, n: int) -> None:
    text = ENGLISH[style](n)
    if text is not None:
        assert_number("en-US", text, n)


@pytest.mark.parametrize("style", ENGLISH)
@settings(max_examples=50, deadline=None, derandomize=True)
@given(n=INTEGERS)
def test_english_amount(style: str, n: int) -> None:
    text = ENGLISH[style](n)
    if text is not None:
        assert_amount("en-GB", f"{text} pounds", 100 * n, "GBP")


@settings(max_examples=50, deadline=None, derandomize=True)
@given(n=INTEGERS, cents=st.integers(1, 99))
def test_dollars_and_cents(n: int, cents: int) -> None:
    say = ENGLISH["american"]
    assert_amount("en-US", f"{say(n)} dollars and {say(cents)} cents", 100 * n + cents, "USD")
    assert_amount("en-US", f"${n:,}.{cents:02d}", 100 * n + cents, "USD")


@pytest.mark.parametrize("style", JAPANESE)
@settings(max_examples=50, deadline=None, derandomize=True)
@given(n=INTEGERS)
def test_japanese_amount(style: str, n: int) -> None:
    text = JAPANESE[style](n)
    if text is not None and not _two_or_three(style, n):
        assert_amount("ja-JP", text + "円", n, "JPY")


@pytest.mark.parametrize("style", [style for style in JAPANESE if style != "kana"])
@settings(max_examples=50, deadline=None, derandomize=True)
@given(n=INTEGERS)
def test_japanese_number(style: str, n: int) -> None:
    text = JAPANESE[style](n)
    if text is not None:
        assert_number("ja-JP", text, n)


def _two_or_three(style: str, n: int) -> bool:
    """Two digits in a row, one apart, may mean a range: those are asked about, see the rule tests."""
    return style == "positional" and len(str(n)) == 2 and str(n)[1] == str(int(str(n)[0]) + 1)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("style", ENGLISH)
def test_every_english_integer_to_100_000(style: str) -> None:
    for n in range(100_001):
        text = ENGLISH[style](n)
        if text is not None:
            assert_number("en-US", text, n)
            assert_amount("en-US", f"{text} dollars", 100 * n, "USD")


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("style", JAPANESE)
def test_every_japanese_integer_to_100_000(style: str) -> None:
    for n in range(100_001):
        text = JAPANESE[style](n)
        if text is not None and not _two_or_three(style, n):
            assert_amount("ja-JP", text + "円", n, "JPY")
