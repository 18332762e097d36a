"""An amount that is said in two numbers with a word between them: 二万と五百円 is one sum, 二千と三千円 are two."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from rules.locales import locale_rules
from schemas.ids import Locale, language
from schemas.span import MoneyValue, Span, SpanKind, amount_readings
from services.understanding.correction.amounts import last_place
from services.understanding.fast.ruleset.grammar import Grammar, grammar

_LEAST: Final = 1_000
"""Smaller numbers are counted, not added to."""


def summed(text: str, spans: tuple[Span, ...], locale: Locale) -> tuple[Span, ...]:
    """`spans` with such numbers as one amount."""
    rules = grammar(language(locale))
    if (
        rules.spaced
        or not any(span.kind is SpanKind.NUMBER for span in spans)
        or rules.patterns.amounts.several.search(text)
    ):
        return spans
    return tuple(_summed(rules, text, spans, locale_rules(locale).digits))


def _summed(rules: Grammar, text: str, spans: tuple[Span, ...], digits: int) -> Iterator[Span]:
    left = list(spans)
    while left:
        one = left.pop(0)
        if left and (both := _sum(rules, text, one, left[0], digits)) is not None:
            left.pop(0)
            one = both
        yield one


def _sum(rules: Grammar, text: str, one: Span, two: Span, digits: int) -> Span | None:
    if one.kind is not SpanKind.NUMBER or one.ambiguity or two.ambiguity:
        return None
    between = rules.units(text[one.end : two.start]).words
    if not rules.cues.joints.covers(between):
        return None
    first, more = (next((each.amount_minor for each in amount_readings(span, digits)), 0) for span in (one, two))
    if first < _LEAST * 10**digits or not 0 < more < last_place(first):
        return None
    plain = str((first + more) // 10**digits)
    value = replace(two.value, amount_minor=first + more) if isinstance(two.value, MoneyValue) else plain
    return replace(two, start=one.start, surface=text[one.start : two.end], value=value)
