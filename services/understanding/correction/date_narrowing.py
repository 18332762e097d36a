"""A day that answers which one of a week or a month is meant: 「来週」, 「金曜」; "next month", "the twentieth"."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from typing import Final

from schemas.ids import RuleId, is_rule, language
from schemas.intent import Annotation, Evidence, Intent, Mention, Route, Slot, SlotName, Slots, Understood
from schemas.span import Ambiguity, DateValue, Span, SpanKind, overlap
from services.understanding.fast.ruleset.grammar import grammar

_PARTS: Final[dict[str, Callable[[date], int]]] = {
    "dates.day_alone": lambda day: day.day,
    "dates.weekday": date.weekday,
}
"""What is told of a day by the rules that find no more of it."""
_OFFERED: Final = RuleId("intents.day_offered@1")


def day_within(heard: Annotation, found: Understood, told: tuple[Span, ...], today: date) -> Understood:
    """The same, with the day of the time that was `told` before; one of several such days is asked for again."""
    stretches = [each for s in told if s.kind is SpanKind.DATE for each in s.values if isinstance(each, DateValue)]
    stretch = next((each for each in stretches if each.end >= today), next(iter(stretches), None))
    day = found.slots.date
    if stretch is not None and day is None and (told_alone := _of_the_month(heard, found, stretch)) is not None:
        return told_alone
    span = next((s for s in heard.spans if day is not None and s.start == day.evidence.start), None)
    if stretch is None or day is None or span is None or stretch.start <= day.value.start <= stretch.end:
        return found
    part = next((told_by for name, told_by in _PARTS.items() if is_rule(span.rule, name)), None)
    days = [stretch.start + timedelta(days=n) for n in range((stretch.end - stretch.start).days + 1)]
    meant = [each for each in days if part is not None and part(each) == part(day.value.start)]
    if len(meant) > 1:
        asked = (*found.unresolved, Mention(SlotName.DATE, day.evidence))
        return replace(found, slots=replace(found.slots, date=None), unresolved=asked)
    value = DateValue.day(meant[0]) if meant else day.value
    return replace(found, slots=replace(found.slots, date=replace(day, value=value)))


def in_this_time(heard: Annotation, found: Understood, asked: SlotName | None, today: date) -> Understood:
    """The same, without "this month" beside how much it is: no day is told by the stretch that goes on."""
    if not found.unresolved or not (asked is SlotName.AMOUNT or found.slots.portion is not None):
        return found
    days = [(span, span.value) for span in heard.spans if isinstance(span.value, DateValue)]
    now = [span for span, day in days if day.start < day.end and day.start <= today <= day.end]
    left = (m for m in found.unresolved if m.slot is not SlotName.DATE or not any(overlap(s, m.evidence) for s in now))
    return replace(found, unresolved=tuple(left))


def day_offered(heard: Annotation, found: Understood, days: tuple[date, ...]) -> Understood:
    """The same, or which of the days that were offered is meant: "the later one", 「来週のほう」, "thursday"."""
    if not days:
        return found
    text, rules = heard.transcript.text, grammar(language(heard.transcript.locale)).patterns.orders
    for pattern, day in ((rules.sooner_day, min(days)), (rules.later_day, max(days))):
        if pattern.fullmatch(text):
            return _taken(heard, day)
    told = [(span, span.value) for span in heard.spans if isinstance(span.value, DateValue)]
    if len(told) != 1:
        return found
    (span, value), *_ = told
    if value.start == value.end:
        return _on_its_weekday(found, span, [day for day in days if day.weekday() == value.start.weekday()])
    within = [day for day in days if value.start <= day <= value.end]
    alone = rules.beside_a_day.fullmatch(text[: span.start] + text[span.end :])
    return _taken(heard, within[0]) if alone and len(within) == 1 else found


def _on_its_weekday(found: Understood, span: Span, meant: list[date]) -> Understood:
    """The same on the one of these that a bare weekday tells; where several fall on it, without a day."""
    slot, bare = found.slots.date, is_rule(span.rule, "dates.weekday") and span.ambiguity is Ambiguity.PAST_OR_FUTURE
    if slot is None or not bare or not meant:
        return found
    if len(meant) == 1:
        return replace(found, slots=replace(found.slots, date=replace(slot, value=DateValue.day(meant[0]))))
    asked = (*found.unresolved, Mention(SlotName.DATE, slot.evidence))
    return replace(found, slots=replace(found.slots, date=None), unresolved=asked)


def _taken(heard: Annotation, day: date) -> Understood:
    """All of the words as an answer that tells this day."""
    slots = Slots(date=Slot(DateValue.day(day), heard.whole(_OFFERED)))
    return Understood(Intent.INFORM, slots, route=Route.FAST, confidence=1.0, rule=_OFFERED)


def day_instead(heard: Annotation, found: Understood, on: date, today: date) -> Understood:
    """The same, or another day of the month around the one that is read back: "better make it the fourth"."""
    first = max(on.replace(day=1), today)
    open_ = replace(found, intent=None) if found.intent is Intent.DENY and found.rule is None else found
    told = _of_the_month(heard, open_, DateValue(first, first + timedelta(days=30)))
    return found if told is None or found.slots.date is not None else told


def _of_the_month(heard: Annotation, found: Understood, stretch: DateValue) -> Understood | None:
    """The day that its number alone tells: "the third", asked on which day of december."""
    numbers = [span for span in heard.spans if span.kind is SpanKind.ORDINAL]
    if (found.intent is not None and found.slots.choice is None) or len(numbers) != 1 or len(heard.spans) != 1:
        return None
    text, beside = heard.transcript.text, grammar(language(heard.transcript.locale)).patterns.orders.beside_a_day
    if not beside.fullmatch(text[: numbers[0].start] + text[numbers[0].end :]):  # "anything but the third"
        return None
    days = (stretch.start + timedelta(days=n) for n in range((stretch.end - stretch.start).days + 1))
    meant = [DateValue.day(each) for each in days if str(each.day) == str(numbers[0].value)]
    if len(meant) != 1:
        return None
    evidence = Evidence(numbers[0].start, numbers[0].end, numbers[0].surface, numbers[0].rule)
    slots = Slots(date=Slot(meant[0], evidence))
    return Understood(Intent.INFORM, slots, route=Route.FAST, confidence=1.0, rule=numbers[0].rule)
