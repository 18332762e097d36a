"""Where two commands said in one breath are joined: a conjunction that joins no nouns, or a mark that was written."""

from typing import Final

from services.understanding.fast.ruleset.grammar import Grammar
from services.understanding.fast.words.reading import UtteranceLattice

_MARKS: Final = frozenset(",、，;；.。!！—–")
"""What may be written between two commands, or a refusal and a command."""


def joint(rules: Grammar, text: str, reading: UtteranceLattice, at: int) -> int | None:
    """Where what is joined at unit `at` begins: after a conjunction, or after a mark that was written."""
    stop, symbols = rules.phrases.conjunctions.longest(reading.words, at)
    if symbols and at not in reading.taken:
        joins_nouns = reading.words[at:stop] in rules.words.noun_conjunctions
        return None if joins_nouns and _after_a_verb(rules, reading, at) else stop
    between = text[reading.units.ends[at - 1] : reading.units.starts[at]]
    return at if at not in reading.within and _MARKS.intersection(between) else None


def _after_a_verb(rules: Grammar, reading: UtteranceLattice, at: int) -> bool:
    """Whether a verb with its ending may end before unit `at`."""
    endings = rules.endings
    return endings is not None and any(edge.end == at for i in range(at) for edge in endings.edges(reading.words, i))
