"""The days of which a history is asked: those that were, up to today where they only begin: "since october".

A day that may be the last of its name or the next is the last one, and of two days all between them is meant, or both
where one follows the other: 先月と今月.
"""

from dataclasses import replace
from datetime import date, timedelta
from typing import Final

from schemas.ids import language
from schemas.intent import Annotation, Evidence, Intent, Slot, Understood
from schemas.span import Ambiguity, DateValue, Span, SpanKind
from services.understanding.fast.patterns.lattice import Trie
from services.understanding.fast.patterns.units import Units
from services.understanding.fast.ruleset.cue_phrases import CuePhrases
from services.understanding.fast.ruleset.grammar import grammar

_NEAR: Final = 3
"""Words before a day of which some may tell that a stretch of days begins or ends with it."""
_TWO: Final = 2


def looked_back(heard: Annotation, found: Understood) -> Understood:
    """The same, with the days that were; those of an order are let stand."""
    then = looked_back(heard, found.then) if found.then is not None else None
    found = found if then is found.then else replace(found, then=then)
    days = [span for span in heard.spans if span.kind is SpanKind.DATE and isinstance(span.value, DateValue)]
    if found.intent is not Intent.RECENT_TRANSACTIONS or not days:
        return found
    rules, text, slot = grammar(language(heard.transcript.locale)).cues, heard.transcript.text, found.slots.period
    units = grammar(language(heard.transcript.locale)).units(text)
    two = len(days) == _TWO and found.then is None
    if two and (_told(rules.ending, rules, units, days[1], between=days[0]) or _both(heard, *days)):
        first, last = sorted(days, key=lambda each: _was(each).start)
        begin, end = min(first.start, last.start), max(first.end, last.end)
        stretch = DateValue(_was(first).start, _was(last).end)
        said = Evidence(begin, end, text[begin:end], first.rule)
        ordered = stretch.start <= stretch.end
        return replace(found, slots=replace(found.slots, period=Slot(stretch, said))) if ordered else found
    day = next((each for each in days if slot is not None and each.start == slot.evidence.start), None)
    if slot is None or day is None:
        return found
    return replace(found, slots=replace(found.slots, period=replace(slot, value=_stretch(rules, units, day))))


def _both(heard: Annotation, one: Span, two: Span) -> bool:
    """Whether two stretches are joined as things are, of which one ends where the other begins."""
    read = grammar(language(heard.transcript.locale))
    joined = read.units(heard.transcript.text[one.end : two.start]).words in read.words.noun_conjunctions
    first, last = sorted(map(_was, (one, two)), key=lambda each: each.start)
    return joined and first.end + timedelta(days=1) == last.start


def _stretch(rules: CuePhrases, units: Units, day: Span) -> DateValue:
    """The day, or all from it on, or up to it."""
    was = _was(day)
    if _told(rules.since, rules, units, day):
        return replace(was, end=date.max)
    if _told(rules.until, rules, units, day):
        single = was.start == was.end
        return DateValue(date.min, was.end if single else was.start - timedelta(days=1))
    return was


def _was(day: Span) -> DateValue:
    """The last of those that it may be."""
    values = [each for each in day.values if isinstance(each, DateValue)]
    return min(values, key=lambda each: each.start) if day.ambiguity is Ambiguity.PAST_OR_FUTURE else values[0]


def _told(trie: Trie, rules: CuePhrases, units: Units, day: Span, between: Span | None = None) -> bool:
    """Whether words beside a day tell as much: before it, in a language with spaces, else behind it."""
    place = units.covering(day.start, day.end)
    other = units.covering(between.start, between.end) if between is not None else None
    if place is None or (between is not None and other is None):
        return False
    if not rules.spaced:
        return place[1] < len(units.words) and trie.begins(units.words, place[1])
    first = other[1] if other is not None else max(0, place[0] - _NEAR)
    return any(edge.end == place[0] for at in range(first, place[0]) for edge in trie.scan(units.words, at))
