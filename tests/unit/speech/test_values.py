"""What is spoken, read back by our own normalization, is the value that was written: amounts, dates, times, digits."""

import re
from datetime import date, timedelta
from itertools import islice
from random import Random  # noqa: TID251 - seeded

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from schemas.ids import Locale
from schemas.money import EXPONENTS, Money
from schemas.span import DateValue, MoneyValue, SpanKind, TimeValue
from services.normalization import Normalizer
from services.response.phrases import PhraseBook
from services.response.phrases import money as phrased
from services.speech import numbers_ja
from services.speech.rules import english, japanese
from services.speech.text import spoken

EN_US, EN_GB, JA = Locale("en-US"), Locale("en-GB"), Locale("ja-JP")
AMOUNTS_OF_EACH = 950
"""Of 38 currencies in three locales: over 10⁵ amounts."""
EVERY = pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.slow)])
DAYS_JA = {
    "ツイタチ": 1, "フツカ": 2, "ミッカ": 3, "ヨッカ": 4, "イツカ": 5, "ムイカ": 6, "ナノカ": 7, "ハチニチ": 8,
    "ココノカ": 9, "トオカ": 10, "ジュウヨッカ": 14, "ニジュウニチ": 20, "ニジュウヨッカ": 24,
}  # fmt: skip
MONTHS_JA = {"シガツ": 4, "シチガツ": 7, "クガツ": 9}


