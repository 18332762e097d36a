"""Somebody whose account is to pay an order, "from emily's account": no payee, and it is asked which own one pays."""

from dataclasses import replace

from schemas.intent import Evidence, Mention, SlotName, Understood
from services.understanding.correction.mentions import Mentions, Values


def lenders(said: Mentions) -> list[Evidence]:
    """Where they are named, in a language with spaces."""
    if not said.grammar.spaced:
        return []
    text, units, outof = said.heard.transcript.text, said.reading.units, said.grammar.words.outof
    found = [evidence for evidence, _ in said.payees() if text.startswith(said.grammar.words.possessives, evidence.end)]
    places = [(evidence, units.covering(evidence.start, evidence.end)) for evidence in found]
    return [evidence for evidence, place in places if place and place[0] and units.words[place[0] - 1] in outof]


def without(named: Values, whose: list[Evidence]) -> Values:
    """All that is named, but for them and their accounts."""
    others = [(e, id_) for e, id_ in named["payee"] if all(e.start >= o.end or o.start >= e.end for o in whose)]
    return named | {"payee": others, "source": []}


def asked_source(made: Understood, whose: list[Evidence]) -> Understood:
    """The same order, of which it is asked what pays it."""
    named = Mention(SlotName.SOURCE, whose[0])
    unread = tuple(each for each in made.unread if all(each.start != one.start for one in whose))
    slots = replace(made.slots, source=None)
    return replace(made, slots=slots, unread=unread, unresolved=(*made.unresolved, named))
