"""Values that stand apart: an amount that goes on after a hesitation, and two values of which one is meant.

"A hundred uh fifty dollars" may be a hundred and fifty, or fifty; "forty five, hm, round it up to fifty" names two. The
caller is asked which: no rule tells them apart, and the last number alone is not what was said.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Final

from rules.locales import locale_rules
from schemas.ids import language
from schemas.intent import (
    MONEY_MOVING,
    Annotation,
    Context,
    Evidence,
    Intent,
    Mention,
    Route,
    Slot,
    SlotName,
    Understood,
)
from schemas.money import exponent
from schemas.span import MoneyValue, Span, SpanKind, amount_readings
from services.understanding.correction.merging import said_in, values
from services.understanding.fast.patterns.units import OUTSIDE_NUMBERS, Units
from services.understanding.fast.ruleset.accounts import COUNTED
from services.understanding.fast.ruleset.grammar import Grammar, grammar

_SUMS: Final = frozenset({SpanKind.MONEY, SpanKind.NUMBER})
_MARKS: Final = " ,.;:!—–-、。"
_DAYS: Final = frozenset({SpanKind.DATE, SpanKind.TIME})
_PAUSES: Final = frozenset({"、", "，", "…", "……"})
_CLAUSE: Final = re.compile(OUTSIDE_NUMBERS + r"[,;:.!?—–…]")
_FIGURES: Final = re.compile(r"\d[\d,.]*")
_NUMBER: Final = re.compile(r"\b\d{4}\b")
_SCALES: Final = (1, 1_000, 10_000, 1_000_000)
"""What the later part may scale the earlier one by as well: "two hundred uh fifty thousand"."""
_TEN, _HUNDRED, _TEENS = 10, 100, 20
"""What is counted by hundreds is less than "twenty hundred"."""
_UNSURE: Final = frozenset({Route.CLARIFY, Route.EXTRACT})
_OTHER: Final = ".not_the_other@"
"""The rule of an order beside something that is not to be done now."""


def put_together(heard: Annotation, context: Context, again: Callable[[str], Understood]) -> Understood | None:
    """The meaning with the two parts of an amount as one, the later part beside it; `again` looks at a text."""
    if context.code:
        return None
    rules, text = grammar(language(heard.transcript.locale)), heard.transcript.text
    for one, two in pairwise(span for span in heard.spans if span.kind in _SUMS):
        between = _hesitation(rules, text[one.end : two.start])
        if between is None and _pauses(rules, heard, one, two):
            between = ""
        if between is None:
            continue
        surely, joint = bool(between.strip()), between if rules.spaced else ""
        found = said_in(again(text[: one.end] + joint.ljust(two.start - one.end) + text[two.start :]), text)
        amount, later = found.slots.amount, _values(two, heard)
        if amount is None or found.intent not in COUNTED or not _goes_on(amount.value, _values(one, heard), later):
            continue
        readings = amount.readings if surely else (*amount.readings, *later[:1])
        return replace(found, slots=replace(found.slots, amount=replace(amount, readings=readings)))
    return None


def either(heard: Annotation, found: Understood) -> Understood | None:
    """An order that is not sure, or is mended, with the one other amount named after its own as a reading of it."""
    amount, rules = found.slots.amount, grammar(language(heard.transcript.locale))
    unsure = found.route in _UNSURE or found.rule == rules.accounts.rule("repair")
    plain = found.intent is Intent.TRANSFER_MONEY and unsure and found.then is None
    if not plain or amount is None or found.vetoes or amount.readings or found.slots.payee is None:
        return None
    others = [
        (span, value)
        for span in heard.spans
        if span.kind in _SUMS and not _held(span, found) and not points(rules, heard, span)
        if not _of_an_account(span, found)
        for value in _values(span, heard)[:1]
        if value.amount_minor != amount.value.amount_minor
    ]
    if len(others) != 1 or others[0][0].start < amount.evidence.end:
        return None
    (span, value), text = others[0], heard.transcript.text
    begin = max(slot.evidence.end for slot in values(found.slots).values() if slot.evidence.end <= span.start)
    left = Evidence(begin, len(text), text[begin:].strip(_MARKS), rules.accounts.rule("either"))
    both = replace(amount, readings=() if _on_condition(rules, text[begin : span.start]) else (value,))
    return replace(
        found,
        slots=replace(found.slots, amount=both),
        route=Route.FAST,
        rule=rules.accounts.rule("either"),
        unread=(*found.unread, left),
    )


def _on_condition(rules: Grammar, between: str) -> bool:
    """Whether a later amount is a condition's: "fifty, if she has less than twenty"."""
    words = rules.units(_CLAUSE.split(between)[-1]).words
    met = rules.spaced and rules.accounts.conditions.holds(words)
    return met and not _corrects(rules, between)


