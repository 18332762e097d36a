"""One payee's money in several sums, each on its day: "six hundred now and six hundred next monday".

Each sum with its day is read in the place of the first one; half, or the rest, is of the order at hand. Where not all
are read so the amount is asked for: never is one taken and the others passed over.
"""

import re
from dataclasses import replace
from typing import Final, NamedTuple

from schemas.intent import COUNTED, MONEY_MOVING, TOLD_ALONE, Evidence, Intent, Route, SlotName, Understood
from schemas.span import SUMS, MoneyValue, SpanKind
from services.understanding.clarification.balance_terms import lettered
from services.understanding.correction.amounts import comes_to
from services.understanding.correction.merging import one_after_another, places, put_back
from services.understanding.correction.said import Said

_RULE: Final = "instalments"
_LEAST, _MOST = 2, 4
_OPEN: Final = COUNTED | {None, Intent.CANCEL, Intent.DENY, Intent.QNA}


class _Instalment(NamedTuple):
    """Where a sum and its day stand, and which sum that is where no number tells it: rest, half, same."""

    amount: tuple[int, ...]
    day: tuple[int, ...]
    kind: str


def in_instalments(said: Said, found: Understood) -> Understood | None:
    """The orders, or what is right of the one at hand in several parts; None where no two sums have each its day."""
    days = sum(span.kind is SpanKind.DATE for span in said.heard.spans)
    now = any(word in said.text.casefold() for word in said.rules.cues.now)
    if found.intent not in _OPEN or said.context.code or not days or days + now < _LEAST:
        return None
    parts, tail, joined = _parts(said)
    sums, total = _sums(said, parts), said.context.terms.amount
    corrected = not joined and len(set(sums)) > 1 and sum(each.amount_minor for each in sums) != (total and total.minor)
    if len(parts) < _LEAST or corrected:  # "fifty today sixty tomorrow"
        return None
    orders = [_order(said, parts, n, tail, each) for n, each in enumerate(sums)]
    if not orders or not all(map(_whole, orders)):
        return _asked(said, found)
    if said.context.idle or any(each.slots.payee or each.slots.target or each.slots.bill for each in orders):
        return one_after_another(orders)
    rule = said.rules.cues.rule(_RULE)
    return one_after_another([replace(each, intent=Intent.CORRECT, missing=(), rule=rule) for each in orders])


def _parts(said: Said) -> tuple[list[_Instalment], int, bool]:
    """The sums with their days; where what is said of all of them begins; and whether a word joins them all."""
    spans = [each for each in said.heard.spans if each.kind in SUMS or each.kind is SpanKind.DATE]
    named = [(Evidence.of(each), "M" if each.kind in SUMS else "D", each) for each in spans]
    text, found, _ = lettered(said.paused, lambda _: named)
    patterns, starts = said.rules.patterns.amounts, (*found, len(said.text))
    match, parts, end, joined = patterns.first_part.match(text), list[_Instalment](), 0, True
    while match is not None and len(parts) < _MOST:
        kind = next((name for name in ("rest", "half", "same") if match.groupdict().get(name)), "")
        amount, day = (tuple(starts[at] for at in match.span(each)) for each in ("amount", "day"))
        joined = joined and (not parts or bool(match["joint"].strip(" ,、")))
        parts, end = [*parts, _Instalment(amount, day, kind)], match.end()
        match = patterns.next_part.match(text, end)
    return ([] if re.search("[MD]", text[end:]) else parts), starts[end], joined


def _sums(said: Said, parts: list[_Instalment]) -> list[MoneyValue]:
    """What each comes to; none where one of them can't be told."""
    told = {span.start: comes_to(span, said.heard) for span in said.heard.spans}
    sums, total = list[MoneyValue](), said.context.terms.amount
    whole, by_name = total.minor if total is not None else 0, any(part.kind for part in parts)
    for amount, _, kind in parts:
        so_far, each = sum(one.amount_minor for one in sums), told.get(amount[0], ())
        of_it = whole - so_far if kind == "rest" else whole // 2 if whole % 2 == 0 else 0
        if kind == "same":
            each = (sums[-1],)
        elif kind:
            each = (MoneyValue(of_it, total.currency),) if total is not None and of_it > 0 else ()
        if not each or (by_name and len(each) > 1):
            return []
        sums.append(each[0])
    return sums


def _order(said: Said, parts: list[_Instalment], number: int, tail: int, sum_: MoneyValue) -> Understood:
    """One of them, with what is said of all: its sum and its day stand where the first ones do."""
    first, own, text, plain = parts[0], parts[number], said.text, said.rules.patterns.amounts.some_sum
    (one, mine), (two, other) = sorted([(first.amount, own.amount), (first.day, own.day)])
    words, origins = "", list[int | None]()
    for start, end in ((0, one[0]), mine, (one[1], two[0]), other, (tail, len(text))):
        told = own.kind and (start, end) == own.amount
        words += plain if told else text[start:end]
        origins += [None] * len(plain) if told else range(start, end)
    order = put_back(said.again(words), text, places(origins))
    amount = order.slots.amount
    if amount is None or not own.kind:
        return order
    evidence = said.heard.evidence(own.amount[0], own.amount[1], said.rules.cues.rule(_RULE))
    amount = replace(amount, value=sum_, evidence=evidence, readings=())
    return replace(order, slots=replace(order.slots, amount=amount))


def _whole(order: Understood) -> bool:
    """Whether it is an order, or right of one, with its sum, and all of it was read."""
    read = order.intent in MONEY_MOVING | TOLD_ALONE and order.rule is not None and order.route is Route.FAST
    return read and order.whole and not order.doubted and not order.vetoes and order.slots.amount is not None


def _asked(said: Said, found: Understood) -> Understood | None:
    """What is asked instead, where one of them alone would be taken."""
    if not said.context.idle:
        taken = found.intent in COUNTED
        asked = Understood(Intent.CORRECT, route=Route.FAST, confidence=1.0, rejected=(SlotName.AMOUNT,))
        return asked if taken else None
    missing = (*(each for each in found.missing if each is not SlotName.AMOUNT), SlotName.AMOUNT)
    slots = replace(found.slots, amount=None, date=None)
    return replace(found, slots=slots, missing=missing, doubted=(), then=None) if found.moves else None
