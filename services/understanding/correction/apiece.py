"""As much to each of two, or both of two bills: 「五十嵐さんと花子に一万円ずつ送って」 is read back one by one."""

from dataclasses import replace
from functools import reduce
from typing import Any, Final

from schemas.ids import RuleId, language
from schemas.intent import Annotation, Context, Intent, Slot, SlotName, Understood
from services.understanding.fast.ruleset.grammar import Grammar, grammar
from services.understanding.fast.words.reading import read
from services.understanding.fast.words.vocabulary import vocabulary

_MORE: Final = 2
"""Values beside the first one, at most."""
_OF: Final = {Intent.TRANSFER_MONEY: SlotName.PAYEE, Intent.BILL_PAYMENT: SlotName.BILL}


def apiece(heard: Annotation, found: Understood, context: Context) -> Understood | None:
    """An order for each where all that are named are meant; None where one of them is, or more is open."""
    name, amount = _OF.get(found.intent or Intent.QNA), found.slots.amount
    if name is None or found.doubted != (name,) or not context.idle or found.unresolved:
        return None
    named: Slot[Any] | None = getattr(found.slots, name.value)
    alike = amount is not None and not amount.readings if name is SlotName.PAYEE else amount is None
    if not alike or named is None or not 1 <= len(named.readings) <= _MORE:
        return None
    rules = grammar(language(heard.transcript.locale))
    marks, units = rules.accounts, rules.units(heard.transcript.text)
    places = range(len(units.words))
    told = [at for at in places if marks.apiece.scan(units.words, at)]
    behind = heard.transcript.text[named.evidence.end :]
    linked = behind.startswith(marks.joined)
    bills = name is SlotName.BILL and linked
    if (bills and not _in_a_row(rules, heard, context, named)) or (not bills and len(named.readings) > 1):
        return None
    joined = bills and not found.unread
    told = told if linked or not marks.spaced else []  # "pay emily, no, she said kate for the both of them"
    together = not bills and any(marks.shared.scan(units.words, at) for at in places)  # of bills each has its sum
    if not (told or joined) or together or any(marks.repairs.scan(units.words, at) for at in places):
        return None
    said = {units.words[at] for at in told}
    if any(not said.intersection(rules.units(unread.surface).words) for unread in found.unread):
        return None
    rule = RuleId(f"{marks.id}.apiece@{marks.version}")
    orders = [
        replace(
            found,
            slots=replace(found.slots, **{name.value: replace(named, value=one, readings=())}),
            doubted=(),
            unread=(),
            rule=rule,
            confidence=1.0,
        )
        for one in (named.value, *named.readings)
    ]
    return reduce(lambda later, one: replace(one, then=later), reversed(orders))


def _in_a_row(rules: Grammar, heard: Annotation, context: Context, named: Slot[Any]) -> bool:
    """Whether the bills alone are joined: 「水道とガスと電気」 names one that the caller does not have."""
    if rules.spaced:
        return len(named.readings) == 1
    reading, nouns = read(rules, heard, context), vocabulary(rules, context)
    words, marks, called = reading.words, rules.accounts.joined, rules.symbols.get("bill_word")
    edges = [edge for at in range(len(words)) for edge in nouns.trie.scan(words, at)]
    ends = {e.start: e.end for e in edges if nouns.nouns[e.symbol].kind == "bill" and nouns.nouns[e.symbol].id}
    at, told = min(ends, default=0), 0
    if at and words[at - 1] in marks:
        return False
    while at in ends:
        at, told = ends[at], told + 1
        at = max((edge.end for edge in reading.lattice.edges(at) if edge.symbol == called), default=at)
        if at + 1 < len(words) and words[at] in marks:
            at += 1
    return told == 1 + len(named.readings) and words[at - 1] not in marks
