"""What holds for any text at all."""

import time
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deploy.bench.normalize import ADVERSARIAL
from schemas.money import EXPONENTS
from schemas.span import MoneyValue, Span, SpanKind, jsonable
from services.normalization import Normalizer
from services.normalization.engine import MAX_CHARS

LOCALES = ("en-US", "en-GB", "ja-JP")
NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
PIECES = st.sampled_from(
    [
        "one",
        "two",
        "five",
        "ten",
        "twenty",
        "hundred",
        "thousand",
        "million",
        "grand",
        "k",
        "and",
        "a",
        "half",
        "point",
        "oh",
        "double",
        "dollars",
        "$",
        "£",
        "¥",
        "cents",
        "%",
        "-",
        ".",
        ",",
        ":",
        "/",
        "next",
        "last",
        "friday",
        "march",
        "the",
        "of",
        "fifteenth",
        "at",
        "am",
        "past",
        "to",
        "3",
        "12",
        "2026",
        "0.5",
        "1,000",
        "五",
        "千",
        "万",
        "円",
        "月",
        "日",
        "時",
        "半",
        "第",
        "数",
        "から",
        "来月",
        "毎",
        "年度",
        "末",
        "後",
        "every",
        "hour",
        "in",
        "tenner",
        "postcode",
        "sw1a",
        "ごせん",
        "えん",
        "さん",
        "に",
        "ﾄﾞﾙ",
        "５",
        "㌦",
        "½",
        "㍻",
        "\x00",
        "��",
        "İ",
        "ß",
        "ｶﾞ",
    ]
)
TEXTS = st.one_of(
    st.text(max_size=80), st.lists(PIECES, max_size=30).map(" ".join), st.lists(PIECES, max_size=30).map("".join)
)


@pytest.mark.parametrize("locale", LOCALES)
@settings(max_examples=150, deadline=None, derandomize=True)
@given(text=TEXTS)
def test_any_text(locale: str, text: str) -> None:
    normalizer = Normalizer.for_locale(locale)
    spans = normalizer.normalize(text, now=NOW)
    assert spans == normalizer.normalize(text, now=NOW)
    end = 0
    for span in spans:
        assert text[span.start : span.end] == span.surface
        assert end <= span.start < span.end
        assert "@" in span.rule
        assert span.readings == () or span.ambiguity is not None
        jsonable(span.value)
        end = span.end


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("now", [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, tzinfo=UTC)])
@settings(max_examples=100, deadline=None, derandomize=True)
@given(text=TEXTS)
def test_any_moment(locale: str, now: datetime, text: str) -> None:
    Normalizer.for_locale(locale).normalize(text, now=now)


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("text", ["\ud800 five", "\udfff五千円", "\x00", "5" * 3_999, "五" * 3_999, "/" * 3_999])
def test_broken_text(locale: str, text: str) -> None:
    for span in Normalizer.for_locale(locale).normalize(text, now=NOW):
        assert text[span.start : span.end] == span.surface


@pytest.mark.parametrize("locale", LOCALES)
@settings(max_examples=100, deadline=None, derandomize=True)
@given(text=TEXTS)
def test_what_was_found_written_plainly_is_found_again(locale: str, text: str) -> None:
    normalizer = Normalizer.for_locale(locale)
    for span in normalizer.normalize(text, now=NOW):
        plain = _plainly(span)
        if plain is not None:
            again = normalizer.normalize(plain, now=NOW)
            assert [s.value for s in again] == [span.value], plain


def _plainly(span: Span) -> str | None:
    match span.value:
        case MoneyValue(amount_minor=minor, currency=code) if code in {"USD", "GBP", "EUR", "JPY"} and code is not None:
            return f"{code} {Decimal(minor).scaleb(-EXPONENTS[code]):f}" if minor >= 0 else None
        case str(value) if span.kind is SpanKind.NUMBER:
            return value
        case _:
            return None


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("piece", ADVERSARIAL)
def test_time_is_linear(locale: str, piece: str) -> None:
    normalizer = Normalizer.for_locale(locale)

    def seconds(size: int) -> float:
        text = (piece * size)[:size]
        times = []
        for _ in range(3):
            start = time.process_time()
            normalizer.normalize(text, now=NOW)
            times.append(time.process_time() - start)
        return min(times)

    assert seconds(MAX_CHARS) < 12 * seconds(MAX_CHARS // 4) + 0.02


def test_only_the_head_of_an_endless_text_is_read() -> None:
    text = "x " * MAX_CHARS + "five dollars"
    assert Normalizer.for_locale("en-US").normalize(text) == ()
