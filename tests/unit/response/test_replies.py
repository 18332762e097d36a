"""Every reply that code can give exists, in every language, with the same parameters, and reads well."""

import re
from datetime import date
from pathlib import Path

import pytest

from rules.load import locales
from schemas.decision import Reply
from schemas.errors import RulesInvalid, TellerlineError
from schemas.ids import EN_GB, EN_US, JA_JP, Locale, RuleId, language
from schemas.money import Money
from services.response import speak, template_params

LANGUAGES = sorted({language(locale) for locale in locales()})
SERVICES = Path(__file__).parents[3] / "services"


def reply(id_: str, **params: object) -> Reply:
    return Reply(RuleId(id_), params)


def spoken_of_errors() -> set[str]:
    found, rest = set(), [TellerlineError]
    while rest:
        error = rest.pop()
        found.add(error.spoken)
        rest.extend(error.__subclasses__())
    return found


def used_in_code() -> dict[str, set[frozenset[str]]]:
    """Ids and parameter names of each literal `reply("id", name=...)` in services."""
    calls: dict[str, set[frozenset[str]]] = {}
    for path in SERVICES.glob("dialogue/*.py"):
        for id_, params in re.findall(
            r'\breply\(\s*"([a-z_0-9.]+)"((?:[^()]|\([^()]*(?:\([^()]*\)[^()]*)*\))*)\)', path.read_text()
        ):
            calls.setdefault(id_, set()).add(
                frozenset(re.findall(r"\b([a-z0-9_]+)=(?!=)", re.sub(r"\([^()]*\)", "", params)))
            )
    return calls


def test_languages_have_the_same_replies_with_the_same_parameters() -> None:
    first, *others = [template_params(lang) for lang in LANGUAGES]
    for other in others:
        assert other == first


def test_every_error_can_be_said() -> None:
    for lang in LANGUAGES:
        assert spoken_of_errors() <= template_params(lang).keys()


def test_every_reply_in_code_exists_with_its_parameters() -> None:
    params = template_params("en")
    calls = used_in_code()
    assert len(calls) > 60
    for id_, given in calls.items():
        assert id_ in params, id_
        for names in given:
            assert names == params[id_], id_


@pytest.mark.parametrize(
    ("money", "locale", "said"),
    [
        (Money(5000, "USD"), EN_US, "50 dollars"),
        (Money(100, "USD"), EN_US, "1 dollar"),
        (Money(125005, "USD"), EN_US, "1,250 dollars and 5 cents"),
        (Money(1, "GBP"), EN_GB, "1 penny"),
        (Money(50, "EUR"), EN_GB, "50 cents"),
        (Money(5000, "JPY"), JA_JP, "5,000円"),
        (Money(-5000, "JPY"), JA_JP, "マイナス5,000円"),
        (Money(1250, "KWD"), EN_US, "1.250 KWD"),
    ],
)
def test_amounts_are_unambiguous(money: Money, locale: Locale, said: str) -> None:
    assert said in speak(reply("part.account_balance", account="x", amount=money), locale)


def test_days_name_weekday_and_year() -> None:
    day = date(2026, 11, 27)
    assert speak(reply("when.on", date=day), EN_US) == "on Friday, November 27, 2026"
    assert speak(reply("when.on", date=day), EN_GB) == "on Friday, 27 November 2026"
    assert speak(reply("when.on", date=day), JA_JP) == "2026年11月27日金曜日に"


def test_lists_are_in_words_and_digits_apart() -> None:
    cards = tuple(reply("name.card", name=n, last4=d) for n, d in (("Debit", "1234"), ("Credit", "99995678")))
    assert speak(reply("ask.card_lock", cards=cards), EN_US) == (
        "Which card should I lock: Debit ending in 1 2 3 4 or Credit ending in 5 6 7 8?"
    )
    assert speak(reply("payees.found", payees=("A", "B", "C")), EN_US) == "In your list there is A, B and C."


def test_unknown_ids_and_missing_parameters_are_errors() -> None:
    with pytest.raises(RulesInvalid):
        speak(reply("no.such"), EN_US)
    with pytest.raises(RulesInvalid):
        speak(reply("ask.payee_unknown"), EN_US)


def test_long_words_of_the_caller_are_cut() -> None:
    assert len(speak(reply("payees.not_found", heard="x" * 5000), EN_US)) < 200
