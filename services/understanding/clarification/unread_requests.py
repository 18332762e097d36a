"""Something else that is wanted behind what is looked up or locked, and that nobody read: it is told to be missed.

"Freeze my card and order me a new one", "what's my balance and can you mail me a statement".
"""

from dataclasses import replace
from typing import Final

from schemas.ids import BillId, RuleId
from schemas.intent import READING, TOLD_ALONE, Intent, Route, Slot, Slots, Understood
from services.understanding.correction.said import Said
from services.understanding.fast.ruleset.meanings import CARDS

_RULE: Final = RuleId("intents.more_wanted@1")
_READ: Final = READING | TOLD_ALONE | CARDS
_MOST_BILLS: Final = 3
_MOST_LEAD: Final = 4
"""Words between "and" and what is wanted: "and could you please mail"."""


def more_wanted(said: Said, found: Understood) -> Understood | None:
    """What was read with that behind it; None where nothing else is wanted, or it was read."""
    rules, units, context = said.rules, said.units, said.context
    plain = found.intent in READING | CARDS and found.then is None and context.idle
    if not plain or not rules.spaced or rules.cues.deeds.isdisjoint(units.words):
        return None
    for at in range(1, len(units.words) - 1):
        begin = rules.phrases.conjunctions.longest(units.words, at)[0]
        if begin > at and begin < len(units.words) and _wished(said, begin):
            rest = said.look(units.starts[begin], len(said.text), context)
            more = Understood(Intent.QNA, route=Route.QNA, rule=_RULE)
            return None if rest.intent in _READ and rest.rule is not None else replace(found, then=more)
    return None


def enough_for(said: Said, found: Understood) -> Understood | None:
    """A balance with the bills that it is to be enough for: "do i have enough for the rent and the card bill"."""
    rules, words, nouns = said.rules, said.units.words, said.hearing.nouns
    plain = found.intent is Intent.BALANCE_INQUIRY and found.then is None and said.context.idle
    if not plain or found.slots.bill is not None or rules.cues.enough.isdisjoint(words):
        return None
    named = nouns.bills(words, next(i for i, word in enumerate(words) if word in rules.cues.enough))
    due: Understood | None = None
    for each in reversed(named[:_MOST_BILLS]):
        slots = Slots(bill=Slot(BillId(each), said.heard.whole(_RULE)))
        due = replace(found, intent=Intent.BILL_INQUIRY, slots=slots, rule=_RULE, then=due)
    return due and replace(found, then=due)


def _wished(said: Said, begin: int) -> bool:
    """Whether what is asked for in the first words from a unit on is a deed."""
    words = said.units.words[begin : begin + _MOST_LEAD + 1]
    at = next((i for i, word in enumerate(words) if word in said.rules.cues.deeds), None)
    return at is not None and (at == 0 or said.rules.phrases.requests.begins(said.units.words, begin))
