"""What the caller's accounts decide, and what amounts never do."""

import pytest

from rules.load import load
from schemas.errors import UnsupportedLocale
from schemas.money import EXPONENTS
from schemas.span import Ambiguity, DateValue, MoneyValue, SpanKind, TimeValue, jsonable
from services.normalization import Normalizer
from services.normalization.vocabulary import Language, Vocabulary


def amount(locale: str, text: str, *currencies: str) -> tuple[MoneyValue, Ambiguity | None, list[MoneyValue]]:
    (span,) = Normalizer.for_locale(locale).normalize(text, currencies=currencies)
    assert span.kind is SpanKind.MONEY
    assert isinstance(span.value, MoneyValue)
    return span.value, span.ambiguity, [r.value for r in span.readings if isinstance(r.value, MoneyValue)]


@pytest.mark.parametrize(
    ("locale", "text", "held", "currency"),
    [
        ("en-US", "fifty dollars", (), "USD"),
        ("en-US", "fifty dollars", ("CAD",), "CAD"),
        ("en-US", "fifty dollars", ("EUR",), "USD"),
        ("en-GB", "fifty dollars", ("GBP",), "USD"),
        ("en-GB", "fifty pounds", ("USD", "GBP"), "GBP"),
        ("en-US", "$50", ("AUD", "JPY"), "AUD"),
        ("en-US", "fifty us dollars", ("CAD",), "USD"),
        ("ja-JP", "五十ドル", ("USD", "JPY"), "USD"),
        ("en-US", "¥50", ("CNY",), "CNY"),
        ("en-US", "¥50", (), "JPY"),
    ],
)
def test_shared_word(locale: str, text: str, held: tuple[str, ...], currency: str) -> None:
    value, ambiguity, _ = amount(locale, text, *held)
    assert value == MoneyValue(50 * 10 ** EXPONENTS[currency], currency)
    assert ambiguity is None


def test_two_accounts_that_share_a_word_are_asked_about() -> None:
    value, ambiguity, readings = amount("en-US", "fifty dollars", "CAD", "USD")
    assert value == MoneyValue(5000, "USD")
    assert ambiguity is Ambiguity.CURRENCY
    assert readings == [MoneyValue(5000, "CAD")]


def test_no_currency_is_null_in_minor_units_of_the_locale() -> None:
    assert amount("en-US", "two and a half grand", "GBP")[0] == MoneyValue(250_000, None)


@pytest.mark.parametrize("text", ["4.005 dollars", "1.5 yen", "ten quadrillion dollars", "99999999999999999 dollars"])
def test_an_amount_that_no_account_can_hold_is_no_amount(text: str) -> None:
    assert [s for s in Normalizer.for_locale("en-US").normalize(text) if s.kind is SpanKind.MONEY] == []


def test_every_currency_of_the_rules_has_an_exponent() -> None:
    for language in (Language("en", spaced=True), Language("ja", spaced=False)):
        for surface, word in language.lexicon.words.items():
            if word.currency is not None:
                assert set(word.currency.codes) <= set(EXPONENTS), surface


def test_unknown_locale() -> None:
    with pytest.raises(UnsupportedLocale):
        Normalizer.for_locale("xx-XX")


def test_values_as_json() -> None:
    from datetime import date

    assert jsonable(MoneyValue(5000, None)) == {"amount_minor": 5000, "currency": None}
    assert jsonable(DateValue.day(date(2026, 3, 4))) == "2026-03-04"
    assert jsonable(DateValue(date(2026, 3, 1), date(2026, 3, 31))) == {"start": "2026-03-01", "end": "2026-03-31"}
    assert jsonable(TimeValue.at("09:30")) == "09:30"
    assert jsonable(TimeValue("06:00", "12:00")) == {"start": "06:00", "end": "12:00"}
    assert jsonable("007") == "007"


@pytest.mark.parametrize("language", ["en", "ja"])
def test_every_currency_has_a_word_so_that_it_is_not_taken_for_the_usual_one(language: str) -> None:
    known = load(f"normalize/{language}/money.yaml", Vocabulary).currency.values()
    assert {code for unit in known for code in unit.codes} == set(EXPONENTS)
    if language == "en":
        assert amount("en-US", "five hundred fils", "KWD")[0] == MoneyValue(500, "KWD")
        assert amount("en-US", "fifty kroner", "USD")[0].currency == "NOK"
