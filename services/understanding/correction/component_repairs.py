"""A part of a value that is corrected alone: an account's last digits ("ending 4021, no, 7755"), a currency."""

from dataclasses import replace
from typing import Final

from schemas.intent import Understood
from services.understanding.correction.merging import values
from services.understanding.correction.self_repair import SelfRepair
from services.understanding.fast.words.numbered import of_number

_MOST: Final = 2
"""Words of a currency's name, at most."""
_ACCOUNTS: Final = ("source", "target")


def another_number(parts: SelfRepair) -> Understood | None:
    """The earlier part with the account that has the later digits; None where these are no such number."""
    cut, context, heard = parts.cut, parts.said.context, parts.said.heard
    later = next((s for s in heard.spans if (s.start, s.end) == (cut.start, cut.stop)), None)
    owner = of_number(later, context) if later is not None else None
    if owner is None or owner.id is None or owner.kind != "account":
        return None
    told = [span for span in heard.spans if span.end <= cut.end and of_number(span, context)]
    for name, slot in values(parts.one.slots).items():
        within = [span for span in told if slot.evidence.start <= span.start and span.end <= slot.evidence.end]
        if name in _ACCOUNTS and within:
            evidence = heard.evidence(cut.start, cut.stop, slot.evidence.rule)
            changed = replace(slot, value=owner.id, evidence=evidence)
            return replace(parts.one, slots=replace(parts.one.slots, **{name: changed}), rule=parts.rule("repair"))
    return None


def another_currency(parts: SelfRepair) -> Understood | None:
    """The earlier part with the same amount in another currency: "fifty dollars to ann, euros I mean"."""
    cut, text, amount = parts.cut, parts.said.text, parts.one.slots.amount
    words = parts.rules.units(parts.later).words
    numbers = any(span.start < cut.stop and cut.start < span.end for span in parts.said.heard.spans)
    if amount is None or amount.value.currency is None or not 1 <= len(words) <= _MOST or numbers:
        return None
    said = amount.evidence
    units = parts.rules.units(said.surface)
    if not parts.rules.spaced or len(units.words) == 1:
        return None
    number = said.surface[: units.starts[-1]]
    other = parts.said.again(text[: said.start] + number + parts.later + text[said.end : cut.end]).slots.amount
    if other is None or other.readings or other.value.amount_minor != amount.value.amount_minor:
        return None
    if other.value.currency in {None, amount.value.currency}:
        return None
    changed = replace(amount, value=other.value, readings=())
    return replace(parts.one, slots=replace(parts.one.slots, amount=changed), rule=parts.rule("repair"))
