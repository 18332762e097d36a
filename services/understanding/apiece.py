"""As much to each of two, or both of two bills: 「五十嵐さんと花子に一万円ずつ送って」 is read back one by one."""

from dataclasses import replace
from typing import Any, Final

from schemas.ids import RuleId, language
from schemas.intent import Annotation, Context, Intent, Slot, SlotName, Understood
from services.understanding.fast.grammar import grammar

_TWO: Final = 1
"""Readings beside the first one."""
_OF: Final = {Intent.TRANSFER_MONEY: SlotName.PAYEE, Intent.BILL_PAYMENT: SlotName.BILL}


def apiece(heard: Annotation, found: Understood, context: Context) -> Understood | None:
    """Two orders where both that are named are meant; None where one of them is, or more is open."""
    name, amount = _OF.get(found.intent or Intent.QNA), found.slots.amount
    if name is None or found.doubted != (name,) or not context.idle or found.unresolved:
        return None
    named: Slot[Any] | None = getattr(found.slots, name.value)
    alike = amount is not None and not amount.readings if name is SlotName.PAYEE else amount is None
    if not alike or named is None or len(named.readings) != _TWO:
        return None
    rules = grammar(language(heard.transcript.locale))
    marks, units = rules.accounts, rules.units(heard.transcript.text)
    places = range(len(units.words))
    told = [at for at in places if marks.apiece.scan(units.words, at)]
    behind = heard.transcript.text[named.evidence.end :]
    linked = behind.startswith(marks.joined)
    joined = name is SlotName.BILL and linked and not found.unread
    told = told if linked or not marks.spaced else []  # "pay emily, no, she said kate for the both of them"
    together = any(marks.shared.scan(units.words, at) for at in places)
    if not (told or joined) or together or any(marks.repairs.scan(units.words, at) for at in places):
        return None
    said = {units.words[at] for at in told}
    if any(not said.intersection(rules.units(unread.surface).words) for unread in found.unread):
        return None
    rule = RuleId(f"{marks.id}.apiece@{marks.version}")
    two: list[dict[str, Any]] = [
        {name.value: replace(named, value=one, readings=())} for one in (named.value, *named.readings)
    ]
    first, second = (
        replace(found, slots=replace(found.slots, **one), doubted=(), unread=(), rule=rule, confidence=1.0)
        for one in two
    )
    return replace(first, then=second)
