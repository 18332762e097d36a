"""Days that are none of an order's: they tell which thing is meant, what money is for, or when the caller speaks."""

from typing import Final

from schemas.ids import BillId
from schemas.intent import Evidence, Slot
from schemas.span import DateValue, Span
from services.understanding.fast.words.hearing import Hearing

_MAX_PURPOSE: Final = 7
"""Words that tell what money is for, at most."""
_MAX_WORDS: Final = 4
"""Words before a day that tell when the caller speaks, at most."""


def of_a_thing(hearing: Hearing, span: Span, bill: Slot[BillId] | None = None) -> bool:
    """Whether a day tells which thing is meant, or when the caller speaks: "this month's rent", "my call today"."""
    rules, text, units = hearing.grammar.cues, hearing.text, hearing.reading.units
    place = units.covering(span.start, span.end)
    if place is None:
        return False
    begin, end = place
    owners = hearing.grammar.words.possessives
    owned = text.startswith(owners, span.end) or text.endswith(owners, 0, units.ends[end - 1])
    if owned and any(rules.things.begins(units.words, at) for at in range(end, min(end + 2, len(units.words)))):
        return True
    if (
        rules.this_time.longest(units.words, begin)[0] > end
        or rules.happens(units, end)
        or rules.borrowed(units, begin, end)
        or _its_month(hearing, begin, end)
    ):
        return True
    if bill is not None and elapsed(hearing, begin, end) and _of_the_bill(hearing, span, bill.evidence):
        return True
    if elapsed(hearing, begin, end) and _spent_on(hearing, begin):
        return True
    if begin and text[units.ends[begin - 1] : units.starts[begin]].strip():
        begin = 0  # "just calling, tomorrow send …"
    return any(units.words[begin - size : begin] in rules.speaking for size in range(1, min(_MAX_WORDS, begin) + 1))


def spent_then(hearing: Hearing, end: int) -> bool:
    """Whether a day to come tells when the money will be spent, and maybe not when to send it: 「明日の飲み代」."""
    rules, units = hearing.grammar.cues, hearing.reading.units
    of = end + 1 < len(units.words) and units.words[end] == rules.of
    return of and rules.occasions.begins(units.words, end + 1)


def _its_month(hearing: Hearing, begin: int, end: int) -> bool:
    """Whether a month that is over or goes on tells what is paid for, or any day that is over: 「昨日の飲み代」."""
    rules, units = hearing.grammar.cues, hearing.reading.units
    behind = "".join(units.words[end : end + 2])
    if behind.startswith(rules.as_then) and any(edge.end == end for edge in rules.past_days.scan(units.words, begin)):
        return True
    if rules.month_of and behind == rules.month_of and rules.things.scan(units.words, end + 2):
        return True  # 「来月分の家賃」
    of = end + 1 < len(units.words) and units.words[end] == rules.of
    return of and rules.things.begins(units.words, end + 1) and elapsed(hearing, begin, end)


def its_morning(hearing: Hearing, span: Span, day: Slot[DateValue] | None) -> bool:
    """Whether a time is but the beginning of the day that is told before it: 「明日の朝」."""
    rules = hearing.grammar.cues
    behind = day is not None and hearing.text[day.evidence.end : span.start] in rules.of_a_day
    return behind and span.surface in rules.morning


def of_then(hearing: Hearing, span: Span) -> bool:
    """Whether a time belongs to a day that is over, and tells what is paid for: 「昨夜の飲み代」."""
    rules, units = hearing.grammar.cues, hearing.reading.units
    place = units.covering(span.start, span.end)
    if place is None or not rules.of or not hearing.text.startswith(rules.of, span.end):
        return False
    begin, end = place
    starts = range(max(0, begin - _MAX_WORDS), end)
    return any(edge.end == end for at in starts for edge in rules.past_days.scan(units.words, at))


def _of_the_bill(hearing: Hearing, span: Span, bill: Evidence) -> bool:
    """Whether a month tells which bill is meant: 「今月の電気代」, 「電気の先月分」."""
    month = isinstance(span.value, DateValue) and span.value.start != span.value.end
    text = hearing.text
    between = text[span.end : bill.start] if span.end <= bill.start else text[bill.end : span.start]
    return month and between in hearing.grammar.cues.of_a_bill


def elapsed(hearing: Hearing, begin: int, end: int) -> bool:
    """Whether a day was before the caller speaks, as it is named: "last weekend", "two days ago"."""
    rules, units = hearing.grammar.cues, hearing.reading.units
    return any(edge.end <= end for at in range(begin, end) for edge in rules.elapsed.scan(units.words, at))


def _spent_on(hearing: Hearing, end: int) -> bool:
    """Whether the words before unit `end` tell what the money is for, and nothing of the order behind that."""
    rules, units, heard = hearing.grammar.cues, hearing.reading.units, hearing.heard
    begin = next(
        (at for at in reversed(range(max(0, end - _MAX_PURPOSE), end)) if units.words[at] in rules.purposes), end
    )
    if begin >= end - 1:
        return False
    first, last = units.starts[begin], units.starts[end]
    match = heard.payees
    named = match is not None and match.choice is not None and first <= match.start < last
    return not named and not any(first <= span.start < last for span in heard.spans)
