"""An account that is to pay an order and is none of the caller's: it is asked which own one pays.

"From emily's account": she is no payee then. "Out of my cash icer": what else was told there is kept.
"""

from dataclasses import replace

from schemas.ids import RuleId
from schemas.intent import MONEY_MOVING, Evidence, Mention, Slot, SlotName, Understood
from schemas.span import NUMBERS, MoneyValue, overlap
from services.understanding.correction.mentions import Mentions, Values
from services.understanding.correction.merging import values
from services.understanding.correction.said import Said

_RULE = RuleId("intents.unknown_source@1")


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


def unknown_source(said: Said, found: Understood) -> Understood | None:
    """The order with that account to be asked, where words behind "out of my" were not read; None where they were."""
    known = found.slots.source or found.then or any(each.slot is SlotName.SOURCE for each in found.unresolved)
    if not said.rules.spaced or not said.context.idle or found.intent not in MONEY_MOVING or known:
        return None
    for each in said.rules.patterns.names.drawn_on.finditer(said.text):
        name = said.heard.evidence(each.start("name"), each.end("name"), _RULE)
        over = next((left for left in found.unread if overlap(left, name)), None)
        if over is None or any(overlap(slot.evidence, name) for slot in values(found.slots).values()):
            continue
        slots, missing, amount = found.slots, found.missing, _sum_in(said, over)
        told = over.start >= each.start()
        if slots.amount is None and amount is not None and amount.evidence.end <= each.start():
            slots, told = replace(slots, amount=amount), True
            missing = tuple(slot for slot in missing if slot is not SlotName.AMOUNT)
        unread = tuple(left for left in found.unread if left is not over or not told)
        asked = (*found.unresolved, Mention(SlotName.SOURCE, name))
        return replace(found, slots=slots, missing=missing, unread=unread, unresolved=asked)
    return None


def _sum_in(said: Said, left: Evidence) -> Slot[MoneyValue] | None:
    """The amount among words that were not read, where no other number is told at all."""
    told = [span for span in said.heard.spans if span.kind in NUMBERS]
    if len(told) != 1 or not left.start <= told[0].start < left.end:
        return None
    return said.look(told[0].start, told[0].end, replace(said.context, asked=SlotName.AMOUNT)).slots.amount
