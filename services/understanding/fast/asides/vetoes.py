"""Words that forbid a meaning wherever they stand, unless a longer phrase around them allows it."""

from typing import Final

from schemas.span import SpanKind
from services.understanding.fast.ruleset.grammar import ALLOWED
from services.understanding.fast.words.hearing import Hearing

_QUESTION: Final = "question"
_ASKING: Final = frozenset({"how", "whether"})
"""Questions that stop even an order in words of its own beside them."""


def vetoes_met(hearing: Hearing, start: int, end: int, known: frozenset[int] = frozenset()) -> set[str]:
    """The vetoes met on the way from unit `start` to `end`, but for those that begin in `known` ones."""
    found: set[str] = set()
    grammar, taken = hearing.grammar, hearing.reading.taken
    at, guards = start, hearing.reading.longest(grammar.guards)
    while at < end:
        stop, symbols = guards[at]
        if at in taken or at in known or not symbols or _amid_an_amount(hearing, stop):
            at += 1
        elif ALLOWED in symbols:
            at = stop
        else:
            found.update(grammar.guard_names[symbol] for symbol in symbols)
            at += 1
    return found if found.isdisjoint(_ASKING) else found | {_QUESTION}


def _amid_an_amount(hearing: Hearing, at: int) -> bool:
    """Whether an amount goes on at unit `at`: "send US$ | 70"."""
    place = hearing.reading.units.starts[at] if at in hearing.reading.within else None
    spans = hearing.heard.spans if place is not None else ()
    return any(span.kind is SpanKind.MONEY and span.start < place < span.end for span in spans if place is not None)


def goes_over(hearing: Hearing, at: int) -> bool:
    """Whether a veto's words begin before unit `at` and go on behind it without a pause: "no | need to"."""
    reading = hearing.reading
    if not 0 < at < len(reading.words) or hearing.text[reading.units.ends[at - 1] : reading.units.starts[at]].strip():
        return False
    guards = reading.longest(hearing.grammar.guards)
    return any(guards[begin][0] > at and ALLOWED not in guards[begin][1] and guards[begin][1] for begin in range(at))
