"""An order that hangs on a balance: what has to be so is read whole, and weighed when the order is complete.

"If savings has more than 500 move 100 to checking", "pay the rent if there's enough", 「足りるなら電気代払って」.
What of a condition no pattern reads is left to `conditions`, which has it asked about.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from schemas.balances import BalanceCondition, Bound
from schemas.ids import AccountId
from schemas.intent import Intent, Slot, Understood
from services.understanding.clarification.balance_terms import BalanceWords, bound_of
from services.understanding.correction.said import Said

_MOST: Final = 4
"""Conditions of one utterance that are tried."""
_PAYING: Final = frozenset({Bound.OVER, Bound.LEAST, Bound.ENOUGH})
"""So a balance has to stand of which an order that names no account is paid."""
_LACKING: Final = frozenset({Bound.UNDER, Bound.MOST})
"""So the balance of an account stands to which money is added."""


def weighed(said: Said, _: Understood) -> Understood | None:
    """The order with the balance that it hangs on; None where it hangs on none, or on anything besides."""
    words = BalanceWords.of(said) if said.context.idle and not said.context.code else None
    if words is None:
        return None
    return _asked(words) or next(filter(None, (_on(words, each) for each in _clauses(words))), None)


def _clauses(words: BalanceWords) -> Iterator[re.Match[str]]:
    """The longest conditions that stand before an order or behind one."""
    found = (each for pattern in words.rules.patterns["conditions"] for each in pattern.finditer(words.text))
    yield from sorted(found, key=lambda each: each.start() - each.end())[:_MOST]


def _on(words: BalanceWords, clause: re.Match[str]) -> Understood | None:
    """The order around a condition, and behind the balance that is asked for before it."""
    rules, text = words.rules, words.text
    ends = rules.tail.fullmatch(text, clause.end()) is not None
    beside = rules.only.match(text) if ends else rules.between.match(text, clause.end())
    gone = [clause, *([beside] if beside is not None else [])]
    held = None if ends or not text[: clause.start()].strip() else _looked_up(words, clause)
    order = words.order(*gone, begin=clause.start() if held is not None else 0)
    return _hanging(words, clause, order, held) if order is not None else None


def _looked_up(words: BalanceWords, clause: re.Match[str]) -> Slot[AccountId] | None:
    """The account whose balance is asked for before a condition: "check savings and if …"."""
    before = words.said.look(0, words.start(clause.start()), words.said.context)
    asked = before.intent is Intent.BALANCE_INQUIRY and before.sure and before.slots.topic is None
    return before.slots.account if asked else None


def _hanging(
    words: BalanceWords, clause: re.Match[str], order: Understood, asked: Slot[AccountId] | None
) -> Understood | None:
    """The order with its condition; None where it may be another account that pays."""
    held, sum_, bound = words.account(clause) or asked, words.sum(clause), bound_of(clause)
    if held is None and clause.groupdict().get("it") is not None:
        held = order.slots.source
    if (sum_ is None) is not (bound is Bound.ENOUGH) or (held is None and clause.groupdict().get("it") is not None):
        return None
    if asked is not None and held is not None and asked.value != held.value:
        return None
    after, slots = clause.groupdict().get("after") is not None, order.slots
    source, nobody = slots.source, slots.payee is None and slots.target is None
    if held is not None and source is not None and nobody and order.intent is Intent.TRANSFER_MONEY:
        slots = replace(slots, target=held if held.value != source.value and bound in _LACKING else None)
    if order.intent is Intent.TRANSFER_MONEY and slots.payee is None and slots.target is None:
        return None
    if held is not None and source is None and (slots.target is None or slots.target.value != held.value):
        if bound not in _PAYING and not after:
            return None
        source = held
    heard = words.evidence(clause)
    condition = BalanceCondition(bound, heard.surface, held.value if held is not None else None, sum_, after)
    return replace(order, slots=replace(slots, source=source, condition=Slot(condition, heard)))


def _asked(words: BalanceWords) -> Understood | None:
    """The bill that it is asked of whether there is enough for it, and that is to be paid if so."""
    for pattern in words.rules.patterns["asked"]:
        match = pattern.fullmatch(words.text.rstrip(" .!?。"))
        order = words.order(match) if match is not None else None
        if match is None or order is None or order.intent is not Intent.BILL_PAYMENT:
            continue
        held, heard = words.account(match), words.evidence(match)
        condition = BalanceCondition(Bound.ENOUGH, heard.surface, held.value if held is not None else None)
        source = order.slots.source or held
        return replace(order, slots=replace(order.slots, source=source, condition=Slot(condition, heard)))
    return None
