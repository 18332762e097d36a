"""Amounts as they are told: what a number comes to in the caller's currency, and whether it is one of money at all."""

from typing import Final

from rules.locales import locale_rules
from schemas.intent import Annotation
from schemas.span import DATED, MoneyValue, Span, SpanKind, amount_readings
from services.understanding.correction.said import Said

PAUSES: Final = frozenset({"、", "，", "…", "……"})


def unit(heard: Annotation) -> int:
    """One of the currency that is meant where none is named, in its smallest part."""
    return int(10 ** locale_rules(heard.transcript.locale).digits)


def comes_to(span: Span, heard: Annotation) -> tuple[MoneyValue, ...]:
    """Every amount that a span may stand for."""
    return amount_readings(span, locale_rules(heard.transcript.locale).digits)


def sizes(heard: Annotation, one: Span, two: Span) -> list[tuple[int, int]]:
    """What two spans come to in their first readings; nothing where one of them is no amount."""
    return [(a.amount_minor, b.amount_minor) for a in comes_to(one, heard)[:1] for b in comes_to(two, heard)[:1]]


def first_place(number: int) -> int:
    """The place of a number's first digit: 100 of 320."""
    return int(10 ** (len(str(number)) - 1))


def last_place(number: int) -> int:
    """The place of a number's last digit that is no nought: 10 of 320."""
    return int(10 ** (len(digits := str(number)) - len(digits.rstrip("0"))))


def points(said: Said, span: Span) -> bool:
    """Whether a number counts things, tells which are meant, "those two", or begins a stretch of days: 二、三日前."""
    units, rules = said.units, said.rules
    if any(_of_days(said, span, each) for each in said.heard.spans):
        return True
    place = units.covering(span.start, span.end)
    if place is None or (place[0] > 0 and units.words[place[0] - 1] in rules.cues.pointing):
        return True
    things = span.kind is SpanKind.NUMBER and place[1] < len(units.words)
    return things and rules.phrases.counted.begins(units.words, place[1])  # 五千円ずつ三回


def _of_days(said: Said, span: Span, day: Span) -> bool:
    paused = said.text[span.end : day.start].strip() in PAUSES
    return day.kind in DATED and span.end < day.start and paused
