"""What is said of an order that none of ours can hold: a note to it, a repetition, an amount that only callers know.

Nothing of it is passed over: at a read-back or a question it is answered, a repeated order is offered once.
"""

from dataclasses import replace
from typing import Final

from schemas.ids import RuleId, language
from schemas.intent import Annotation, Context, Evidence, Intent, Route, Slot, SlotName, Slots, Understood
from services.understanding.fast.grammar import Grammar, grammar
from services.understanding.fast.lattice import Trie
from services.understanding.fast.reading import UtteranceLattice, read
from services.understanding.fast.unmatched import ORDERS
from services.understanding.later import TOLD_ALONE
from services.understanding.merging import Again, said_in

NOTE: Final = "note"
"""The topic of words about a message that should go with the money,"""
REPEATED: Final = "repeated"
"""of those that want it more than once,"""
EXACT: Final = "exact"
"""and of those that tell an amount by what only the caller knows: "the usual"."""
_RECURRING: Final = (RuleId("veto.recurring"),)


def remarked(heard: Annotation, found: Understood, context: Context, again: Again) -> Understood | None:
    """The remark, or the order with it; None where there is none, or the words were understood."""
    waits = context.terms.awaited in ORDERS or context.asked is not None
    repeats = context.idle and found.intent is None and found.vetoes == _RECURRING
    unmeasured = context.idle and found.intent is Intent.TRANSFER_MONEY and found.slots.amount is None
    if not (repeats or unmeasured or (waits and _not_understood(found))):
        return None
    rules = grammar(language(heard.transcript.locale))
    reading = read(rules, heard, context)
    if repeats:
        return _once(rules, heard, found, reading, again)
    if unmeasured:
        return _by_other_words(rules, heard, found, reading)
    said = ((NOTE, rules.accounts.notes), (REPEATED, rules.accounts.recurring), (EXACT, rules.accounts.unmeasured))
    topics = [topic for topic, trie in said if _stands(trie, reading)]
    if not topics or (topics[0] == EXACT and context.asked is not SlotName.AMOUNT):
        return None
    topic = _about(topics[0], heard)
    if topics[0] == REPEATED and (told := _told_beside(rules, heard, reading, again)) is not None:
        return replace(told, slots=replace(told.slots, topic=topic.topic))
    return Understood(Intent.INFORM, topic, route=Route.FAST, confidence=1.0, rule=_rule(rules))


def _not_understood(found: Understood) -> bool:
    """Whether nobody understood it, but perhaps that something else is wanted."""
    open_ = found.intent is None or (found.intent is Intent.DENY and found.rule is None)
    return (open_ or found.rejected == (SlotName.PAYEE,)) and found.slots == Slots() and found.then is None


def _once(
    rules: Grammar, heard: Annotation, found: Understood, reading: UtteranceLattice, again: Again
) -> Understood | None:
    """What is ordered again and again, with one such order behind it: the words without those that repeat it."""
    text = heard.transcript.text
    plain = _single(rules, text, reading)
    order = again(plain) if plain != text else found
    paid = order.intent is Intent.BILL_PAYMENT and order.slots.bill is not None
    whole = paid or (order.intent is Intent.TRANSFER_MONEY and order.slots.amount is not None)
    if (
        not whole
        or order.route is not Route.FAST
        or order.missing
        or order.unread
        or order.unresolved
        or order.then is not None
    ):
        return None
    return replace(found, then=said_in(order, text))


def _told_beside(rules: Grammar, heard: Annotation, reading: UtteranceLattice, again: Again) -> Understood | None:
    """What else is corrected or answered in the same words: "make it 60 every month"."""
    text = heard.transcript.text
    plain = _single(rules, text, reading)
    told = again(plain) if plain.strip() and plain != text else None
    kept = told is not None and told.intent in TOLD_ALONE and told.slots != Slots() and not told.unread
    return said_in(told, text) if told is not None and kept else None


def _single(rules: Grammar, text: str, reading: UtteranceLattice) -> str:
    """The text, in the same places, without the words that repeat what is ordered."""
    units = reading.units
    places = {(e.start, e.end): "" for row in reading.phrases(rules.accounts.recurring) for e in row}
    places |= {(e.start, e.end): rules.accounts.single for row in reading.phrases(rules.accounts.standing) for e in row}
    for start, end in sorted(places, reverse=True):
        begin, stop = units.starts[start], units.ends[end - 1]
        text = text[:begin] + places[start, end].ljust(stop - begin)[: stop - begin] + text[stop:]
    return text


def _by_other_words(
    rules: Grammar, heard: Annotation, found: Understood, reading: UtteranceLattice
) -> Understood | None:
    """The order without its amount, which is told by words that name none."""
    if not _stands(rules.accounts.unmeasured, reading) or found.vetoes or found.then is not None:
        return None
    slots = replace(found.slots, topic=_about(EXACT, heard).topic)
    if found.route is Route.FAST or not (slots.payee or slots.target):
        return replace(found, slots=slots)
    return replace(found, slots=slots, route=Route.FAST, confidence=1.0, missing=(SlotName.AMOUNT,), unread=())


def _stands(trie: Trie, reading: UtteranceLattice) -> bool:
    return any(reading.phrases(trie))


def _about(topic: str, heard: Annotation) -> Slots:
    text = heard.transcript.text
    return Slots(topic=Slot(topic, Evidence(0, len(text), text, RuleId("intents.remark@1"))))


def _rule(rules: Grammar) -> RuleId:
    return RuleId(f"{rules.accounts.id}.remark@{rules.accounts.version}")
