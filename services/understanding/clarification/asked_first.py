"""A question behind an order that it interrupts: "send ann thirty dollars, wait, how much do I have".

It is answered first, and the order waits: nothing is read back until the caller says to go on.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from schemas.ids import BillId, language
from schemas.intent import MONEY_MOVING, Annotation, Context, Intent, Route, Slot, Slots, Understood
from services.understanding.correction.cuts import Cut, announced_cuts, held_units
from services.understanding.correction.merging import Again, Look
from services.understanding.fast.clauses.clauses import READING
from services.understanding.fast.ruleset.grammar import Grammar, grammar

MAX_CUTS: Final = 3
"""Places at which one utterance is cut."""
_PRONOUN: Final = "pronoun"
_OPEN: Final = MONEY_MOVING | READING | {None, Intent.QNA, Intent.DENY, Intent.CANCEL}
"""What an utterance may have been taken for that holds an order and a question."""


def asked_first(heard: Annotation, found: Understood, context: Context, look: Look, again: Again) -> Understood | None:
    """The question, with the order behind it; None where no question interrupts one."""
    if not context.idle or context.code or not _may_hold_an_order(found):
        return None
    rules, text = grammar(language(heard.transcript.locale)), heard.transcript.text
    for cut in reversed([*announced_cuts(rules, text, held_units(rules, heard))][-MAX_CUTS:]):
        words = rules.units(text[cut.start :]).words
        if cut.denies or not words or rules.phrases.conjunctions.longest(words, 0)[1]:
            continue
        order = look(0, cut.end, context)
        if order.intent not in MONEY_MOVING or order.rule is None or order.then is not None:
            continue
        for asked in _questions(rules, text, cut, order, context, look, again):
            if _asks(asked):
                rule = rules.accounts.rule("asked_first")
                return replace(asked, then=order, rule=rule)
    return None


def _may_hold_an_order(found: Understood) -> bool:
    """Whether there may be an order in it, and something else."""
    beside = found.then or found.unread or found.rejected or found.rule is None or found.route is not Route.FAST
    return bool(beside) and found.intent in _OPEN


def _asks(found: Understood) -> bool:
    """Whether it is a question, all of it read; a merchant's name may be anything."""
    plain = found.intent in READING and found.route is Route.FAST and found.slots.merchant is None
    return plain and not (found.then or found.unread or found.unresolved)


def _questions(
    rules: Grammar, text: str, cut: Cut, order: Understood, context: Context, look: Look, again: Again
) -> Iterator[Understood]:
    """What the later part asks by itself, and with the order's bill in place of "it", or before it."""
    yield look(cut.start, len(text), context)
    yield look(cut.mark, len(text), context)
    bill, later = order.slots.bill, text[cut.start :]
    if bill is None:
        return
    if not rules.spaced:
        yield _about(bill, again(bill.evidence.surface + later))
        return
    units = rules.units(later)
    for at in range(len(units.words)):
        if any(e.symbol == rules.symbols[_PRONOUN] and e.end == at + 1 for e in rules.trie.scan(units.words, at)):
            said = text[bill.evidence.start : cut.end]
            yield _about(bill, again(later[: units.starts[at]] + said + later[units.ends[at] :]))


def _about(bill: Slot[BillId], found: Understood) -> Understood:
    """What was asked about this bill; nothing that moves or shows anything else."""
    asked = (
        found.intent is Intent.BILL_INQUIRY and found.slots.bill is not None and found.slots.bill.value == bill.value
    )
    return replace(found, slots=Slots(bill=bill)) if asked else Understood(None)
