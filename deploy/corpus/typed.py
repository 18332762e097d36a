"""Typed calls of labelled sentences: answers, what must never move money, weekdays, questions, bounds of the rules.

Few people were recorded saying no. What decides whether money moves is words, so the words are replayed as typed.
"""

import calendar
import csv
import sys
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final

import orjson
import yaml

from deploy.bench._lines import unpacked
from deploy.bench.cases.negatives import negatives, sentences

DATA: Final = Path(__file__).parents[2] / "tests" / "data"
BOOKED: Final = "book"
_ORDERS: Final = {
    "en": ("en-US", "alex-morgan", "send fifty dollars to Emily Morgan", "emily-morgan", 5_000, "USD"),
    "ja": ("ja-JP", "takahashi-misaki", "サトウハナコに五千円送って", "sato-hanako", 5_000, "JPY"),
}
_THURSDAY: Final = date(2026, 1, 15)
_WEEKDAYS: Final = {
    "en": [f"{{order}} on {day.lower()}" for day in calendar.day_name],
    "ja": [f"{day}曜に{{order}}" for day in "月火水木金土日"],
}
_ASKED: Final = {
    "en": ("is it possible to {order}", "how long does it take to {order}", "do i have to pay a fee to {order}"),
    "ja": ("{order}もらうのに手数料はかかりますか", "{order}もらうことはできますか"),
}
_LOCALES: Final = {"alex-morgan": "en-US", "imogen-hartley": "en-GB", "takahashi-misaki": "ja-JP"}
_NO_READ_BACK: Final = ["execute", "clarify", "answer", "refuse", "handoff"]


def typed_cases(each: int = 1) -> Iterator[dict[str, Any]]:
    """Labelled answers to a transfer (of the yeses one in four) as calls of two turns, and `each` of every negative."""
    for language in _ORDERS:
        yield from _answers(language)
        yield from _negatives(language, each)
        yield from _days(language)
        yield from _questions(language)
    yield from _bounds()


def _answers(language: str) -> Iterator[dict[str, Any]]:
    locale, customer, order, payee, minor, currency = _ORDERS[language]
    amount = {"amount_minor": minor, "currency": currency}
    asked = {"text": order, "expect": {"decision": "confirm", "slots": {"amount": amount, "payee": payee}, "money": []}}
    lines = unpacked(DATA / "consent" / f"{language}.tsv.xz").decode().splitlines()
    rows = [row for row in csv.reader(lines, dialect="excel-tab") if row and row[0] == "transfer"]
    yeses = [row for row in rows if row[1] == BOOKED]
    rows = [*yeses[::4], *(row for row in rows if row[1] != BOOKED)]
    for number, (_, outcome, words) in enumerate(rows, 1):
        booked = [amount | {"payee": payee}] if outcome == BOOKED else []
        answered = {"text": words, "expect": {"money": booked}}
        yield _case(f"{locale}/answer {number:03}", locale, customer, f"answer: {outcome}", [asked, answered])


def _negatives(language: str, each: int) -> Iterator[dict[str, Any]]:
    locale, customer = _ORDERS[language][:2]
    file = negatives(DATA / "never" / f"{language}.yaml")
    for number, (kind, sentence) in enumerate(sentences(file, each), 1):
        said = {"text": sentence, "expect": {"decision": _NO_READ_BACK, "money": []}}
        yield _case(f"{locale}/never {number:03}", locale, customer, f"never: {kind}", [said])


def _days(language: str) -> Iterator[dict[str, Any]]:
    """An order for every other day of the week, as said on a Thursday."""
    locale, customer, order, payee, minor, currency = _ORDERS[language]
    for number, said in enumerate(_WEEKDAYS[language]):
        day = _THURSDAY + timedelta(days=(number - _THURSDAY.weekday()) % 7)
        if day == _THURSDAY:  # today, or in a week
            continue
        slots = {"amount": {"amount_minor": minor, "currency": currency}, "payee": payee, "date": day.isoformat()}
        text = said.format(order=order)
        asked = {"text": text, "expect": {"decision": "confirm", "slots": slots, "money": []}}
        case = _case(f"{locale}/day {number}", locale, customer, "day of the week", [asked])
        yield case | {"now": f"{_THURSDAY.isoformat()}T17:00:00Z"}


def _questions(language: str) -> Iterator[dict[str, Any]]:
    """Whole orders that are but asked about."""
    locale, customer, order = _ORDERS[language][:3]
    for number, said in enumerate(_ASKED[language], 1):
        turn = {"text": said.format(order=order), "expect": {"decision": _NO_READ_BACK, "money": []}}
        yield _case(f"{locale}/asked {number}", locale, customer, "an order asked about", [turn])


def _bounds() -> Iterator[dict[str, Any]]:
    """Orders at the bounds of the bank's rules, of tests/data/corpus/bounds.yaml."""
    happens: dict[str, dict[str, Any]] = {
        "confirm": {"decision": "confirm", "money": []},
        "no read-back": {"decision": _NO_READ_BACK, "money": []},
        "not booked": {"money": []},
        "any": {},
    }
    callers = yaml.load((DATA / "corpus" / "bounds.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
    for customer, calls in callers.items():
        for number, (name, turns) in enumerate(calls.items(), 1):
            said = [(str(words), wanted) for turn in turns for words, wanted in turn.items()]
            played = [
                {"text": words, "expect": happens[wanted] if isinstance(wanted, str) else _booked(*wanted)}
                for words, wanted in said
            ]
            locale = _LOCALES[customer]
            yield _case(f"{locale}/bound {number:02}", locale, customer, f"bound: {name}", played)


def _booked(minor: int, currency: str, whom: str, name: str) -> dict[str, Any]:
    return {"money": [{"amount_minor": minor, "currency": currency, whom: name}]}


def _main() -> None:
    for case in typed_cases():
        sys.stdout.buffer.write(orjson.dumps(case) + b"\n")


def _case(name: str, locale: str, customer: str, group: str, turns: list[dict[str, Any]]) -> dict[str, Any]:
    tags = {"kind": "typed", "group": group}
    return {"id": name, "locale": locale, "customer": customer, "tags": tags, "turns": turns}


if __name__ == "__main__":
    _main()
