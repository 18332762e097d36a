"""An order in words that a recogniser, or a hasty hand, writes for others that sound alike: "sand fifty two ann"."""

from itertools import combinations
from typing import Final

from schemas.consent import Awaited
from schemas.intent import MONEY_MOVING, Route, Understood
from schemas.span import Span
from services.understanding.correction.merging import said_in, with_words
from services.understanding.correction.said import Said

_MOST: Final = 3
"""Words that are taken for others, at most."""


def misheard(said: Said, found: Understood) -> Understood | None:
    """The one order that the words tell with the fewest of them taken for others.

    None where anything is awaited, something was surely understood, or they may tell two.
    """
    context, text = said.context, said.text
    if found.route is Route.FAST or found.vetoes or context.code or context.terms.awaited is not Awaited.NOTHING:
        return None
    places = [place for place in _places(said) if not any(_within(place, span) for span in said.heard.spans)]
    for count in range(1, _MOST + 1) if len(places) <= _MOST else ():
        orders = [
            meant
            for taken in combinations(places, count)
            if (meant := said_in(said.again(_put(text, taken)), text)).intent in MONEY_MOVING
            if meant.route is Route.FAST and meant.whole and not meant.missing
        ]
        if orders:
            return orders[0] if all(each.slots == orders[0].slots for each in orders) else None
    return None


def _places(said: Said) -> list[tuple[int, int, str]]:
    """Where words stand that may be others, as code points, and those others."""
    units, table = said.units, said.rules.cues.misheard
    sizes = {len(words) for words in table}
    return [
        (units.starts[at], units.ends[at + size - 1], other)
        for at in range(len(units.words))
        for size in sizes
        if at + size <= len(units.words)
        for other in table.get(units.words[at : at + size], ())
    ]


def _within(place: tuple[int, int, str], span: Span) -> bool:
    """Whether a word is part of a number or a day: the "four" of "fifty four"."""
    return span.start < place[1] and place[0] < span.end and (span.start, span.end) != place[:2]


def _put(text: str, taken: tuple[tuple[int, int, str], ...]) -> str:
    for place in taken:
        text = with_words(text, *place)
    return text
