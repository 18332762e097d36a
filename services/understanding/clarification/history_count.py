"""How many of an account's entries are asked for: "my last five transactions", "what was my latest purchase"."""

from dataclasses import replace
from typing import Final

from schemas.ids import RuleId
from schemas.intent import Evidence, Intent, Slot, Understood
from schemas.span import SpanKind
from services.understanding.correction.said import Said

_RULE: Final = RuleId("intents.so_many@1")
_MOST: Final = 99


def so_many(said: Said, found: Understood) -> Understood | None:
    """The question with the number that is asked for; None where none is."""
    if found.intent is not Intent.RECENT_TRANSACTIONS or found.slots.choice is not None or not said.rules.spaced:
        return None
    number = _number(said, found) or _single(said)
    return replace(found, slots=replace(found.slots, choice=number)) if number is not None else None


def _number(said: Said, found: Understood) -> Slot[int] | None:
    """The number beside "last"; none of days."""
    units, marks, period = said.units, said.rules.cues.so_many, found.slots.period
    for span in said.heard.spans:
        place = units.covering(span.start, span.end) if span.kind is SpanKind.NUMBER else None
        if place is None or (period is not None and period.evidence.start <= span.start < period.evidence.end):
            continue
        beside = {*units.words[max(0, place[0] - 1) : place[0]], *units.words[place[1] : place[1] + 2]}
        many = next((int(each) for each in span.values if isinstance(each, str) and each.isdecimal()), 0)
        if not beside.isdisjoint(marks) and 0 < many <= _MOST:
            return Slot(many, Evidence.of(span))
    return None


def _single(said: Said) -> Slot[int] | None:
    """One, where but the last is asked for."""
    return Slot(1, said.heard.whole(_RULE)) if said.rules.cues.last_one.holds(said.units.words) else None
