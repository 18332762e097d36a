"""Where two commands said in one breath are joined: a conjunction that joins no nouns, a mark, a verb at its end."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final, TypeVar

from schemas.ids import RuleId
from schemas.intent import MONEY_MOVING, Evidence, Intent, Route, Slots, Understood
from services.understanding.fast.ruleset.meanings import on_its_day
from services.understanding.fast.words.hearing import Hearing

_Hearing = TypeVar("_Hearing", bound=Hearing)
MAX_JOINTS: Final = 12
"""Pairs of more pieces than people make would keep others waiting."""
_MAX_ENDS: Final = 3
"""Where the one behind the last that is read may end: so many places are tried."""
_RULE: Final = RuleId("intents.more_wanted@1")
_MARKS: Final = frozenset(",、，;；.。!！—–")
"""What may be written between two commands, or a refusal and a command."""


def joint(hearing: Hearing, at: int) -> int | None:
    """Where what is joined at unit `at` begins: after a conjunction, a mark that was written, or a verb at its end."""
    reading = hearing.reading
    stop, symbols = hearing.grammar.phrases.conjunctions.longest(reading.words, at)
    if symbols and at not in reading.taken:
        joins_nouns = reading.words[at:stop] in hearing.grammar.words.noun_conjunctions
        return None if joins_nouns and _after_a_verb(hearing, at) else stop
    between = hearing.text[reading.units.ends[at - 1] : reading.units.starts[at]]
    marked = at not in reading.within and _MARKS.intersection(between)
    return at if marked or (_names(hearing, at) and _after_a_verb(hearing, at)) else None


def joints(hearing: Hearing, start: int) -> list[tuple[int, int]]:
    """Where something may end from unit `start` on, and where what is joined to it begins."""
    size, known = len(hearing.reading.words), hearing.reading.joined
    places = range(start + 1, size - 1)
    known.update((at, joint(hearing, at)) for at in places if at not in known)
    return [(at, stop) for at in places if (stop := known[at]) is not None and stop < size]


def on_the_same_day(hearing: Hearing, found: Understood) -> Understood:
    """Orders of which a later one is for the day of the one before, where that is said between them."""
    words, said, then = hearing.reading.words, hearing.grammar.cues.same_day, found.then
    if then is None or found.intent not in MONEY_MOVING or not said.meets(words):
        return found
    ends, begins = ([e.start for e in _evidence(order.slots)] for order in (found, then))
    starts = (hearing.reading.units.starts[at] for at in range(len(words)) if said.begins(words, at))
    between = any(max(ends, default=0) < start < min(begins, default=0) for start in starts)
    then = on_its_day(then, found.slots.date) if between else then
    return replace(found, then=on_the_same_day(hearing, then))


def _evidence(slots: Slots) -> list[Evidence]:
    told = (getattr(slots, name) for name in Slots.__slots__)
    return [slot.evidence for slot in told if slot is not None]


def first_of(
    hearing: _Hearing, start: int, part: Callable[[_Hearing, int, int], Understood | None]
) -> Understood | None:
    """The first of more commands than are taken in one breath: what is said behind it is told to be unread."""
    cuts, size = joints(hearing, start), len(hearing.reading.words)
    for at, stop in cuts[:MAX_JOINTS]:
        one = part(hearing, start, at)
        ends = [*[end for end, _ in cuts if end > stop][:_MAX_ENDS], size]
        if one is None or not any(part(hearing, stop, end) for end in ends):
            continue
        begin, end = hearing.reading.units.starts[stop], hearing.reading.units.ends[size - 1]
        rest = Evidence(begin, end, hearing.text[begin:end], _RULE)
        if one.intent in MONEY_MOVING:
            return replace(one, unread=(*one.unread, rest))
        return replace(one, then=Understood(Intent.QNA, route=Route.QNA, rule=_RULE))
    return None


def _names(hearing: Hearing, at: int) -> bool:
    """Whether a value, somebody's name, or a thing of the caller's begins at unit `at`: 「送って電気代も」."""
    reading = hearing.reading
    begins = at in reading.taken and at not in reading.within
    return begins or hearing.nouns.trie.begins(reading.words, at)


def _after_a_verb(hearing: Hearing, at: int) -> bool:
    """Whether a verb with its ending may end before unit `at`."""
    return any(edge.end == at for edges in hearing.reading.verbs for edge in edges)
