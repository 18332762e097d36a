"""Values that stand apart: an amount that goes on after a hesitation, and two values of which one is meant.

"A hundred uh fifty dollars" may be a hundred and fifty, or fifty; "forty five, hm, round it up to fifty" names two. The
caller is asked which: no rule tells them apart, and the last number alone is not what was said.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Final

from schemas.intent import COUNTED, Evidence, Intent, Route, Slot, Understood
from schemas.money import exponent
from schemas.span import SUMS, MoneyValue, Span, overlap
from services.understanding.correction.amount_repairs import corrects
from services.understanding.correction.amounts import PAUSES, comes_to, points, sizes, unit
from services.understanding.correction.merging import said_in, values
from services.understanding.correction.said import Said
from services.understanding.fast.patterns.units import OUTSIDE_NUMBERS, Units
from services.understanding.fast.ruleset.grammar import Grammar

_MARKS: Final = " ,.;:!—–-、。"
_CLAUSE: Final = re.compile(OUTSIDE_NUMBERS + r"[,;:.!?—–…]")
_NUMBER: Final = re.compile(r"\b\d{4}\b")
_SCALES: Final = (1, 1_000, 10_000, 1_000_000)
"""What the later part may scale the earlier one by as well: "two hundred uh fifty thousand"."""
_UNSURE: Final = frozenset({Route.CLARIFY, Route.EXTRACT})


def put_together(said: Said) -> Understood | None:
    """The meaning with the two parts of an amount as one, the later part beside it."""
    if said.context.code:
        return None
    rules, text, heard = said.rules, said.text, said.heard
    for one, two in pairwise(span for span in heard.spans if span.kind in SUMS):
        between = _hesitation(rules, text[one.end : two.start])
        if between is None and _pauses(said, one, two):
            between = ""
        if between is None:
            continue
        surely, joint = bool(between.strip()), between if rules.spaced else ""
        found = said_in(said.again(text[: one.end] + joint.ljust(two.start - one.end) + text[two.start :]), text)
        amount, earlier, later = found.slots.amount, comes_to(one, heard), comes_to(two, heard)
        if amount is None or found.intent not in COUNTED or not _goes_on(said, amount.value, earlier, later):
            continue
        readings = amount.readings if surely else (*amount.readings, *later[:1])
        return replace(found, slots=replace(found.slots, amount=replace(amount, readings=readings)))
    return None


def either(said: Said, found: Understood) -> Understood | None:
    """An order that is not sure, or is mended, with the one other amount named after its own as a reading of it."""
    amount, rules, heard = found.slots.amount, said.rules, said.heard
    unsure = found.route in _UNSURE or found.rule == rules.cues.rule("repair")
    plain = found.intent is Intent.TRANSFER_MONEY and unsure and found.then is None
    if not plain or amount is None or found.vetoes or amount.readings or found.slots.payee is None:
        return None
    others = [
        (span, value)
        for span in heard.spans
        if span.kind in SUMS and not _held(span, found) and not points(said, span)
        if not _of_an_account(span, found)
        for value in comes_to(span, heard)[:1]
        if value.amount_minor != amount.value.amount_minor
    ]
    if len(others) != 1 or others[0][0].start < amount.evidence.end:
        return None
    (span, value), text = others[0], said.text
    begin = max(slot.evidence.end for slot in values(found.slots).values() if slot.evidence.end <= span.start)
    left = Evidence(begin, len(text), text[begin:].strip(_MARKS), rules.cues.rule("either"))
    both = replace(amount, readings=() if _on_condition(rules, text[begin : span.start]) else (value,))
    return replace(
        found,
        slots=replace(found.slots, amount=both),
        route=Route.FAST,
        rule=rules.cues.rule("either"),
        unread=(*found.unread, left),
    )


def _on_condition(rules: Grammar, between: str) -> bool:
    """Whether a later amount is a condition's: "fifty, if she has less than twenty"."""
    words = rules.units(_CLAUSE.split(between)[-1]).words
    met = rules.spaced and rules.cues.conditions.holds(words)
    return met and not corrects(rules, between)


def _hesitation(rules: Grammar, between: str) -> str | None:
    """What of the words between two numbers is no hesitation: nothing, or an "and"; None where there is none."""
    units, joints = rules.units(between), rules.cues.joints
    first = joints.longest(units.words, 0)[0] if units.words else 0
    ends = list(_hesitations(rules, units, first))
    if not ends:
        return None
    rest = units.words[ends[-1] :]
    if not rest:
        return between[: units.ends[first - 1]] if first else ""
    joined = not first and joints.covers(rest)
    return between[units.starts[ends[-1]] :].rjust(len(between)) if joined else None


def _pauses(said: Said, one: Span, two: Span) -> bool:
    """Whether a pause alone parts a number and a smaller one, where words have no spaces: 九万、五千円."""
    paused = not said.rules.spaced and said.text[one.end : two.start].strip() in PAUSES
    return paused and any(a > b for a, b in sizes(said.heard, one, two))


def _hesitations(rules: Grammar, units: Units, at: int) -> Iterator[int]:
    tries = (rules.cues.hesitations, rules.cues.within_numbers)
    while at < len(units.words) and (end := max(trie.longest(units.words, at)[0] for trie in tries)) > at:
        yield (at := end)


def _goes_on(said: Said, whole: MoneyValue, one: tuple[MoneyValue, ...], two: tuple[MoneyValue, ...]) -> bool:
    """Whether the whole is made of the two parts as numbers are: no other number is made of "fifty uh sixty"."""
    major = 10 ** exponent(whole.currency) if whole.currency is not None else unit(said.heard)
    sizes = {(a.amount_minor, b.amount_minor) for a in one for b in two}
    return any(whole.amount_minor in {a * b // major, *(a * scale + b for scale in _SCALES)} for a, b in sizes)


def _of_an_account(span: Span, found: Understood) -> bool:
    """Whether digits are told as those are that the paying account was told by: "from 4021… 7755 is the one"."""
    source = found.slots.source
    told = source is not None and _NUMBER.search(source.evidence.surface) is not None
    return told and _NUMBER.fullmatch(span.surface) is not None


def _held(span: Span, found: Understood) -> bool:
    """Whether a slot or a mention holds the span's words."""
    slots: list[Slot[object]] = list(values(found.slots).values())
    held = [slot.evidence for slot in slots] + [mention.evidence for mention in found.unresolved]
    return any(overlap(each, span) for each in held)
