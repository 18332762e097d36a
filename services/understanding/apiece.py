"""As much to each of two: 「五十嵐さんと花子に一万円ずつ送って」 is two orders, read back one by one."""

from dataclasses import replace
from typing import Final

from schemas.ids import RuleId, language
from schemas.intent import Annotation, Context, Intent, SlotName, Understood
from services.understanding.fast.grammar import grammar

_TWO: Final = 1
"""Readings beside the first payee."""


def apiece(heard: Annotation, found: Understood, context: Context) -> Understood | None:
    """Two orders of one amount where both payees are to get it; None where one of them is meant, or more is open."""
    amount, payee = found.slots.amount, found.slots.payee
    if found.intent is not Intent.TRANSFER_MONEY or found.doubted != (SlotName.PAYEE,) or not context.idle:
        return None
    if amount is None or amount.readings or payee is None or len(payee.readings) != _TWO or found.unresolved:
        return None
    rules = grammar(language(heard.transcript.locale))
    marks, units = rules.accounts, rules.units(heard.transcript.text)
    places = range(len(units.words))
    each = [at for at in places if marks.apiece.scan(units.words, at)]
    if not each or any(marks.repairs.scan(units.words, at) for at in places):
        return None
    said = {units.words[at] for at in each}
    if any(not said.intersection(rules.units(unread.surface).words) for unread in found.unread):
        return None
    rule = RuleId(f"{marks.id}.apiece@{marks.version}")
    two = (payee.value, *payee.readings)
    orders = (replace(found.slots, payee=replace(payee, value=one, readings=())) for one in two)
    first, second = (
        replace(found, slots=slots, doubted=(), unread=(), rule=rule, confidence=1.0, then=None) for slots in orders
    )
    return replace(first, then=second)
