"""Every currency that the rules know, in every form that people say: read rightly, or asked about."""

import random  # noqa: TID251 - seeded here
from typing import Final

import pytest

from schemas.span import Ambiguity, MoneyValue, SpanKind
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


@pytest.mark.parametrize("unseen", "\u00ad\u200b\u200c\u200d\u2060\ufeff")
def test_an_amount_goes_on_over_what_nobody_sees(unseen: str) -> None:
    for locale, text, value in (
        ("en-US", "send 1{}50 dollars", MoneyValue(15_000, "USD")),
        ("en-GB", "send fif{}ty pounds", MoneyValue(5_000, "GBP")),
        ("ja-JP", "1万{}5,000円送って", MoneyValue(15_000, "JPY")),
    ):
        said = text.format(unseen)
        (span,) = Normalizer.for_locale(locale).normalize(said)
        assert (span.value, said[span.start : span.end]) == (value, span.surface)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("locale", ["en-US", "en-GB", "ja-JP"])
def test_no_amount_is_silently_wrong_of_a_hundred_thousand(locale: str) -> None:
    silently, right = hear(locale, 40_000)
    assert silently == []
    assert right >= 0.97 * 40_000
