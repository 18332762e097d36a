"""A day that is corrected in a part of its words: "the twenty third, no, fourth", "in two days, no, three days"."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from schemas.intent import Mention, Slot, SlotName, Understood
from schemas.span import DateValue, SpanKind
from services.understanding.fast.accounts import COUNTED
from services.understanding.later import Parts
from services.understanding.merging import Again, values

_MOST: Final = 5
"""Words of the earlier day that the later ones may stand for."""
_WHOLE: Final = frozenset({SpanKind.DATE, SpanKind.MONEY})


def another_day(parts: Parts, again: Again) -> Understood | None:
    """The earlier part on the day that is made of its own words and the later ones; None where they make none.

    A number alone may be of days or an amount: then the day is asked for.
    """
    cut, text, day = parts.cut, parts.heard.transcript.text, parts.one.slots.date
    if day is None or day.evidence.end != cut.end:
        return None
    spans = [span for span in parts.heard.spans if cut.start <= span.start < cut.stop]
    if not spans or any(span.kind in _WHOLE for span in spans):
        return None
    alone = (spans[0].start, spans[0].end) == (cut.start, cut.stop) and spans[0].kind is SpanKind.NUMBER
    for words in _days(parts, day, alone=alone):
        found = again(words)
        meant = found.slots.date
        if meant is None or not _differs(parts.one, found):
            continue
        told = replace(day.evidence, end=cut.stop, surface=text[day.evidence.start : cut.stop])
        if alone:
            unresolved = (*parts.one.unresolved, Mention(SlotName.DATE, told))
            return replace(parts.one, slots=replace(parts.one.slots, date=None), unresolved=unresolved)
        slots = replace(parts.one.slots, date=replace(meant, evidence=told))
        return replace(parts.one, slots=slots, rule=parts.rule("repair"))
    return None


def _days(parts: Parts, day: Slot[DateValue], *, alone: bool) -> Iterator[str]:
    """The earlier part with the later words in place of the day's last ones; a number in place of any one of them."""
    cut, text = parts.cut, parts.heard.transcript.text
    units, later = parts.rules.units(text), text[parts.cut.start : parts.cut.stop]
    places = [(a, b) for a, b in zip(units.starts, units.ends, strict=True) if day.evidence.start <= a < cut.end]
    for start, end in reversed(places[-_MOST:]):
        yield text[:start] + later + (text[end : cut.end] if alone else "")


def _differs(one: Understood, found: Understood) -> bool:
    """Whether two orders are alike but for the day, which is one."""
    if found.intent not in COUNTED or found.then is not None or found.unread or found.unresolved:
        return False
    said, now = values(one.slots), values(found.slots)
    if said.keys() != now.keys() or now["date"].value.start != now["date"].value.end:
        return False
    return all((now[name].value != slot.value) is (name == "date") for name, slot in said.items())
