"""Where two commands said in one breath are joined: a conjunction that joins no nouns, a mark, a verb at its end."""

from functools import lru_cache
from typing import Final

from services.understanding.fast.ruleset.endings import Endings
from services.understanding.fast.words.hearing import Hearing

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


def _names(hearing: Hearing, at: int) -> bool:
    """Whether a value, somebody's name, or a thing of the caller's begins at unit `at`: 「送って電気代も」."""
    reading = hearing.reading
    begins = at in reading.taken and at not in reading.within
    return begins or hearing.nouns.trie.begins(reading.words, at)


def _after_a_verb(hearing: Hearing, at: int) -> bool:
    """Whether a verb with its ending may end before unit `at`."""
    endings = hearing.grammar.endings
    return endings is not None and at in _verb_ends(endings, hearing.reading.words)


@lru_cache(maxsize=32)
def _verb_ends(endings: Endings, words: tuple[str, ...]) -> frozenset[int]:
    return frozenset(edge.end for at in range(len(words)) for edge in endings.edges(words, at))
