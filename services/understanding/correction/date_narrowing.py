"""A day that answers which one of a week or a month is meant: 「来週」, 「金曜」; "next month", "the twentieth"."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from typing import Final

from schemas.intent import Annotation, Mention, SlotName, Understood
from schemas.span import DateValue, Span, SpanKind

_PARTS: Final[dict[str, Callable[[date], int]]] = {".day_alone@": lambda day: day.day, ".weekday@": date.weekday}
"""What is told of a day by the rules that find no more of it."""


def day_within(heard: Annotation, found: Understood, told: tuple[Span, ...], today: date) -> Understood:
    """The same, with the day of the time that was `told` before; one of several such days is asked for again."""
    stretches = [each for s in told if s.kind is SpanKind.DATE for each in s.values if isinstance(each, DateValue)]
    stretch = next((each for each in stretches if each.end >= today), next(iter(stretches), None))
    day = found.slots.date
    span = next((s for s in heard.spans if day is not None and s.start == day.evidence.start), None)
    if stretch is None or day is None or span is None or stretch.start <= day.value.start <= stretch.end:
        return found
    part = next((told_by for name, told_by in _PARTS.items() if name in span.rule), None)
    days = [stretch.start + timedelta(days=n) for n in range((stretch.end - stretch.start).days + 1)]
    meant = [each for each in days if part is not None and part(each) == part(day.value.start)]
    if len(meant) > 1:
        asked = (*found.unresolved, Mention(SlotName.DATE, day.evidence))
        return replace(found, slots=replace(found.slots, date=None), unresolved=asked)
    value = DateValue.day(meant[0]) if meant else day.value
    return replace(found, slots=replace(found.slots, date=replace(day, value=value)))