def in_part(heard: Annotation, found: Understood) -> Understood | None:
    """A later amount that may go on with the earlier one: "a hundred and twenty, no, thirty", "three, no, hundred"."""
    amount, rules = found.slots.amount, grammar(language(heard.transcript.locale))
    if amount is None or amount.readings or found.intent not in COUNTED or found.then is not None:
        return None
    sums = [span for span in heard.spans if span.kind in _SUMS and not points(rules, heard, span)]
    for one, two in pairwise(sums):
        held = two.start < amount.evidence.end and amount.evidence.start < two.end
        if not held or not _corrects(rules, heard.transcript.text[one.end : two.start]):
            continue
        whole = _with_last(rules, one, two, heard) or _multiplied(rules, one, two, heard)
        whole = whole or next((_counted(a.amount_minor, two, heard) for a in _values(one, heard)[:1]), None)
        if whole is not None:
            both = replace(amount, readings=(replace(amount.value, amount_minor=whole),))
            return replace(found, slots=replace(found.slots, amount=both), rule=rules.accounts.rule("in_part"))
    return None


def of_its_size(heard: Annotation, found: Understood, context: Context) -> Understood | None:
    """A digit in place of hundreds or thousands that are read back may be as many of them, or more: "and five"."""
    amount, before = found.slots.amount, context.terms.amount
    if amount is None or before is None or amount.readings or found.intent is not Intent.CORRECT:
        return None
    for span in heard.spans:
        if (span.start, span.end) == (amount.evidence.start, amount.evidence.end):
            whole = _counted(before.minor, span, heard) or _more(before.minor, span, heard)
            readings = () if whole is None else (replace(amount.value, amount_minor=whole),)
            return replace(found, slots=replace(found.slots, amount=replace(amount, readings=readings)))
    return None


def _counted(before: int, now: Span, heard: Annotation) -> int | None:
    """As many hundreds or thousands as a digit without a unit says, where so few of them were said before."""
    major: int = 10 ** exponent(locale_rules(heard.transcript.locale).currency)
    scale: int = 10 ** (len(str(before)) - 1)
    value = next((each.amount_minor for each in _values(now, heard)[:1]), 0)
    few = now.kind is SpanKind.NUMBER and 0 < value < _TEN * major and value % major == 0
    return value // major * scale if few and scale >= _HUNDRED * major and before % scale == 0 else None


def _more(before: int, now: Span, heard: Annotation) -> int | None:
    """Both together, where an "and" alone stands before an amount that may go on with the one before: "and five"."""
    rules, text = grammar(language(heard.transcript.locale)), heard.transcript.text
    first, values_of = rules.units(text[: now.start]).words, _values(now, heard)
    value = values_of[0].amount_minor if len(values_of) == 1 else 0
    joined = rules.spaced and len(first) == 1 and bool(rules.accounts.joints.scan(first, 0))
    return before + value if joined and 0 < value < 10 ** _zeros(before) else None


def _corrects(rules: Grammar, between: str) -> bool:
    """Whether there is a word between two amounts that takes the first one back."""
    units = rules.units(between).words
    return rules.accounts.repairs.holds(units)


def _with_last(rules: Grammar, one: Span, two: Span, heard: Annotation) -> int | None:
    """The earlier amount, said in words, with the later one in place of its last part, where that is of its size."""
    first, later = (span.surface for span in (one, two))
    if len(_FIGURES.findall(first)) == 1 or (rules.spaced and len(rules.units(first).words) == 1):
        return None  # "fifteen" has no last part
    major: int = 10 ** exponent(locale_rules(heard.transcript.locale).currency)
    sizes = [(a.amount_minor, b.amount_minor) for a in _values(one, heard)[:1] for b in _values(two, heard)[:1]]
    for a, b in sizes:
        if rules.spaced and one.kind is two.kind is SpanKind.MONEY and b >= major:
            return None  # "a hundred and twenty dollars, no, thirty dollars"
        size: int = 10 ** (len(str(b)) - 1)
        rest = a % (10 * size)
        alike = rest >= size and _zeros(rest) >= _zeros(b)
        if later and b > 0 and a > 10 * size and rest != b and alike:
            return a - rest + b
    return None


def _multiplied(rules: Grammar, one: Span, two: Span, heard: Annotation) -> int | None:
    """The earlier number times what the later one begins with: "three, wait, hundred and fifty"."""
    if not rules.accounts.scales.begins(rules.units(two.surface).words, 0):
        return None
    major: int = 10 ** exponent(locale_rules(heard.transcript.locale).currency)
    for a, b in ((a.amount_minor, b.amount_minor) for a in _values(one, heard)[:1] for b in _values(two, heard)[:1]):
        scale: int = 10 ** (len(str(b)) - 1)
        most = _TEENS * major if scale == _HUNDRED * major else scale
        if 0 < a < most and a % major == 0:
            return a // major * scale + b - scale
    return None