def amounts(seed: str) -> list[Money]:
    """Of every size, and round ones, of every currency."""
    draw = Random(seed)
    drawn = []
    for currency in EXPONENTS:
        for _ in range(AMOUNTS_OF_EACH):
            minor = draw.randrange(1, 10 ** draw.randrange(1, 13))
            round_to = 10 ** draw.choice((0, 0, 0, 2, 3, 5))
            drawn.append(Money(max(1, minor // round_to) * round_to, currency))
    return drawn


def numbers(words: str, locale: Locale) -> list[int]:
    """Whole numbers in words, as normalization reads them."""
    spans = Normalizer.for_locale(locale).normalize(words)
    return [int(span.value) for span in spans if span.kind is SpanKind.NUMBER]


def back_en(words: str, locale: Locale, money: Money) -> object:
    """The amount that the words name, in a currency that normalization knows or in one that only its name tells."""
    spans = Normalizer.for_locale(locale).normalize(words, currencies=(money.currency,))
    if len(spans) == 1 and isinstance(spans[0].value, MoneyValue):
        return spans[0].value
    one, many, minor_one, minor_many = english().currencies[money.currency]
    found = re.fullmatch(rf"(.+?) (?:{one}|{many})(?: and (?:oh )?(.+?) (?:{minor_one}|{minor_many}))?", words)
    assert found, words
    major, minor = (sum(numbers(part, locale)) if part else 0 for part in found.groups())
    return MoneyValue(major * 10 ** EXPONENTS[money.currency] + minor, money.currency)


def kana_number(words: str) -> int:
    """A number in kana without its breaths and pauses, by normalization: it reads them as amounts of yen."""
    if words == "ゼロ":
        return 0
    spans = Normalizer.for_locale(JA).normalize(re.sub("[ 、]", "", words) + "エン")
    [value] = [span.value for span in spans]
    assert isinstance(value, MoneyValue)
    return value.amount_minor


def back_ja(words: str, money: Money) -> object:
    unit, subunit = (spoken(part, JA) for part in japanese().currencies[money.currency])
    unit = "エン" if money.currency == "JPY" else unit
    digits = EXPONENTS[money.currency]
    major, _, minor = words.partition(unit)
    if japanese().point in major:  # a unit without a part that could be heard: decimals
        whole, _, fraction = major.strip().partition(japanese().point)
        whole = "ゼロ" if whole == japanese().zero_point else whole
        figures = re.findall("|".join(filter(None, (japanese().zero, *japanese().ones))), fraction)
        read = "".join(str(max(japanese().ones.index(f) if f in japanese().ones else 0, 0)) for f in figures)
        return MoneyValue(kana_number(whole) * 10**digits + int(read.ljust(digits, "0")), money.currency)
    part = kana_number(minor.strip().removesuffix(subunit)) if minor else 0
    return MoneyValue(kana_number(major.strip()) * 10**digits + part, money.currency)


@pytest.mark.parametrize("locale", [EN_US, EN_GB])
@EVERY
def test_amounts_of_every_currency_are_what_the_english_words_say(locale: Locale, every: int) -> None:
    for money in islice(amounts(locale), 0, None, every):
        words = spoken(str(money), locale)
        assert not any(map(str.isdigit, words)), words
        assert back_en(words, locale, money) == MoneyValue(money.minor, money.currency), words


@EVERY
def test_amounts_of_every_currency_are_what_the_japanese_words_say(every: int) -> None:
    for money in islice(amounts(JA), 0, None, every):
        words = spoken(str(money), JA)
        assert not any(map(str.isdigit, words)), words
        assert back_ja(words, money) == MoneyValue(money.minor, money.currency), words


@given(st.integers(1, 10**11), st.sampled_from(["USD", "GBP", "EUR", "JPY", "CAD", "AUD", "CHF"]), st.booleans())
def test_amounts_as_our_replies_write_them(minor: int, currency: str, negative: bool) -> None:
    for locale in (EN_US, EN_GB):
        money = Money(-minor if negative else minor, currency)
        words = spoken(phrased(money, PhraseBook.for_locale(locale)._forms), locale)
        [span] = Normalizer.for_locale(locale).normalize(words, currencies=(currency,))
        assert isinstance(span.value, MoneyValue)
        assert span.value.amount_minor == money.minor
    words = spoken(phrased(Money(minor, "JPY"), PhraseBook.for_locale(JA)._forms), JA)
    assert back_ja(words, Money(minor, "JPY")) == MoneyValue(minor, "JPY")


@pytest.mark.parametrize("locale", [EN_US, EN_GB])
def test_every_day_of_forty_years_in_english(locale: Locale) -> None:
    normalizer, forms = Normalizer.for_locale(locale), PhraseBook.for_locale(locale)._forms
    for offset in range(0, 40 * 365, 3):
        day = date(1995, 1, 1) + timedelta(days=offset)
        written = forms.date.format(
            weekday=forms.weekdays[day.weekday()], month=forms.months[day.month - 1], day=day.day, year=day.year
        )
        for text in (written, day.isoformat()):
            words = spoken(text, locale)
            assert not any(map(str.isdigit, words)), words
            assert [span.value for span in normalizer.normalize(words)] == [DateValue.day(day)], words


def test_every_day_of_forty_years_in_japanese() -> None:
    forms = PhraseBook.for_locale(JA)._forms
    for offset in range(0, 40 * 365, 3):
        day = date(1995, 1, 1) + timedelta(days=offset)
        weekday = forms.weekdays[day.weekday()]
        text = forms.date.format(weekday=weekday, month=forms.months[day.month - 1], day=day.day, year=day.year)
        words = re.split("[ 、]", spoken(text, JA))
        *year, month, of_month, of_week = words
        assert kana_number("".join(year).removesuffix("ネン").replace("ジュウヨ", "ジュウヨン")) == day.year, words
        assert (MONTHS_JA.get(month) or kana_number(month.removesuffix("ガツ"))) == day.month, words
        number = of_month.removesuffix("ニチ").replace("シチ", "ナナ").replace("ジュウク", "ジュウキュウ")
        assert (DAYS_JA.get(of_month) or kana_number(number)) == day.day, words
        assert japanese().weekdays[weekday] == of_week


@given(st.text("0123456789", min_size=3, max_size=12))
def test_digits_are_said_one_by_one(string: str) -> None:
    [span] = Normalizer.for_locale(EN_US).normalize(spoken(" ".join(string), EN_US), digits=True)
    assert (span.kind, span.value) == (SpanKind.DIGITS, string)
    kana = spoken(" ".join(string), JA).split(japanese().breath)
    assert "".join(str(japanese().digits.index(word)) for word in kana) == string


@given(st.integers(0, 23), st.integers(0, 59))
@example(19, 11)
def test_every_minute_of_a_day(hour: int, minute: int) -> None:
    words = spoken(f"{hour}:{minute:02d}", EN_GB)
    assert [s.value for s in Normalizer.for_locale(EN_GB).normalize(words)] == [
        TimeValue.at(f"{hour:02d}:{minute:02d}")
    ]
    japanese_words = spoken(f"{hour}時{minute:02d}分", JA)
    assert japanese_words.split()[0] == japanese().hours[hour]


@given(st.decimals(0, 1000, places=2))
def test_percentages(number: object) -> None:
    written = f"{number:f}".rstrip("0").rstrip(".")
    [span] = Normalizer.for_locale(EN_US).normalize(spoken(f"{written}%", EN_US))
    assert (span.kind, span.value) == (SpanKind.PERCENT, written)


@given(st.integers(1, 10**12 - 1))
def test_every_number_in_kana_is_one_number(number: int) -> None:
    assert kana_number(numbers_ja.cardinal(number)) == number


def test_no_two_currencies_have_one_name() -> None:
    for names in ([pair[1] for pair in english().currencies.values()], [p[0] for p in japanese().currencies.values()]):
        assert len(set(names)) == len(names) == len(EXPONENTS)
