"""A later amount that may be a part of the earlier one: "a hundred and twenty, no, thirty", "make it two" after 300."""

import re
from dataclasses import replace
from itertools import pairwise
from typing import Final

from rules.locales import locale_rules
from schemas.intent import COUNTED, Annotation, Intent, SlotName, Understood
from schemas.span import SUMS, Span, SpanKind, overlap
from services.understanding.correction.amounts import comes_to, first_place, last_place, points, sizes, unit
from services.understanding.correction.said import Said
from services.understanding.fast.ruleset.grammar import Grammar

_TOLD: Final = frozenset({Intent.CORRECT, Intent.INFORM})
_FIGURES: Final = re.compile(r"\d[\d,.]*")
_TEN, _HUNDRED, _TEENS = 10, 100, 20
"""What is counted by hundreds is less than "twenty hundred"."""


def in_part(said: Said, found: Understood) -> Understood | None:
    """A later amount that may go on with the earlier one: "a hundred and twenty, no, thirty", "three, no, hundred"."""
    amount, heard = found.slots.amount, said.heard
    if amount is None or amount.readings or found.intent not in COUNTED or found.then is not None:
        return None
    sums = [span for span in heard.spans if span.kind in SUMS and not points(said, span)]
    for one, two in pairwise(sums):
        held = overlap(two, amount.evidence)
        if not held or not corrects(said.rules, said.text[one.end : two.start]):
            continue
        whole = _with_last(said, one, two) or _multiplied(said, one, two)
        whole = whole or next((_counted(a.amount_minor, two, heard) for a in comes_to(one, heard)[:1]), None)
        if whole is not None:
            both = replace(amount, readings=(replace(amount.value, amount_minor=whole),))
            return replace(found, slots=replace(found.slots, amount=both), rule=said.rules.cues.rule("in_part"))
    return None


def of_its_size(said: Said, found: Understood) -> Understood | None:
    """A digit in place of hundreds or thousands that are read back may be as many of them, or more: "and five"."""
    amount, before = found.slots.amount, said.context.terms.so_far
    if amount is None or not before or amount.readings or found.intent not in _TOLD:
        return None
    for span in said.heard.spans:
        if (span.start, span.end) == (amount.evidence.start, amount.evidence.end):
            whole = _counted(before, span, said.heard) or _more(before, span, said)
            asked = said.context.asked is SlotName.AMOUNT  # so much was too much: no more than that is meant
            none = whole is None or (asked and whole > before)
            readings = () if none or whole is None else (replace(amount.value, amount_minor=whole),)
            return replace(found, slots=replace(found.slots, amount=replace(amount, readings=readings)))
    return None


def _counted(before: int, now: Span, heard: Annotation) -> int | None:
    """As many hundreds, thousands or 万 as a number without a unit says, where it alone would be absurdly little."""
    major, scale = unit(heard), first_place(before)
    value = next((each.amount_minor for each in comes_to(now, heard)[:1]), 0)
    if now.kind is not SpanKind.NUMBER or value <= 0 or value * _TEN % major or scale < _HUNDRED * major:
        return None
    group = int(10 ** locale_rules(heard.transcript.locale).group) * major
    few, little = value < _TEN * major, value * _HUNDRED <= before
    if not (few and before < _HUNDRED * group):
        scale = min(scale, group)
    whole = value * scale // major
    if few:
        return whole if before % scale == 0 or little else None
    return whole if little and (value < _HUNDRED * major or whole <= _TEN * before) else None


def _more(before: int, now: Span, said: Said) -> int | None:
    """Both together, where an "and" alone stands before an amount that may go on with the one before: "and five"."""
    rules, first, values = said.rules, said.rules.units(said.text[: now.start]).words, comes_to(now, said.heard)
    value = values[0].amount_minor if len(values) == 1 else 0
    joined = rules.spaced and len(first) == 1 and rules.cues.joints.begins(first, 0)
    return before + value if joined and 0 < value < last_place(before) else None


def corrects(rules: Grammar, between: str) -> bool:
    """Whether there is a word between two amounts that takes the first one back."""
    units = rules.units(between).words
    return rules.cues.repairs.holds(units)


def _with_last(said: Said, one: Span, two: Span) -> int | None:
    """The earlier amount, said in words, with the later one in place of its last part, where that is of its size."""
    rules, first = said.rules, one.surface
    if len(_FIGURES.findall(first)) == 1 or (rules.spaced and len(rules.units(first).words) == 1):
        return None  # "fifteen" has no last part
    for a, b in sizes(said.heard, one, two):
        if rules.spaced and one.kind is two.kind is SpanKind.MONEY and b >= unit(said.heard):
            return None  # "a hundred and twenty dollars, no, thirty dollars"
        size = first_place(b)
        rest = a % (10 * size)
        alike = rest >= size and last_place(rest) >= last_place(b)
        if a > 10 * size and rest != b and alike:
            return a - rest + b
    return None


def _multiplied(said: Said, one: Span, two: Span) -> int | None:
    """The earlier number times what the later one begins with: "three, wait, hundred and fifty"."""
    rules = said.rules
    if not rules.cues.scales.begins(rules.units(two.surface).words, 0):
        return None
    major = unit(said.heard)
    for a, b in sizes(said.heard, one, two):
        scale = first_place(b)
        most = _TEENS * major if scale == _HUNDRED * major else scale
        if 0 < a < most and a % major == 0:
            return a // major * scale + b - scale
    return None