def _zeros(number: int) -> int:
    digits = str(number)
    return len(digits) - len(digits.rstrip("0"))


def undated(heard: Annotation, found: Understood) -> Understood | None:
    """An order for now, where "not now" was said before it: the day is asked for."""
    if found.intent not in MONEY_MOVING or found.slots.date is not None:
        return None
    if any(mention.slot is SlotName.DATE for mention in found.unresolved) or _OTHER in (found.rule or ""):
        return None
    rules, text = grammar(language(heard.transcript.locale)), heard.transcript.text
    units = rules.units(text)
    for at in range(len(units.words)) if rules.accounts.not_now.meets(units.words) else ():
        end = rules.accounts.not_now.longest(units.words, at)[0]
        if end > at:
            begin, stop = units.starts[at], units.ends[end - 1]
            said = Evidence(begin, stop, text[begin:stop], rules.accounts.rule("not_now"))
            return replace(found, unresolved=(*found.unresolved, Mention(SlotName.DATE, said)))
    return None


def _hesitation(rules: Grammar, between: str) -> str | None:
    """What of the words between two numbers is no hesitation: nothing, or an "and"; None where there is none."""
    units, joints = rules.units(between), rules.accounts.joints
    first = joints.longest(units.words, 0)[0] if units.words else 0
    ends = list(_hesitations(rules, units, first))
    if not ends:
        return None
    rest = units.words[ends[-1] :]
    if not rest:
        return between[: units.ends[first - 1]] if first else ""
    joined = not first and joints.longest(rest, 0)[0] == len(rest)
    return between[units.starts[ends[-1]] :].rjust(len(between)) if joined else None


def _pauses(rules: Grammar, heard: Annotation, one: Span, two: Span) -> bool:
    """Whether a pause alone parts a number and a smaller one, where words have no spaces: 九万、五千円."""
    paused = not rules.spaced and heard.transcript.text[one.end : two.start].strip() in _PAUSES
    sizes = [(a.amount_minor, b.amount_minor) for a in _values(one, heard)[:1] for b in _values(two, heard)[:1]]
    return paused and any(a > b for a, b in sizes)


def _hesitations(rules: Grammar, units: Units, at: int) -> Iterator[int]:
    tries = (rules.accounts.hesitations, rules.accounts.within_numbers)
    while at < len(units.words) and (end := max(trie.longest(units.words, at)[0] for trie in tries)) > at:
        yield (at := end)


def _goes_on(whole: MoneyValue, one: tuple[MoneyValue, ...], two: tuple[MoneyValue, ...]) -> bool:
    """Whether the whole is made of the two parts as numbers are: no other number is made of "fifty uh sixty"."""
    unit = 10 ** exponent(whole.currency) if whole.currency is not None else 1
    sizes = {(a.amount_minor, b.amount_minor) for a in one for b in two}
    return any(whole.amount_minor in {a * b // unit, *(a * scale + b for scale in _SCALES)} for a, b in sizes)


def _values(span: Span, heard: Annotation) -> tuple[MoneyValue, ...]:
    return amount_readings(span, exponent(locale_rules(heard.transcript.locale).currency))


def _of_an_account(span: Span, found: Understood) -> bool:
    """Whether digits are told as those are that the paying account was told by: "from 4021… 7755 is the one"."""
    source = found.slots.source
    told = source is not None and _NUMBER.search(source.evidence.surface) is not None
    return told and _NUMBER.fullmatch(span.surface) is not None


def _held(span: Span, found: Understood) -> bool:
    """Whether a slot or a mention holds the span's words."""
    slots: list[Slot[object]] = list(values(found.slots).values())
    held = [slot.evidence for slot in slots] + [mention.evidence for mention in found.unresolved]
    return any(each.start < span.end and span.start < each.end for each in held)


def points(rules: Grammar, heard: Annotation, span: Span) -> bool:
    """Whether a number counts things, tells which are meant, "those two", or begins a stretch of days: 二、三日前."""
    if any(_of_days(heard, span, each) for each in heard.spans):
        return True
    units = rules.units(heard.transcript.text)
    place = units.covering(span.start, span.end)
    if place is None or (place[0] > 0 and units.words[place[0] - 1] in rules.accounts.pointing):
        return True
    things = span.kind is SpanKind.NUMBER and place[1] < len(units.words)
    return things and bool(rules.phrases.counted.scan(units.words, place[1]))  # 五千円ずつ三回


def _of_days(heard: Annotation, span: Span, day: Span) -> bool:
    paused = heard.transcript.text[span.end : day.start].strip() in _PAUSES
    return day.kind in _DAYS and span.end < day.start and paused
