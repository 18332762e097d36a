"""The wish for a person, a goodbye, a moment, in words of no template: by a cue, where nothing of an order is told."""

from typing import Final

from schemas.ids import RuleId
from schemas.intent import Intent, Route, Understood
from services.understanding.fast.patterns.lattice import FILLER
from services.understanding.fast.patterns.units import in_nouns
from services.understanding.fast.ruleset.grammar import BANKING
from services.understanding.fast.words.hearing import Hearing

RULE: Final = RuleId("intents.partings@1")
_STOPS: Final = frozenset({"question", "negation", "past", "conditional", "reported", "recurring"})
_SURE: Final = 0.8
_FIRST: Final = 8
"""Units within which a wish for a moment begins, where why it is wanted comes behind it."""
_NEAR: Final = 8
"""Units between a wish to speak and with whom, at most."""
_LAST: Final = 4
"""Units at the end of which one is a goodbye."""


def parting(hearing: Hearing, vetoes: set[str]) -> Understood | None:
    """A person who is wanted, or a goodbye; never in a language whose rules have no such cues."""
    grammar, reading = hearing.grammar, hearing.reading
    if not {"reach", "goodbye", "human"} <= grammar.symbols.keys() or hearing.heard.spans or vetoes & _STOPS:
        return None
    if _wants_a_person(hearing):
        return Understood(Intent.HUMAN_HANDOFF, route=Route.HUMAN, confidence=_SURE, rule=RULE)
    said = reading.lattice.of({grammar.symbols["goodbye"]}, max(0, len(reading.words) - _LAST))
    if BANKING in hearing.routed or not said or hearing.heard.payees is not None:
        return None
    return Understood(Intent.FAREWELL, route=Route.FAST, confidence=_SURE, rule=RULE)


def person_offered(hearing: Hearing, vetoes: set[str]) -> Understood | None:
    """A person, where words beside the wish were misheard while an order waits: "me speak to a person"."""
    if vetoes & _STOPS or not {"reach", "human"} <= hearing.grammar.symbols.keys() or not _wants_a_person(hearing):
        return None
    return Understood(Intent.HUMAN_HANDOFF, route=Route.CLARIFY, confidence=_SURE, rule=RULE)


def holding(hearing: Hearing) -> Understood | None:
    """The wish for a moment behind why it is wanted, where a language says so last: 「孫が呼んでるので待って」."""
    grammar, reading = hearing.grammar, hearing.reading
    if grammar.spaced:
        return None
    size = len(reading.words)
    if not any(reading.phrases(grammar.phrases.holds)):
        return None
    inside = {
        at for edges in reading.verbs for edge in edges for at in range(edge.start + 1, edge.end)
    }  # 貯まって, 止まって
    inside |= {
        at for at in range(1, size) if in_nouns(reading.words[at - 1]) and not in_nouns(reading.words[at])
    }  # 止まって
    holds = [0 if at in inside else grammar.phrases.holds.longest(reading.words, at)[0] for at in range(size)]
    begins = any(end > at for at, end in enumerate(holds[:_FIRST]))
    named = hearing.heard.payees is not None and bool(hearing.heard.payees.candidates)
    if not (begins or size in holds) or named or _told(hearing) or _changes(hearing):
        return None
    return Understood(Intent.WAIT, route=Route.FAST, confidence=_SURE, rule=RULE)


def _told(hearing: Hearing) -> bool:
    """Whether a number or a day is told; "now" says nothing."""
    edges = hearing.reading.lattice.edges
    places = (hearing.reading.units.covering(span.start, span.end) for span in hearing.heard.spans)
    return any(
        place is None or not any(e.symbol == FILLER and e.end == place[1] for e in edges(place[0])) for place in places
    )


def _changes(hearing: Hearing) -> bool:
    """Whether a word takes something back, or names a part of an order."""
    grammar = hearing.grammar
    tries = (grammar.cues.undoing, grammar.cues.parts, grammar.phrases.relative)
    return any(any(hearing.reading.phrases(trie)) for trie in tries)


def _wants_a_person(hearing: Hearing) -> bool:
    """Whether somebody of the bank stands near behind words of speaking or connecting."""
    reading = hearing.reading
    reach, human = hearing.grammar.symbols["reach"], hearing.grammar.symbols["human"]
    ones, others = reading.lattice.of({reach}), reading.lattice.of({human})
    return any(one.end <= other.start <= one.end + _NEAR for one in ones for other in others)
