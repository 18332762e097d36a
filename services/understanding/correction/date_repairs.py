"""Days that are corrected in a part of their words, "the twenty third, no, fourth", or not meant at all: "not now"."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Final

from schemas.ids import is_rule
from schemas.intent import COUNTED, MONEY_MOVING, Annotation, Evidence, Mention, Slot, SlotName, Understood
from schemas.span import Ambiguity, DateValue, Span, SpanKind, overlap
from services.understanding.correction.anchored_dates import of_any_week
from services.understanding.correction.merging import differ_in, values
from services.understanding.correction.said import Said
from services.understanding.correction.self_repair import SelfRepair
from services.understanding.fast.ruleset.grammar import Grammar

_MOST: Final = 5
"""Words of the earlier day that the later ones may stand for."""
_LAST: Final = 31
_TEN: Final = 10
_SHORT: Final = 2
"""Units of a day of one digit: 五日."""
_NAMED_WEEK, _WEEKDAY = "dates.week_day", "dates.weekday"
"""Rules of days: in a week that is named, and the next of that name."""
_OTHER: Final = "bill_payment.not_the_other"
"""The rule of an order beside something that is not to be done now."""
_WHOLE: Final = frozenset({SpanKind.DATE, SpanKind.MONEY})


def another_day(parts: SelfRepair) -> Understood | None:
    """The earlier part on the day that is made of its own words and the later ones; None where they make none.

    A number alone may be of days or an amount: then the day is asked for.
    """
    cut, text, day = parts.cut, parts.said.text, parts.one.slots.date
    if day is None or day.evidence.end != cut.end:
        return None
    spans = [span for span in parts.said.heard.spans if cut.start <= span.start < cut.stop]
    if not spans or any(span.kind in _WHOLE for span in spans):
        return None
    alone = (spans[0].start, spans[0].end) == (cut.start, cut.stop) and spans[0].kind is SpanKind.NUMBER
    ordinal = len(spans) == 1 and spans[0].end == cut.stop and spans[0].kind is SpanKind.ORDINAL
    made = [
        each
        for words in _days(parts, day, tail=alone or ordinal)
        if (each := _on(parts, parts.said.again(words))) is not None
    ]
    told = replace(day.evidence, end=cut.stop, surface=text[day.evidence.start : cut.stop])
    if not made and not (alone and any(char.isdecimal() for char in day.evidence.surface) and _of_month(spans[0])):
        return None
    near = [each for each in made if _month(each) == _month(day)] if ordinal else []
    if alone or any(each.value != near[0].value for each in near):
        unresolved = (*parts.one.unresolved, Mention(SlotName.DATE, told))
        return replace(parts.one, slots=replace(parts.one.slots, date=None), unresolved=unresolved)
    slots = replace(parts.one.slots, date=replace((near or made)[0], evidence=told))
    return replace(parts.one, slots=slots, rule=parts.rule("repair"))


def of_a_day(rules: Grammar, heard: Annotation, span: Span) -> bool:
    """Whether a number says that of a day again: "in three days… did I say three"."""
    number, times = rules.units(span.surface).words, rules.cues.times
    days = (rules.units(each.surface).words for each in heard.spans if each.kind is SpanKind.DATE)
    ends = ((day, at + len(number)) for day in days for at in range(len(day)) if day[at:][: len(number)] == number)
    return any(end < len(day) and times.scan(day, end) for day, end in ends)


def day_in_part(said: Said, found: Understood) -> Understood | None:
    """A later day that may stand for a part of the earlier one: 二十四日に、いや五日に; 来週の木曜、いや金曜に."""
    day, rules = found.slots.date, said.rules
    if day is None or found.intent not in COUNTED or SlotName.DATE in found.doubted:
        return None
    days = [span for span in said.heard.spans if span.kind is SpanKind.DATE and isinstance(span.value, DateValue)]
    for one, two in pairwise(days):
        between = rules.units(said.text[one.end : two.start]).words
        held = overlap(two, day.evidence)
        if held and rules.cues.repairs.holds(between):
            weeks = [span for span in days if span.start <= one.start and _in_named_week(span)]
            whole = None if rules.spaced else _with_last(rules, one, two)
            whole = whole or _of_that_week(said, (weeks or [one])[-1], two)
            if whole is not None and whole != day.value and whole.start >= said.today:
                both = replace(day, readings=(whole,))
                return replace(found, slots=replace(found.slots, date=both), doubted=(*found.doubted, SlotName.DATE))
    return None


def undated(said: Said, found: Understood) -> Understood | None:
    """An order for now, where "not now" was said before it: the day is asked for."""
    if found.intent not in MONEY_MOVING or found.slots.date is not None:
        return None
    if any(mention.slot is SlotName.DATE for mention in found.unresolved) or found.by(_OTHER):
        return None
    units, marks = said.units, said.rules.cues
    for at in range(len(units.words)) if marks.not_now.meets(units.words) else ():
        end = marks.not_now.longest(units.words, at)[0]
        if end > at:
            told = said.heard.evidence(units.starts[at], units.ends[end - 1], marks.rule("not_now"))
            return replace(found, unresolved=(*found.unresolved, Mention(SlotName.DATE, told)))
    return None


def days_of_each(said: Said, found: Understood) -> Understood | None:
    """Two orders, each without the day of the other: 「電気代は明日、水道代は来週」; None where a day may be of both.

    A day is the other's only where an order has one of its own, on its side of where the later order begins.
    """
    later = found.then
    if later is None or later.then is not None or said.rules.spaced:
        return None
    begins = [slot.evidence.start for name, slot in values(later.slots).items() if name != SlotName.DATE.value]
    if found.intent not in COUNTED or later.intent not in COUNTED or not begins:
        return None
    middle = min(begins)
    middle = next((e.start for e in _days_of(later) if e.end == middle), middle)  # 「来週水道代を」
    first = _without(found, lambda at: at >= middle) if _has_day(found, lambda at: at < middle) else found
    second = _without(later, lambda at: at < middle) if _has_day(later, lambda at: at >= middle) else later
    return replace(first, then=second) if (first, second) != (found, later) else None


def _has_day(order: Understood, there: Callable[[int], bool]) -> bool:
    """Whether a day of the order, told for sure or to be asked about, stands there."""
    return any(there(each.start) for each in _days_of(order))


def _days_of(order: Understood) -> list[Evidence]:
    told = [order.slots.date.evidence] if order.slots.date is not None else []
    return [*told, *(each.evidence for each in order.unresolved if each.slot is SlotName.DATE)]


def _without(order: Understood, there: Callable[[int], bool]) -> Understood:
    """The order without the days to be asked about that stand there."""
    kept = (each for each in order.unresolved if each.slot is not SlotName.DATE or not there(each.evidence.start))
    return replace(order, unresolved=tuple(kept))


def _with_last(rules: Grammar, one: Span, two: Span) -> DateValue | None:
    """The earlier day of a month, said in words, with the later one's last digit; None where they are no such days."""
    if not (isinstance(one.value, DateValue) and isinstance(two.value, DateValue)):
        return None
    first, last = one.value.start, two.value.start.day
    in_words = any(char.isnumeric() for char in one.surface) and not any(char.isdecimal() for char in one.surface)
    plain = in_words and len(rules.units(two.surface).words) == _SHORT
    if not plain or first.day <= _TEN or first.day % _TEN == 0 or last >= _TEN:
        return None
    try:
        day = first.replace(day=first.day - first.day % _TEN + last)
    except ValueError:  # no such day in that month
        return None
    return DateValue(day, day)


