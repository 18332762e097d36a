"""The wish for a person, a goodbye, a moment, in words of no template: by a cue, where nothing of an order is told."""

from typing import Final

from schemas.ids import RuleId
from schemas.intent import Annotation, Intent, Route, Understood
from services.understanding.fast.patterns.lattice import FILLER
from services.understanding.fast.ruleset.grammar import BANKING, Grammar
from services.understanding.fast.words.reading import UtteranceLattice

RULE: Final = RuleId("intents.partings@1")
_STOPS: Final = frozenset({"question", "negation", "past", "conditional", "reported", "recurring"})
_SURE: Final = 0.8
_FIRST: Final = 8
"""Units within which a wish for a moment begins, where why it is wanted comes behind it."""
_NEAR: Final = 8
"""Units between a wish to speak and with whom, at most."""
_LAST: Final = 4
"""Units at the end of which one is a goodbye."""


def parting(grammar: Grammar, heard: Annotation, reading: UtteranceLattice, vetoes: set[str]) -> Understood | None:
    """A person who is wanted, or a goodbye; never in a language whose rules have no such cues."""
    if not {"reach", "goodbye", "human"} <= grammar.symbols.keys() or heard.spans or vetoes & _STOPS:
        return None
    if _wants_a_person(grammar, reading):
        return Understood(Intent.HUMAN_HANDOFF, route=Route.HUMAN, confidence=_SURE, rule=RULE)
    size = len(reading.words)
    banking = any(e.symbol == BANKING for edges in reading.phrases(grammar.routing) for e in edges)
    said = any(
        e.symbol == grammar.symbols["goodbye"]
        for at in range(max(0, size - _LAST), size)
        for e in reading.lattice.edges(at)
    )
    if banking or not said or heard.payees is not None:
        return None
    return Understood(Intent.FAREWELL, route=Route.FAST, confidence=_SURE, rule=RULE)


def person_offered(grammar: Grammar, reading: UtteranceLattice, vetoes: set[str]) -> Understood | None:
    """A person, where words beside the wish were misheard while an order waits: "me speak to a person"."""
    if vetoes & _STOPS or not {"reach", "human"} <= grammar.symbols.keys() or not _wants_a_person(grammar, reading):
        return None
    return Understood(Intent.HUMAN_HANDOFF, route=Route.CLARIFY, confidence=_SURE, rule=RULE)


def holding(grammar: Grammar, heard: Annotation, reading: UtteranceLattice) -> Understood | None:
    """The wish for a moment behind why it is wanted, where a language says so last: 「孫が呼んでるので待って」."""
    if grammar.spaced:
        return None
    size = len(reading.words)
    if not any(reading.phrases(grammar.phrases.holds)):
        return None
    verbs = [each.edges(reading.words, at) for at in range(size)] if (each := grammar.endings) is not None else []
    inside = {at for edges in verbs for edge in edges for at in range(edge.start + 1, edge.end)}  # 貯まって
    holds = [0 if at in inside else grammar.phrases.holds.longest(reading.words, at)[0] for at in range(size)]
    begins = any(end > at for at, end in enumerate(holds[:_FIRST]))
    named = heard.payees is not None and bool(heard.payees.candidates)
    if not (begins or size in holds) or named or _told(heard, reading) or _changes(grammar, reading):
        return None
    return Understood(Intent.WAIT, route=Route.FAST, confidence=_SURE, rule=RULE)


def _told(heard: Annotation, reading: UtteranceLattice) -> bool:
    """Whether a number or a day is told; "now" says nothing."""
    places = (reading.units.covering(span.start, span.end) for span in heard.spans)
    return any(
        place is None or not any(e.symbol == FILLER and e.end == place[1] for e in reading.lattice.edges(place[0]))
        for place in places
    )


def _changes(grammar: Grammar, reading: UtteranceLattice) -> bool:
    """Whether a word takes something back, or names a part of an order."""
    tries = (grammar.accounts.undoing, grammar.accounts.parts, grammar.phrases.relative)
    return any(any(reading.phrases(trie)) for trie in tries)


def _wants_a_person(grammar: Grammar, reading: UtteranceLattice) -> bool:
    """Whether somebody of the bank stands near behind words of speaking or connecting."""
    reach, human = grammar.symbols["reach"], grammar.symbols["human"]
    size = len(reading.words)
    if not {reach, human} <= reading.lattice.said():
        return False
    ends = [e.end for at in range(size) for e in reading.lattice.edges(at) if e.symbol == reach]
    starts = [at for at in range(size) for e in reading.lattice.edges(at) if e.symbol == human]
    return any(end <= start <= end + _NEAR for end in ends for start in starts)
