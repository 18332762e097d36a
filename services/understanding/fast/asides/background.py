"""Clauses of a first sentence that no template takes: talk before what is ordered, a name alone, what it is for."""

from typing import Final

from schemas.ids import PayeeId, RuleId
from schemas.intent import Evidence, Intent, Route, Slot, Slots, Understood
from schemas.payee import MatchOutcome
from schemas.span import NUMBERS
from services.understanding.fast.asides.reasons import (
    EXACT,
    MOST,
    NO_REASON,
    VERBS,
    ClauseSpan,
    another_named,
    kin,
    names_a_part,
    tells,
)
from services.understanding.fast.asides.vetoes import vetoes_met
from services.understanding.fast.ruleset.grammar import BANKING
from services.understanding.fast.words.left import unknown

_RULE: Final = RuleId("intents.background@1")
_ACTS: Final = (*VERBS, "pay", "lock", "unlock", "card_opens")
"""Words for all that can be ordered."""
_CARD: Final = ("card", "cards")
_LOST: Final = "card_lost"
_MOST_OF_A_NAME: Final = 3
"""Words of a payee's name, at most."""


def background(clause: ClauseSpan) -> bool:
    """Whether a clause stands before all that is ordered and has no part of it: talk to a child, to oneself.

    What is denied in it is of a subject's own, and nothing that the caller wants, or in words of no rule of ours.
    """
    reading = clause.reading
    vetoes = vetoes_met(clause, clause.start, clause.end) & NO_REASON
    if vetoes - {"negation"} or not 1 <= len(clause.words) <= MOST or _first(clause) < clause.end:
        return False
    if vetoes and not (clause.subject and not _is(clause, ("lead",))) and not _of_no_rule(clause):
        return False
    lost = (_LOST,) if not set(_CARD).isdisjoint(reading.words) else ()
    if _is(clause, (*_ACTS, *lost)) and (vetoes or _is(clause, ("lead",)) or not _of_the_caller(clause)):
        return False
    timed = any(names_a_part(clause, at) for at in clause.places)
    return not (timed and not clause.subject) and not _of_banking(clause) and not another_named(clause)


def _of_banking(clause: ClauseSpan) -> bool:
    """Whether a clause speaks of what a bank does, or of a thing of the caller's: "on my statement, fifty dollars"."""
    grammar, reading = clause.grammar, clause.reading
    routing = reading.phrases(grammar.routing)
    told = any(edge.symbol == BANKING for at in clause.places for edge in routing[at])
    tries = [reading.phrases(trie) for trie in (grammar.cues.conditions, grammar.phrases.objecting)]
    hinders = any(rows[at] for at in clause.places for rows in tries)
    begins = clause.words[0] in grammar.words.onto | grammar.words.outof | {"for"}
    return told or hinders or begins or _owned(clause)


def called(clause: ClauseSpan) -> Understood | None:
    """The payee whose name is all that a clause says, where the search over all the words found nobody: "mom"."""
    words, (begin, stop) = clause.words, clause.points
    alone = 1 <= len(words) <= _MOST_OF_A_NAME and all(word.isalpha() for word in words)
    if clause.find_payee is None or clause.heard.payees is not None or not alone:
        return None
    said = clause.text[begin:stop]
    match = clause.find_payee(said)
    related = any(kin(clause, at) for at in clause.places)
    sure = match is not None and match.outcome is MatchOutcome.CLEAR
    clear = sure and match is not None and (related or match.candidates[0].score >= EXACT)
    if match is None or match.choice is None or not clear:
        return None
    slots = Slots(payee=Slot(PayeeId(match.choice), Evidence(begin, stop, said, _RULE)))
    return Understood(Intent.INFORM, slots, route=Route.FAST, confidence=0.9, rule=_RULE, payees=match)


def purposes(clause: ClauseSpan) -> list[int]:
    """The units at which it may begin what the money is for: words with no part of an order, to the clause's end."""
    words = clause.reading.words
    begins = [at for at in clause.places if words[at] == "for" and at > clause.start]
    return [at for at in begins if not any(_hinders(clause, i) for i in range(at + 1, clause.end))]


def _hinders(clause: ClauseSpan, at: int) -> bool:
    grammar, reading = clause.grammar, clause.reading
    symbols = grammar.named(_ACTS)
    verb = reading.lattice.of(symbols, at, at + 1)
    return bool(verb or at in reading.taken or tells(clause, at) or grammar.cues.repairs.scan(reading.words, at))


def _first(clause: ClauseSpan) -> int:
    """The unit at which the first number, day or payee stands."""
    units = clause.reading.units
    sums = (units.covering(s.start, s.end) for s in clause.heard.spans if s.kind in NUMBERS)
    return min([*clause.reading.taken, *(place[0] for place in sums if place is not None)], default=len(units.words))


def _is(clause: ClauseSpan, names: tuple[str, ...]) -> bool:
    """Whether there is a word of these lists among the units up to the clause's end."""
    symbols = clause.grammar.named(names)
    return any(edge.end <= clause.end for edge in clause.reading.lattice.of(symbols, 0, clause.end))


def _of_the_caller(clause: ClauseSpan) -> bool:
    """Whether it is the caller who does what a clause tells: "I get paid, I save"."""
    return clause.words[0] in clause.grammar.words.callers


def _of_no_rule(clause: ClauseSpan) -> bool:
    begin, stop = clause.points
    left = unknown(clause)
    return any(begin <= each.start and each.end <= stop for each in left)


def _owned(clause: ClauseSpan) -> bool:
    """Whether a thing of the caller's own is named in it."""
    nouns = clause.nouns
    rows = clause.reading.phrases(nouns.trie)
    edges = (edge for at in clause.places for edge in rows[at])
    return any(nouns.nouns[edge.symbol].id is not None for edge in edges)
