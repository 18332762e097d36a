"""Several payees in a row, of whom an order was read for one: nobody is left out, it is asked who is meant."""

import re
from dataclasses import replace
from typing import Final

from schemas.intent import Intent, Slot, SlotName, Understood
from services.understanding.clarification.doubled import MAX_VALUES
from services.understanding.correction.named import Mentions
from services.understanding.correction.said import Said

_LAST_NAME: Final = re.compile(r"(?: [^\W\d]+)?")


def listed(said: Said, found: Understood) -> Understood | None:
    """The order for one of all that are named beside its payee; None where nobody is."""
    payee, text = found.slots.payee, said.text
    if found.intent is not Intent.TRANSFER_MONEY or not said.context.idle or payee is None or found.then is not None:
        return None
    at, rules = payee.evidence, said.rules
    between = rules.accounts.in_a_row
    if not between or found.doubted:
        return None
    before, behind = re.search(f"{between}$", text[: at.start]), re.match(rf"{between}(?=\w)", text[at.end :])
    if not (before or behind):
        return None
    named = sorted(Mentions.of_all(said).everyone, key=lambda each: each[0].start)
    left = before.start() if before else -1
    right = at.end + behind.end() if behind else -1
    beside = (
        e.start == right or (e.end <= left and _LAST_NAME.fullmatch(text[e.end : left]))
        for e, ids in named
        if payee.value not in ids
    )
    if not any(beside):
        return None
    rule = rules.accounts.rule("doubled")
    distinct = tuple(dict.fromkeys(ids[0] for _, ids in named))
    if len(distinct) > MAX_VALUES or any(len(ids) > 1 for _, ids in named):
        slots = replace(found.slots, payee=None)
        return replace(found, slots=slots, missing=(*found.missing, SlotName.PAYEE), payees=None, rule=rule)
    slots = replace(found.slots, payee=Slot(distinct[0], named[0][0], distinct[1:]))
    return replace(found, slots=slots, doubted=(SlotName.PAYEE,), rule=rule)