def _in_named_week(day: Span) -> bool:
    return is_rule(day.rule, _NAMED_WEEK) or day.ambiguity is Ambiguity.WHICH_WEEK


def _of_that_week(said: Said, one: Span, two: Span) -> DateValue | None:
    """A weekday alone, in the week in which the earlier one was said to be."""
    if not (isinstance(one.value, DateValue) and isinstance(two.value, DateValue)):
        return None
    if not (_in_named_week(one) and is_rule(two.rule, _WEEKDAY) and of_any_week(said, two)):
        return None
    first = one.value.start
    day = first + timedelta(days=two.value.start.weekday() - first.weekday())
    return DateValue(day, day)


def _on(parts: SelfRepair, found: Understood) -> Slot[DateValue] | None:
    """The day of what is the earlier part but for it."""
    return found.slots.date if found.slots.date is not None and _differs(parts.one, found) else None


def _of_month(span: Span) -> bool:
    """Whether a number may be of a day of a month."""
    return str(span.value).isdecimal() and 1 <= int(str(span.value)) <= _LAST


def _month(day: Slot[DateValue]) -> tuple[int, int]:
    return day.value.start.year, day.value.start.month


def _days(parts: SelfRepair, day: Slot[DateValue], *, tail: bool) -> Iterator[str]:
    """The earlier part with the later words in place of the day's last ones, or, with its `tail`, of one or two."""
    cut, text, units = parts.cut, parts.said.text, parts.said.units
    places = [(a, b) for a, b in zip(units.starts, units.ends, strict=True) if day.evidence.start <= a < cut.end]
    for at in range(len(places) - 1, max(-1, len(places) - 1 - _MOST), -1):
        for end in [places[at][1], *(b for _, b in places[at + 1 : at + 2])] if tail else [cut.end]:
            yield text[: places[at][0]] + parts.later + text[end : cut.end]


def _differs(one: Understood, found: Understood) -> bool:
    """Whether two orders are alike but for the day, which is one."""
    day = found.slots.date
    plain = found.intent in COUNTED and found.whole and day is not None and day.value.start == day.value.end
    return plain and differ_in(one.slots, found.slots, "date")
