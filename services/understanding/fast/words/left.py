"""What a money command leaves unread: every word of it is in a slot, in a form that matched, or is asked about.

A day with a limit ("by friday"), a stretch of days, a time, a name that a wildcard took and nobody bears: none of them
is left out, and none is taken for a slot's value. They become mentions of the slot they are about, or stay words.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from schemas.ids import BillId, RuleId
from schemas.intent import Annotation, Evidence, Mention, Slot, SlotName, Slots, Understood
from schemas.span import Ambiguity, DateValue, Span, SpanKind
from services.understanding.fast.patterns.lattice import Trie
from services.understanding.fast.patterns.units import Units
from services.understanding.fast.ruleset.accounts import COUNTED, Accounts

_DATED: Final = frozenset({SpanKind.DATE, SpanKind.TIME})
_VAGUE: Final = frozenset({Ambiguity.APPROXIMATE, Ambiguity.RANGE})
_RULE: Final = RuleId("intents.accounts@1")
_POSSESSIVES: Final = ("'s", "’s")
_FIRST_DAY: Final = 4
"""Lower ordinals choose one of several."""
_MAX_PURPOSE: Final = 7
"""Words that tell what money is for, at most."""
_OF_A_BILL: Final = frozenset({"の", "分の", "の分の"})
"""What stands between a bill and the month it is for."""
_JAPANESE_MARKS: Final = "、。"
_MONTH_S: Final = "分の"
_OF: Final = "の"
_AS_THEN: Final = ("の", "と同", "と一", "とお", "みた")
"""Behind a day that is over, where it tells what is paid for, or how it was then: 「先月と同じ額」."""
_OF_A_DAY: Final = frozenset({"の", "", " "})
"""What stands between a day and a part of it."""
_MAX_PART: Final = 3
"""Words before an amount that tell that a part of it is meant, at most."""
_MAX_WORDS: Final = 4
"""Words before a day that tell when the caller speaks, at most."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """What of an utterance is in no slot: words that nothing was made of, and what was said not to be meant."""

    unread: tuple[Evidence, ...] = ()
    refused: tuple[Evidence, ...] = ()


def settled(rules: Accounts, heard: Annotation, units: Units, found: Understood, left: Leftover) -> Understood:
    """`found` with everything that no slot holds as a mention or as unread words."""
    if found.intent not in COUNTED:
        return found
    left = replace(left, unread=(*left.unread, *_about_how_much(rules, heard, units, found.slots)))
    found, limits = _days(rules, heard, units, found)
    taken = [
        *_evidence(found.slots),
        *(mention.evidence for mention in found.unresolved),
        *left.unread,
        *left.refused,
        *limits,
    ]
    spans = [
        Evidence(span.start, span.end, span.surface, span.rule)
        for span in heard.spans
        if (span.kind in _DATED or (found.slots.date is None and _day_alone(heard, span)))
        and span.surface not in rules.now
        and not any(_overlap(span.start, span.end, each) for each in taken)
        and not _of_a_thing(rules, heard, units, span, found.slots.bill)
        and not _its_morning(rules, heard, span, found.slots.date)
        and not _then(rules, heard, units, span)
    ]
    mentions = [_widened(rules, heard, units, mention) for mention in found.unresolved]
    mentions += [Mention(SlotName.DATE, each) for each in (*limits, *spans)]
    rest: list[Evidence] = []
    for each in left.unread:
        slot = rules.kind(each.surface)
        if slot is None:
            rest.append(each)
        else:
            mentions.append(Mention(slot, each))
    return replace(found, unresolved=tuple(mentions), unread=tuple(rest))


def _about_how_much(rules: Accounts, heard: Annotation, units: Units, slots: Slots) -> tuple[Evidence, ...]:
    """Words beside the amount that leave open how much it is: "forty something", "half of eighty"."""
    place = units.covering(slots.amount.evidence.start, slots.amount.evidence.end) if slots.amount else None
    if place is None:
        return ()
    begin, stop = place
    paused = (
        heard.transcript.text.startswith(tuple(_JAPANESE_MARKS), slots.amount.evidence.end) if slots.amount else False
    )
    end = (
        stop if paused or stop == len(units.words) else rules.inexact.longest(units.words, stop)[0]
    )  # 「三万円、ちょっと急ぎで」
    places = range(max(0, begin - _MAX_PART), begin)
    part = next((at for at in places if _ends(rules.unmeasured, units, at, begin)), begin)
    edges = ((part, begin), (stop, end))
    return tuple(_words(heard, units, first, last) for first, last in edges if last > first)


def _ends(trie: Trie, units: Units, at: int, end: int) -> bool:
    """Whether a phrase goes from unit `at` to `end`."""
    return any(edge.end == end for edge in trie.scan(units.words, at))


def _day_alone(heard: Annotation, span: Span) -> bool:
    """Whether an ordinal that no list of choices holds stands at the end of a clause: "the phone bill, twentieth"."""
    behind = heard.transcript.text[span.end :].lstrip(" ")[:1]
    return span.kind is SpanKind.ORDINAL and int(str(span.value)) >= _FIRST_DAY and not behind.isalnum()


def unmatched(
    rules: Accounts, heard: Annotation, units: Units, named: Iterable[tuple[int, int]]
) -> tuple[Mention, ...]:
    """Times and accounts in words that no template took: they are asked for, should a task come of the words."""
    dated = [s for s in heard.spans if s.kind in _DATED and s.surface not in rules.now]
    spans = [s for s in dated if not _of_a_thing(rules, heard, units, s)]
    days = [Evidence(s.start, s.end, s.surface, s.rule) for s in spans] or [
        _words(heard, units, edge.start, edge.end)
        for at in range(len(units.words))
        for edge in rules.times.scan(units.words, at)
        if (edge.end > at + 1) or (rules.spaced and not any(s.start <= units.starts[at] < s.end for s in dated))
    ]
    places = [_words(heard, units, start, end) for start, end in named] or [
        _words(heard, units, at if rules.spaced else _clause(rules, units, at), edge.end)
        for at in range(len(units.words))
        for edge in rules.places.scan(units.words, at)
        if (edge.end > at + 1 if rules.spaced else _pays(rules, units, edge.end))  # "the joint one", 多いほうから
    ]
    return (
        *(Mention(SlotName.DATE, each) for each in days[:1]),
        *(Mention(SlotName.SOURCE, each) for each in places[:1]),
    )


def _clause(rules: Accounts, units: Units, at: int) -> int:
    """Where what tells of the word at unit `at` begins: behind a particle, or a mark."""
    first = max(0, at - _MAX_PURPOSE)
    begins = (
        b for b in range(at, first, -1) if units.words[b - 1] in rules.particles or units.ends[b - 1] < units.starts[b]
    )
    return next(begins, first)


def _pays(rules: Accounts, units: Units, end: int) -> bool:
    """Whether what ends before unit `end` is what money comes from."""
    return end < len(units.words) and any(edge.end > end for edge in rules.outof.scan(units.words, end))


def unknown(known: Trie, heard: Annotation, units: Units) -> tuple[Evidence, ...]:
    """The words that are no amount, no day, not the payee, and in no rule of the language."""
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
    return tuple(_words(heard, units, begin, stop) for begin, stop in found)


def _words(heard: Annotation, units: Units, begin: int, stop: int) -> Evidence:
    start, end = units.starts[begin], units.ends[stop - 1]
    return Evidence(start, end, heard.transcript.text[start:end], _RULE)


def _days(rules: Accounts, heard: Annotation, units: Units, found: Understood) -> tuple[Understood, list[Evidence]]:
    """The day, if it is one: a limit and a stretch of days are none."""
    day = found.slots.date
    if day is None:
        return found, []
    span = next((s for s in heard.spans if s.start == day.evidence.start and s.kind is SpanKind.DATE), None)
    if span is not None and _of_a_thing(rules, heard, units, span, found.slots.bill):
        return replace(found, slots=replace(found.slots, date=None)), []
    place = units.covering(day.evidence.start, day.evidence.end)
    limit = rules.limited(units, *place) if place is not None else None
    vague = span is not None and (span.ambiguity in _VAGUE or "against" in span.rule)
    vague = vague or (place is not None and _spent_then(rules, units, place[1]))
    if limit is None and day.value.start == day.value.end and not vague:
        return found, []
    begin, stop = limit or place or (0, 0)
    without = replace(found, slots=replace(found.slots, date=None))
    return without, [replace(_words(heard, units, begin, stop), rule=day.evidence.rule)]


def _of_a_thing(rules: Accounts, heard: Annotation, units: Units, span: Span, bill: Slot[BillId] | None = None) -> bool:
    """Whether a day tells which thing is meant, or when the caller speaks: "this month's rent", "my call today"."""
    place = units.covering(span.start, span.end)
    if place is None:
        return False
    begin, end = place
    text = heard.transcript.text
    owned = text.startswith(_POSSESSIVES, span.end) or text.endswith(_POSSESSIVES, 0, units.ends[end - 1])
    if owned and any(rules.things.scan(units.words, at) for at in range(end, min(end + 2, len(units.words)))):
        return True
    if rules.happens(units, end) or rules.borrowed(units, begin, end) or _its_month(rules, units, begin, end):
        return True
    if bill is not None and elapsed(rules, units, begin, end) and _of_the_bill(text, span, bill.evidence):
        return True
    if elapsed(rules, units, begin, end) and _spent_on(rules, heard, units, begin):
        return True
    if begin and text[units.ends[begin - 1] : units.starts[begin]].strip():
        begin = 0  # "just calling, tomorrow send …"
    return any(units.words[begin - size : begin] in rules.speaking for size in range(1, min(_MAX_WORDS, begin) + 1))


def _spent_then(rules: Accounts, units: Units, end: int) -> bool:
    """Whether a day to come tells when the money will be spent, and maybe not when to send it: 「明日の飲み代」."""
    of = end + 1 < len(units.words) and units.words[end] == _OF
    return of and bool(rules.occasions.scan(units.words, end + 1))


def _its_month(rules: Accounts, units: Units, begin: int, end: int) -> bool:
    """Whether a month that is over or goes on tells what is paid for, or any day that is over: 「昨日の飲み代」."""
    behind = "".join(units.words[end : end + 2])
    if behind.startswith(_AS_THEN) and any(edge.end == end for edge in rules.past_days.scan(units.words, begin)):
        return True
    if behind == _MONTH_S and rules.things.scan(units.words, end + 2):
        return True  # 「来月分の家賃」
    of = end + 1 < len(units.words) and units.words[end] == _OF
    return of and bool(rules.things.scan(units.words, end + 1)) and elapsed(rules, units, begin, end)


def _its_morning(rules: Accounts, heard: Annotation, span: Span, day: Slot[DateValue] | None) -> bool:
    """Whether a time is but the beginning of the day that is told before it: 「明日の朝」."""
    behind = day is not None and heard.transcript.text[day.evidence.end : span.start] in _OF_A_DAY
    return behind and span.surface in rules.morning


def _then(rules: Accounts, heard: Annotation, units: Units, span: Span) -> bool:
    """Whether a time belongs to a day that is over, and tells what is paid for: 「昨夜の飲み代」."""
    place = units.covering(span.start, span.end)
    if place is None or not heard.transcript.text.startswith(_OF, span.end):
        return False
    begin, end = place
    starts = range(max(0, begin - _MAX_WORDS), end)
    return any(edge.end == end for at in starts for edge in rules.past_days.scan(units.words, at))


def _of_the_bill(text: str, span: Span, bill: Evidence) -> bool:
    """Whether a month tells which bill is meant: 「今月の電気代」, 「電気の先月分」."""
    month = isinstance(span.value, DateValue) and span.value.start != span.value.end
    between = text[span.end : bill.start] if span.end <= bill.start else text[bill.end : span.start]
    return month and between in _OF_A_BILL


def elapsed(rules: Accounts, units: Units, begin: int, end: int) -> bool:
    """Whether a day was before the caller speaks, as it is named: "last weekend", "two days ago"."""
    return any(edge.end <= end for at in range(begin, end) for edge in rules.elapsed.scan(units.words, at))


def _spent_on(rules: Accounts, heard: Annotation, units: Units, end: int) -> bool:
    """Whether the words before unit `end` tell what the money is for, and nothing of the order behind that."""
    begin = next(
        (at for at in reversed(range(max(0, end - _MAX_PURPOSE), end)) if units.words[at] in rules.purposes), end
    )
    if begin >= end - 1:
        return False
    first, last = units.starts[begin], units.starts[end]
    match = heard.payees
    named = match is not None and match.choice is not None and first <= match.start < last
    return not named and not any(first <= span.start < last for span in heard.spans)


def _widened(rules: Accounts, heard: Annotation, units: Units, mention: Mention) -> Mention:
    """A day that is none, with the words that make a limit of it."""
    place = units.covering(mention.evidence.start, mention.evidence.end) if mention.slot is SlotName.DATE else None
    limit = rules.limited(units, *place) if place is not None else None
    return mention if limit is None else Mention(SlotName.DATE, _words(heard, units, *limit))


def _evidence(slots: Slots) -> list[Evidence]:
    held = (getattr(slots, name) for name in Slots.__slots__)
    return [slot.evidence for slot in held if isinstance(slot, Slot)]


def _overlap(start: int, end: int, other: Evidence) -> bool:
    return start < other.end and other.start < end
