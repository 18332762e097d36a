"""What a money command leaves unread: every word of it is in a slot, in a form that matched, or is asked about.

A day with a limit ("by friday"), a stretch of days, a time, a name that a wildcard took and nobody bears: none of them
is left out, and none is taken for a slot's value. They become mentions of the slot they are about, or stay words.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from schemas.ids import RuleId, is_rule
from schemas.intent import COUNTED, Annotation, Evidence, Mention, Slot, SlotName, Slots, Understood
from schemas.span import DATED, Ambiguity, DateValue, Span, SpanKind, SpanReading, TimeValue, overlap
from services.understanding.fast.words.hearing import Hearing
from services.understanding.fast.words.other_days import its_morning, of_a_thing, of_then, spent_then

_VAGUE: Final = frozenset({Ambiguity.APPROXIMATE, Ambiguity.RANGE})
_AGAINST: Final = "dates.weekday_against_date"
_RULE: Final = RuleId("intents.left@1")
_FIRST_DAY: Final = 4
"""Lower ordinals choose one of several."""
_MAX_PURPOSE: Final = 7
"""Words that tell what money comes from, at most."""
_MARKS: Final = ("、", "。")
_MAX_PART: Final = 3
"""Words before an amount that tell that a part of it is meant, at most."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """What of an utterance is in no slot: words that nothing was made of, and what was said not to be meant."""

    unread: tuple[Evidence, ...] = ()
    refused: tuple[Evidence, ...] = ()


def settled(hearing: Hearing, found: Understood, left: Leftover) -> Understood:
    """`found` with everything that no slot holds as a mention or as unread words."""
    rules, heard = hearing.grammar.cues, hearing.heard
    if found.intent not in COUNTED:
        return found
    unread = (*left.unread, *_about_how_much(hearing, found.slots))
    found, limits = _days(hearing, found)
    taken = [
        *_evidence(found.slots),
        *(mention.evidence for mention in found.unresolved),
        *unread,
        *left.refused,
        *limits,
    ]
    spans = [
        Evidence.of(span)
        for span in heard.spans
        if (span.kind in DATED or (found.slots.date is None and _day_alone(heard, span)))
        and span.surface not in rules.now
        and not any(overlap(span, each) for each in taken)
        and not of_a_thing(hearing, span, found.slots.bill)
        and not its_morning(hearing, span, found.slots.date)
        and not of_then(hearing, span)
    ]
    mentions = [_widened(hearing, mention) for mention in found.unresolved]
    times = {s.start for s in heard.spans if s.kind is SpanKind.TIME and found.slots.date is not None}
    mentions += [Mention(SlotName.DATE, each) for each in (*limits, *spans) if each.start not in times]
    rest = [each for each in spans if each.start in times]  # the day is known: "tomorrow at noon"
    for each in unread:
        slot = rules.kind(each.surface)
        if slot is None:
            rest.append(each)
        else:
            mentions.append(Mention(slot, each))
    open_ = tuple(mentions), tuple(rest)
    same = open_ == (found.unresolved, found.unread)
    return found if same else replace(found, unresolved=open_[0], unread=open_[1])


def _about_how_much(hearing: Hearing, slots: Slots) -> tuple[Evidence, ...]:
    """Words beside the amount that leave open how much it is: "forty something", "half of eighty"."""
    rules, units = hearing.grammar.cues, hearing.reading.units
    place = units.covering(slots.amount.evidence.start, slots.amount.evidence.end) if slots.amount else None
    if place is None:
        return ()
    begin, stop = place
    paused = slots.amount is not None and hearing.text.startswith(_MARKS, slots.amount.evidence.end)
    ends = paused or stop == len(units.words)  # 「三万円、ちょっと急ぎで」
    end = stop if ends else rules.inexact.longest(units.words, stop)[0]
    places = range(max(0, begin - _MAX_PART), begin)
    part = next((at for at in places if any(e.end == begin for e in rules.unmeasured.scan(units.words, at))), begin)
    edges = ((part, begin), (stop, end))
    return tuple(_words(hearing, first, last) for first, last in edges if last > first)


def _day_alone(heard: Annotation, span: Span) -> bool:
    """Whether an ordinal that no list of choices holds stands at the end of a clause: "the phone bill, twentieth"."""
    behind = heard.transcript.text[span.end :].lstrip(" ")[:1]
    return span.kind is SpanKind.ORDINAL and int(str(span.value)) >= _FIRST_DAY and not behind.isalnum()


def unmatched(hearing: Hearing, named: Iterable[tuple[int, int]]) -> tuple[Mention, ...]:
    """Times and accounts in words that no template took: they are asked for, should a task come of the words."""
    rules, units, heard = hearing.grammar.cues, hearing.reading.units, hearing.heard
    dated = [s for s in heard.spans if s.kind in DATED and s.surface not in rules.now]
    spans = [s for s in dated if not of_a_thing(hearing, s)]
    days = [Evidence.of(s) for s in spans] or [
        _words(hearing, edge.start, edge.end)
        for edge in rules.times.edges(units.words)
        if edge.end > (at := edge.start) + 1
        or (rules.spaced and not any(s.start <= units.starts[at] < s.end for s in dated))
    ]
    places = [_words(hearing, start, end) for start, end in named] or [
        _words(hearing, edge.start if rules.spaced else _clause(hearing, edge.start), edge.end)
        for edge in rules.places.edges(units.words)
        if (edge.end > edge.start + 1 if rules.spaced else _pays(hearing, edge.end))  # "the joint one", 多いほうから
    ]
    return (
        *(Mention(SlotName.DATE, each) for each in days[:1]),
        *(Mention(SlotName.SOURCE, each) for each in places[:1]),
    )


def _clause(hearing: Hearing, at: int) -> int:
    """Where what tells of the word at unit `at` begins: behind a particle, or a mark."""
    rules, units = hearing.grammar.cues, hearing.reading.units
    first = max(0, at - _MAX_PURPOSE)
    begins = (
        b for b in range(at, first, -1) if units.words[b - 1] in rules.particles or units.ends[b - 1] < units.starts[b]
    )
    return next(begins, first)


def _pays(hearing: Hearing, end: int) -> bool:
    """Whether what ends before unit `end` is what money comes from."""
    units = hearing.reading.units
    return end < len(units.words) and any(edge.end > end for edge in hearing.grammar.cues.outof.scan(units.words, end))


def unknown(hearing: Hearing) -> tuple[Evidence, ...]:
    """The words that are no amount, no day, not the payee, and in no rule of the language."""
    known, heard, units = hearing.grammar.trie, hearing.heard, hearing.reading.units
    taken: set[int] = set()
    match = heard.payees
    places = [(span.start, span.end) for span in heard.spans] + ([(match.start, match.end)] if match else [])
    for start, end in places:
        taken.update(range(*(units.covering(start, end) or (0, 0))))
    found: list[tuple[int, int]] = []
    at, size = 0, len(units.words)
    while at < size:
        stop = known.longest(units.words, at)[0]
        if at not in taken and stop == at:
            joined = found and found[-1][1] == at
            found[-1:] = [(found[-1][0], at + 1)] if joined else [*found[-1:], (at, at + 1)]
        at = max(stop, at + 1)
    return tuple(_words(hearing, begin, stop) for begin, stop in found)


def _words(hearing: Hearing, begin: int, stop: int) -> Evidence:
    return hearing.said(begin, stop, _RULE)


def _days(hearing: Hearing, found: Understood) -> tuple[Understood, list[Evidence]]:
    """The day, if it is one: a limit and a stretch of days are none."""
    rules, heard, units = hearing.grammar.cues, hearing.heard, hearing.reading.units
    day = found.slots.date
    if day is None:
        return found, []
    span = next((s for s in heard.spans if s.start == day.evidence.start and s.kind is SpanKind.DATE), None)
    if span is not None and of_a_thing(hearing, span, found.slots.bill):
        return replace(found, slots=replace(found.slots, date=None)), []
    place = units.covering(day.evidence.start, day.evidence.end)
    limit = rules.limited(units, *place) if place is not None else None
    vague = span is not None and (span.ambiguity in _VAGUE or is_rule(span.rule, _AGAINST))
    vague = vague or (place is not None and spent_then(hearing, place[1]))
    vague = vague or (span is not None and any(_part_of_day(each) for each in span.rejected))  # tonight
    if limit is None and day.value.start == day.value.end and not vague:
        return found, []
    begin, stop = limit or place or (0, 0)
    without = replace(found, slots=replace(found.slots, date=None))
    return without, [replace(_words(hearing, begin, stop), rule=day.evidence.rule)]


def _part_of_day(reading: SpanReading) -> bool:
    """Whether a part of a day was meant: nothing is sent then, and it is not now."""
    return isinstance(reading.value, TimeValue) and reading.value.start != reading.value.end


def _widened(hearing: Hearing, mention: Mention) -> Mention:
    """A day that is none, with the words that make a limit of it."""
    rules, units = hearing.grammar.cues, hearing.reading.units
    place = units.covering(mention.evidence.start, mention.evidence.end) if mention.slot is SlotName.DATE else None
    limit = rules.limited(units, *place) if place is not None else None
    return mention if limit is None else Mention(SlotName.DATE, _words(hearing, *limit))


def _evidence(slots: Slots) -> list[Evidence]:
    held = (getattr(slots, name) for name in Slots.__slots__)
    return [slot.evidence for slot in held if isinstance(slot, Slot)]


def dated(hearing: Hearing, slots: Slots, mentions: tuple[Mention, ...]) -> Slots:
    """With the one day that is told beside what is offered and can be no other: it is offered with it."""
    days = [each.evidence for each in mentions if each.slot is SlotName.DATE]
    same = (
        s for s in hearing.heard.spans if [(s.start, s.end)] == [(e.start, e.end) for e in days] and not s.ambiguity
    )
    value = next((span.value for span in same if isinstance(span.value, DateValue)), None)
    sure = value is not None and value.start == value.end and slots.date is None
    return replace(slots, date=Slot(value, days[0])) if sure and value is not None else slots
