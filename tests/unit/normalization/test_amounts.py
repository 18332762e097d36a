"""Every currency that the rules know, in every form that people say: read rightly, or asked about."""

import random  # noqa: TID251 - seeded here
from typing import Final

import pytest

from schemas.span import SUMS, Ambiguity, MoneyValue, SpanKind
from services.normalization import Normalizer
from tests.unit.normalization.amounts import Amount, said, shown

SEED: Final = 20_261_118
_OPEN: Final = frozenset(Ambiguity) - {Ambiguity.CURRENCY}


def wrong(locale: str, amount: Amount) -> bool:
    """Whether some other amount, or another currency, is read with nothing to ask about."""
    spans = Normalizer.for_locale(locale).normalize(amount.text, currencies=(amount.code,))
    told = [s.value for s in spans if s.kind is SpanKind.MONEY and s.ambiguity not in _OPEN]
    return any(value != MoneyValue(amount.minor, amount.code) for value in told)


def read(locale: str, amount: Amount) -> bool:
    spans = Normalizer.for_locale(locale).normalize(amount.text, currencies=(amount.code,))
    return any(MoneyValue(amount.minor, amount.code) in s.values for s in spans if s.kind is SpanKind.MONEY)


def hear(locale: str, count: int) -> tuple[list[str], int]:
    chance = random.Random(SEED)
    language = locale.partition("-")[0]
    amounts = [said(language, chance) for _ in range(count)]
    return [f"{a.text} = {shown(a)}" for a in amounts if wrong(locale, a)], sum(read(locale, a) for a in amounts)


@pytest.mark.parametrize("locale", ["en-US", "en-GB", "ja-JP"])
def test_no_amount_is_silently_wrong(locale: str) -> None:
    silently, right = hear(locale, 2_000)
    assert silently == []
    assert right >= 0.97 * 2_000


@pytest.mark.parametrize(
    ("text", "minor", "asked"),
    [
        ("残高は221万、5279円です", 2_215_279, False),
        ("8万,4524円", 84_524, False),
        ("951万、3,358円を送って", 9_513_358, False),
        ("15万、631円", 150_631, True),
        ("5万、4524個で300円", 300, False),
        ("3万、2万円", 20_000, False),
        ("1万、20000円", 20_000, False),
    ],
)
def test_a_breath_behind_ten_thousands_ends_no_amount(text: str, minor: int, asked: bool) -> None:
    (span,) = (s for s in Normalizer.for_locale("ja-JP").normalize(text) if s.kind is SpanKind.MONEY)
    assert (span.value, span.ambiguity in _OPEN) == (MoneyValue(minor, "JPY"), asked)


@pytest.mark.parametrize(
    "unseen",
    "\u00ad\u034f\u061c\u115f\u17b4\u180b\u180e\u200b\u200c\u200d\u200e\u200f\u2060\u2063\u206a\u3164\ufe00\ufe0f\ufeff\uffa0"
    "\ufff0\U0001bca0\U0001d173\U000e0001\U000e0030\U000e0100\U000e0fff",
)
def test_an_amount_goes_on_over_what_nobody_sees(unseen: str) -> None:
    for locale, text, value in (
        ("en-US", "send 1{}50 dollars", MoneyValue(15_000, "USD")),
        ("en-GB", "send fif{}ty pounds", MoneyValue(5_000, "GBP")),
        ("ja-JP", "1万{}5,000円送って", MoneyValue(15_000, "JPY")),
    ):
        said = text.format(unseen)
        (span,) = Normalizer.for_locale(locale).normalize(said)
        assert (span.value, said[span.start : span.end]) == (value, span.surface)


@pytest.mark.parametrize(
    ("locale", "text"),
    [
        *(("en-US", each) for each in ("$5⁵⁰", "$5²", "$5₀", "$50¹", "$5%", "$5‰", "$5①", "$5Ⅳ", "$5一", "$5⃣0", "$5̶0")),
        *(
            ("en-US", each)
            for each in ("$1'000", "$1’000", "$1_000", "$1·000", "$1`000", "1'000 dollars", "²5 dollars")
        ),
        *(("en-US", each) for each in ("5⁵⁰ dollars", "5¹ dollars", "$5\u202e05", "$5\u20670", "send 5²")),
        *(("ja-JP", each) for each in ("1’000円", "5⁵⁰円", "¥5²", "5%円", "①5000円", "5·000円", "5000円²")),
    ],
)
def test_what_touches_an_amount_and_was_not_read_leaves_it_open(locale: str, text: str) -> None:
    """No figures beside a sum are dropped, and no part of it is the sum."""
    assert not [s for s in Normalizer.for_locale(locale).normalize(text) if s.kind in SUMS]


@pytest.mark.parametrize("text", ["$1.000", "1.000 dollars", "1.000", "$12.500", "1.250 dollars"])
def test_a_point_before_three_digits_may_group_them(text: str) -> None:
    (span,) = (s for s in Normalizer.for_locale("en-US").normalize(text) if s.kind in SUMS)
    first, second = (each.amount_minor if isinstance(each, MoneyValue) else float(str(each)) for each in span.values)
    assert (span.ambiguity, second) == (Ambiguity.GROUPING, first * 1000)


@pytest.mark.parametrize(
    ("text", "minor"),
    [("$5½", 550), ("$5!", 500), ("$50,", 5000), ("$20's", 2000), ("$0.500", 50), ("$1.25", 125), ("$5k", 500_000)],
)
def test_marks_that_are_no_figures_leave_an_amount_alone(text: str, minor: int) -> None:
    (span,) = (s for s in Normalizer.for_locale("en-US").normalize(text) if s.kind is SpanKind.MONEY)
    assert (span.value, span.ambiguity) == (MoneyValue(minor, "USD"), None)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("locale", ["en-US", "en-GB", "ja-JP"])
def test_no_amount_is_silently_wrong_of_a_hundred_thousand(locale: str) -> None:
    silently, right = hear(locale, 40_000)
    assert silently == []
    assert right >= 0.97 * 40_000
