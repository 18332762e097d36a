"""An order for later on this day, or for some time: it could only go out now, so its day is asked. 「今日あとで」."""

from dataclasses import replace
from typing import Final

from schemas.ids import RuleId
from schemas.intent import MONEY_MOVING, Evidence, Intent, Mention, SlotName, Understood
from services.understanding.correction.merging import said_in, with_words
from services.understanding.correction.said import Said

_RULE: Final = RuleId("intents.some_time@1")
_OPEN: Final = MONEY_MOVING | {None, Intent.QNA, Intent.INFORM, Intent.CORRECT}
_MAX_WORDS: Final = 6
"""Units of a word for a time that stands before a day, at most."""


def later_on(said: Said, found: Understood) -> Understood | None:
    """The order, and those behind it, without this day where a part of it is told; None where none is."""
    then = found.then and later_on(said, found.then)
    made = replace(found, then=then) if then is not None else found
    day = found.slots.date
    told = _told(said, day.evidence) if found.intent in MONEY_MOVING and day is not None else None
    if told is None or day is None or day.value.end != said.today:
        return then and made
    mention = Mention(SlotName.DATE, told)
    unread = tuple(each for each in made.unread if not told.start <= each.start < told.end)
    slots, unresolved = replace(made.slots, date=None), (*made.unresolved, mention)
    return replace(made, slots=slots, unresolved=unresolved, unread=unread)


def some_time(said: Said, found: Understood) -> Understood | None:
    """The order whose time is no day: "in a bit", 「あとで送って」; None where it has a day."""
    idle = said.context.idle and not said.context.code
    read = found.sure and not said.rules.spaced  # "for the grockles in a bit" may be taken as what it is for
    if not idle or found.intent not in _OPEN or read or found.slots.date is not None:
        return None
    time = said.rules.patterns.orders.some_time.search(said.text)
    if time is None:
        return None
    start, end = time.span("time")
    order = said_in(said.again(with_words(said.text, start, end, "")), said.text)
    if not order.moves or not order.whole or order.slots.date is not None or order.vetoes:
        return None
    return replace(order, unresolved=(Mention(SlotName.DATE, said.heard.evidence(start, end, _RULE)),))


def _told(said: Said, day: Evidence) -> Evidence | None:
    """The words of a day with those beside it that tell a part of it."""
    units, later = said.units, said.rules.cues.later_on
    place = units.covering(day.start, day.end)
    if place is None:
        return None
    begin, end = place
    behind = end + 1 if end < len(units.words) and units.words[end] == said.rules.cues.of else end
    stop = later.longest(units.words, behind)[0]
    start = min((at for at in range(max(0, begin - _MAX_WORDS), begin) if _ends(said, at, begin)), default=begin)
    if start == begin and stop == behind:
        return None
    first, last = units.starts[start], units.ends[(stop if stop > behind else end) - 1]
    return replace(day, start=first, end=last, surface=said.text[first:last])


def _ends(said: Said, at: int, end: int) -> bool:
    return any(edge.end == end for edge in said.rules.cues.later_on.scan(said.units.words, at))
