"""A question behind an order that it interrupts: "send ann thirty dollars, wait, how much do I have".

It is answered first, and the order waits: nothing is read back until the caller says to go on.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from schemas.ids import RuleId, language
from schemas.intent import MONEY_MOVING, Annotation, Context, Route, Understood
from services.understanding.cuts import Cut, announced_cuts, held_units
from services.understanding.fast.clauses import READING
from services.understanding.fast.grammar import Grammar, grammar
from services.understanding.merging import Again, Look

MAX_CUTS: Final = 3
"""Places at which one utterance is cut."""
_PRONOUN: Final = "pronoun"


def asked_first(heard: Annotation, context: Context, look: Look, again: Again) -> Understood | None:
    """The question, with the order behind it; None where no question interrupts one."""
    if not context.idle or context.code:
        return None
    rules, text = grammar(language(heard.transcript.locale)), heard.transcript.text
    for cut in reversed([*announced_cuts(rules, text, held_units(rules, heard))][-MAX_CUTS:]):
        words = rules.units(text[cut.start :]).words
        if cut.denies or not words or rules.conjunctions.longest(words, 0)[1]:
            continue
        order = look(0, cut.end, context)
        if order.intent not in MONEY_MOVING or order.rule is None or order.then is not None:
            continue
        for found in _questions(rules, text, cut, order, context, look, again):
            if found.intent in READING and found.route is Route.FAST and not (found.then or found.unread):
                rule = RuleId(f"{rules.accounts.id}.asked_first@{rules.accounts.version}")
                return replace(found, then=order, rule=rule)
    return None


def _questions(
    rules: Grammar, text: str, cut: Cut, order: Understood, context: Context, look: Look, again: Again
) -> Iterator[Understood]:
    """What the later part asks by itself, and with the order's bill in place of "it", or before it."""
    yield look(cut.start, len(text), context)
    bill, later = order.slots.bill, text[cut.start :]
    if bill is None:
        return
    if not rules.spaced:
        yield replace(again(bill.evidence.surface + later), slots=order.slots)
        return
    units = rules.units(later)
    for at in range(len(units.words)):
        if any(e.symbol == rules.symbols[_PRONOUN] and e.end == at + 1 for e in rules.trie.scan(units.words, at)):
            said = text[bill.evidence.start : cut.end]
            yield replace(again(later[: units.starts[at]] + said + later[units.ends[at] :]), slots=order.slots)
