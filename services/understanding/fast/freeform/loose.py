"""An order in words of no template: a verb of sending that the caller asks for, and what goes with it, in any order.

Only where every part of it is told once: one amount, one payee or own account, and no word that would turn it around.
"""

import re
from typing import Final

from schemas.intent import Annotation, Intent, Route, SlotName, Slots, Understood
from schemas.span import NUMBERS, Span
from services.understanding.fast.asides.reasons import PARTS, RULE, acts, bill_slot, own_bill
from services.understanding.fast.patterns.lattice import FILLER
from services.understanding.fast.patterns.units import MAX_CHARS, OUTSIDE_NUMBERS
from services.understanding.fast.words.hearing import Hearing

_ENDS: Final = re.compile(OUTSIDE_NUMBERS + "[.?!;:,–—]")
_IDLE: Final = ("lead", "sends", "transfer", "transfer_noun", "funds", "pronoun", "own", "account_word", "purpose")
"""Lists of words that say nothing beside a slot."""
_NEAR: Final = 4
"""Units within which the account follows that a word like "from" speaks of."""


def commanded(hearing: Hearing, verb: str = "sends", before: int = MAX_CHARS) -> bool:
    """Whether a verb of that list is asked for: where a clause begins, or behind a lead that begins there.

    It begins `before` that code point. Never in a language whose rules have no such list.
    """
    grammar, reading = hearing.grammar, hearing.reading
    if not {verb, "lead"} <= grammar.symbols.keys():
        return False
    does, led = grammar.symbols[verb], {grammar.symbols["lead"], FILLER}
    words = reading.words
    places = [at for at in range(len(words)) if reading.units.starts[at] < before]
    begins = {at for at in places if _cut(hearing, at)}
    for at in places:
        if (words[at],) in grammar.words.joins:
            begins.add(at + 1)
        if at not in begins or at in reading.taken:
            continue
        edges = reading.lattice.edges(at)
        if any(edge.symbol == does for edge in edges):
            return True
        begins.update(edge.end for edge in edges if edge.symbol in led)
        begins.update(edge.end for edge in grammar.phrases.asides_unasked.scan(words, at))
    return False


def ordered(hearing: Hearing, slots: Slots) -> Understood | None:
    """The transfer that was asked for, if `slots` tell enough of it and no word twists them."""
    if slots.amount is None and slots.payee is None:
        return None
    if _twisted(hearing, slots) or not commanded(hearing):
        return None
    return order_of(slots, hearing.heard)


def _twisted(hearing: Hearing, slots: Slots) -> bool:
    """Whether there is a number, a time, a word that turns parts around, or a repair behind a part."""
    reading = hearing.reading
    if any(span.kind in NUMBERS and not _holds(slots, span) for span in hearing.heard.spans):
        return True
    rules, size = hearing.grammar.cues, len(reading.words)
    free = [at for at in range(size) if at not in reading.taken]
    if any(trie.begins(reading.words, at) for at in free for trie in (hearing.grammar.phrases.twists, rules.times)):
        return True
    if slots.payee is not None and sent_from(hearing, slots.payee.evidence.start):
        return True
    first = min(e.start for slot in (slots.amount, slots.payee) if slot is not None for e in (slot.evidence,))
    return any(rules.repairs.begins(reading.words, at) for at in free if reading.units.starts[at] > first)


def plain(hearing: Hearing, slots: Slots) -> bool:
    """Whether every word is in a slot, or one that says nothing beside an order."""
    grammar, reading = hearing.grammar, hearing.reading
    idle = grammar.named(_IDLE) | {FILLER}
    starts, ends = reading.units.starts, reading.units.ends
    told = [slot.evidence for name in Slots.__slots__ if (slot := getattr(slots, name)) is not None]
    size = len(reading.words)
    done = {at for at in range(size) for e in told if e.start <= starts[at] and ends[at] <= e.end}
    if any(reading.words[at] in grammar.words.outof and done.isdisjoint(range(at, at + _NEAR)) for at in range(size)):
        return False  # "from the one with more money"
    if not done.issuperset(_of_own_accounts(hearing)):
        return False  # "savings" may be what it is for, but is one of the caller's accounts
    done.update(at for edge in reading.lattice.of(idle) for at in range(edge.start, edge.end))
    for at in range(size):
        done.update(k for e in grammar.phrases.asides_unasked.scan(reading.words, at) for k in range(at, e.end))
        done.update({at} if reading.words[at] in grammar.words.light else ())
    return len(done) == size


def _of_own_accounts(hearing: Hearing) -> set[int]:
    """The units of every name of an account of the caller's."""
    nouns = hearing.nouns
    edges = (edge for row in hearing.reading.phrases(nouns.trie) for edge in row)
    return {at for e in edges if nouns.nouns[e.symbol].kind == "account" for at in range(e.start, e.end)}


def sent_from(hearing: Hearing, start: int) -> bool:
    """Whether the one who is named is to send the money: "fifty from Emily"."""
    grammar, reading = hearing.grammar, hearing.reading
    end = sum(1 for begin in reading.units.starts if begin < start)
    sides = grammar.words.outof | grammar.words.onto
    told = [at for at in range(max(0, end - _NEAR + 1), end) if reading.words[at] in sides]
    if not told or reading.words[told[-1]] not in grammar.words.outof:
        return False
    billed = grammar.symbols.get("billed")  # "an invoice from Priya" is to be paid
    return not told[-1] or not reading.lattice.of({billed}, told[-1] - 1, told[-1])


def _holds(slots: Slots, span: Span) -> bool:
    return slots.amount is not None and slots.amount.evidence.start <= span.start < slots.amount.evidence.end


def order_of(slots: Slots, heard: Annotation) -> Understood:
    """A transfer of these slots, with what it lacks."""
    lacking = [SlotName.AMOUNT] if slots.amount is None else []
    if slots.payee is None and slots.target is None:
        lacking.append(SlotName.PAYEE)
    return Understood(
        Intent.TRANSFER_MONEY,
        slots,
        missing=tuple(lacking),
        route=Route.FAST,
        confidence=0.9,
        rule=RULE,
        payees=heard.payees,
    )


def billed(hearing: Hearing) -> Understood | None:
    """A bill that is asked to be paid, in words of no template: asked about, for not all of them were read."""
    size = len(hearing.reading.words)
    if any(span.kind in PARTS for span in hearing.heard.spans) or not commanded(hearing, "pay"):
        return None
    found = own_bill(hearing, 0, size)
    if found is None or acts(hearing, 0, size, ("transfer", "carry")):
        return None
    slots = Slots(bill=bill_slot(hearing, *found, RULE))
    match = hearing.heard.payees
    return Understood(Intent.BILL_PAYMENT, slots, route=Route.CLARIFY, confidence=0.5, rule=RULE, payees=match)


def _cut(hearing: Hearing, at: int) -> bool:
    if at == 0:
        return True
    return hearing.reading.units.parted(_ENDS, hearing.text, at)
