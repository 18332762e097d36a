"""A sentence cut at its pauses and conjunctions so that as much of it as can be is read, and as few pieces are made."""

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from schemas.intent import READING
from services.understanding.fast.clauses.clauses import Clauses, pauses
from services.understanding.fast.words.hearing import Hearing

_MOST_CUTS: Final = 8
"""Places at which one sentence is cut."""
_MOST_PIECES: Final = 6
Read: TypeAlias = Callable[[int, int], Clauses]
_Cost = tuple[int, int]
"""Units that nobody read, and pieces."""


def segmented(hearing: Hearing, read: Read, start: int, end: int) -> list[Clauses] | None:
    """The pieces of units `start` … `end`, in order; None where there is no place to cut, or two amounts are named."""
    return _best(list(_places(hearing, start, end)), read, start, end)


def run_on(hearing: Hearing, read: Read, start: int, end: int) -> list[Clauses] | None:
    """The pieces, cut also where a clause begins without mark or conjunction, as recognisers write.

    None if any is left unread, for what stood before may have governed it.
    """
    places = dict(_places(hearing, start, end))
    places |= {at: at for at in range(start + 1, end) if at not in places and begins(hearing, at)}
    subjects = hearing.grammar.words.subjects

    def told(begin: int, stop: int) -> Clauses:
        """A piece; what is nothing of an order has a subject of its own, and is no "maybe" to what follows."""
        made = read(begin, stop)
        idle = not made.read and not made.unread and subjects.isdisjoint(hearing.reading.words[begin:stop])
        return Clauses((), ((begin, stop),)) if idle else made

    found = _best(sorted(places.items()), told, start, end)
    if found is None or unread(found) or any(part.intent in READING for piece in found for part in piece.read):
        return None  # "what kind of money i've spent" is one clause
    return found


def begins(hearing: Hearing, at: int) -> bool:
    """Whether a clause of its own begins at unit `at`, and not one that the word before it governs: "he thinks i"."""
    grammar, reading = hearing.grammar, hearing.reading
    words, classes = reading.words, grammar.words
    before = words[at - 1]
    if {at - 1, at} <= reading.within or before in classes.governing:
        return False
    if grammar.phrases.requests.begins(words, at):
        return True
    if at in reading.taken or not grammar.phrases.tellings.begins(words, at):
        return False
    governs = (classes.finite, classes.asking, classes.light, classes.onto, classes.outof)
    verb = before.endswith(("ed", "s")) and at - 1 not in reading.within  # "the letter states i must"
    return not verb and not any(before in each for each in governs)


def _best(places: list[tuple[int, int]], read: Read, start: int, end: int) -> list[Clauses] | None:
    """The pieces of which most is read, and the fewest."""
    cuts = [(start, start), *places, (end, end)]
    if not 2 < len(cuts) <= _MOST_CUTS + 2:  # noqa: PLR2004 - a place besides the two ends
        return None
    best: dict[int, tuple[_Cost, list[Clauses]]] = {0: ((0, 0), [])}
    for after in range(1, len(cuts)):
        for before in range(after):
            begin, stop = cuts[before][1], cuts[after][0]
            if before not in best or begin >= stop:
                continue
            (missed, pieces), made = best[before]
            piece = read(begin, stop)
            cost = missed + unread([piece]), pieces + 1
            if after not in best or cost < best[after][0]:
                best[after] = cost, [*made, piece]
    found = best.get(len(cuts) - 1)
    if found is None or len(found[1]) > _MOST_PIECES or _amounts(found[1]) > 1:
        return None
    return found[1]


def unread(pieces: list[Clauses]) -> int:
    """How many units of the pieces nobody read."""
    return sum(last - first for piece in pieces for first, last in piece.unread)


def corrects(hearing: Hearing) -> bool:
    """Whether words that announce a correction stand behind the first number, day or payee."""
    reading = hearing.reading
    places = range(min(reading.taken, default=0) + 1, len(reading.words))
    repairs = reading.phrases(hearing.grammar.cues.repairs)
    return any(repairs[at] for at in places if at not in reading.taken)


def _amounts(pieces: list[Clauses]) -> int:
    """How many of the pieces name an amount: "fifty and then fifty to ann" may be one amount said twice."""
    return sum(u.slots.amount is not None for piece in pieces for u in piece.read)


def _places(hearing: Hearing, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where a piece ends and the next one begins, in order."""
    marked = {begin for begin, _ in pauses(hearing, start, end)} - {start}
    at = start + 1
    while at < end:
        stop, symbols = hearing.grammar.phrases.conjunctions.longest(hearing.reading.words, at)
        joins = bool(symbols) and stop < end and at not in hearing.reading.taken
        if joins or at in marked:
            yield at, stop if joins else at
        at = max(stop if joins else at, at + 1)
