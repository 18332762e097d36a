"""One payee's money in several sums, each on its day: "six hundred now and six hundred next monday".

Each sum with its day is read in the place of the first one; said of an order at hand, what is left, or half, is of its
sum. Where they are not all read so, the amount is asked for: never one of them is taken and the others passed over.
"""

import re
from dataclasses import dataclass, replace
from typing import Final

from schemas.intent import COUNTED, MONEY_MOVING, TOLD_ALONE, Evidence, Intent, Route, SlotName, Slots, Understood
from schemas.span import SUMS, DateValue, MoneyValue, SpanKind
from services.understanding.clarification.balance_terms import lettered
from services.understanding.correction.amounts import comes_to
from services.understanding.correction.merging import one_after_another, places, put_back
from services.understanding.correction.said import Said

RULE: Final = "instalments"
_MOST: Final = 4
_REST, _HALF, _SAME = "rest", "half", "same"


@dataclass(frozen=True, slots=True)
class _Part:
    """Where a sum and its day stand, in code points of what was heard; which sum is meant where none is told."""

    amount: tuple[int, int]
    day: tuple[int, int]
    kind: str


def in_instalments(said: Said, found: Understood) -> Understood | None:
    """The orders, or what is right of the one at hand in several parts; None where no two sums have each its day."""
    if found.intent not in COUNTED | {None, Intent.CANCEL, Intent.DENY, Intent.QNA} or said.context.code:
        return None
    days = sum(span.kind is SpanKind.DATE for span in said.heard.spans)
    now = any(word in said.text.casefold() for word in said.rules.cues.now)
    if not days or days + now < 2:  # noqa: PLR2004 - each sum has its day
        return None
    parts, tail, joined = _parts(said)
    if len(parts) < 2:  # noqa: PLR2004 - as above
        return None
    sums = _sums(said, parts)
    if sums is None:
        return _asked(said, found)
    total = said.context.terms.amount
    if not joined and len(set(sums)) > 1 and (total is None or total.minor != sum(each.amount_minor for each in sums)):
        return None  # "fifty today sixty tomorrow" may be corrected
    orders = [_order(said, parts, n, tail, each) for n, each in enumerate(sums)]
    if not all(_whole(each) for each in orders):
        return _asked(said, found)
    if said.context.idle or any(each.slots.payee or each.slots.target or each.slots.bill for each in orders):
        return one_after_another(orders)
    rule = said.rules.cues.rule(RULE)
    return one_after_another([replace(each, intent=Intent.CORRECT, missing=(), rule=rule) for each in orders])


def _parts(said: Said) -> tuple[list[_Part], int, bool]:
    """The sums with their days; where what is said of all of them begins; and whether a word joins them all."""
    patterns, text, starts = said.rules.patterns.amounts, *_reduced(said)
    match, parts, end, joined = patterns.first_part.match(text), list[_Part](), 0, True
    while match is not None and len(parts) < _MOST:
        kind = next((name for name in (_REST, _HALF, _SAME) if match.groupdict().get(name)), "")
        amount, day = (tuple(starts[at] for at in match.span(each)) for each in ("amount", "day"))
        parts.append(_Part((amount[0], amount[1]), (day[0], day[1]), kind))
        joined, end = joined and bool(len(parts) == 1 or match["joint"].strip(" ,、")), match.end()
        match = patterns.next_part.match(text, end)
    return ([] if re.search("[MD]", text[end:]) else parts), starts[end], joined


def _reduced(said: Said) -> tuple[str, list[int]]:
    """The words with a letter for each sum and day, and where each letter and the end stand in what was heard."""
    spans = [each for each in said.heard.spans if each.kind in SUMS or isinstance(each.value, DateValue)]
    named = [(Evidence.of(each), "M" if each.kind in SUMS else "D", each) for each in spans]
    text, starts, things = lettered(said.paused, lambda _: named)
    places_ = [*starts, len(said.text)]
    return text, places_ if things else places_


def _sums(said: Said, parts: list[_Part]) -> list[MoneyValue] | None:
    """What each comes to; None where one of them can't be told."""
    told, sums, total = {s.start: comes_to(s, said.heard) for s in said.heard.spans}, list[MoneyValue](), None
    if said.context.terms.amount is not None:
        total = MoneyValue(said.context.terms.amount.minor, said.context.terms.amount.currency)
    if any(part.kind for part in parts) and any(len(told.get(part.amount[0], ())) > 1 for part in parts):
        return None
    for part in parts:
        so_far = sum(each.amount_minor for each in sums)
        left = total.amount_minor - so_far if total is not None else 0
        each = told.get(part.amount[0], ())[:1] if not part.kind else ()
        if part.kind == _SAME and sums:
            each = (sums[-1],)
        elif total is not None and part.kind == _HALF and total.amount_minor % 2 == 0:
            each = (replace(total, amount_minor=total.amount_minor // 2),)
        elif total is not None and part.kind == _REST and left > 0:
            each = (replace(total, amount_minor=left),)
        if not each:
            return None
        sums.append(each[0])
    return sums


def _order(said: Said, parts: list[_Part], number: int, tail: int, sum_: MoneyValue) -> Understood:
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
    evidence = said.heard.evidence(*own.amount, said.rules.cues.rule(RULE))
    return replace(order, slots=replace(order.slots, amount=replace(amount, value=sum_, evidence=evidence, readings=())))


def _whole(order: Understood) -> bool:
    """Whether it is an order, or right of one, with its sum and its day, and all of it was read."""
    read = order.intent in MONEY_MOVING | TOLD_ALONE and order.rule is not None and order.route is Route.FAST
    return read and order.whole and not order.doubted and not order.vetoes and order.slots.amount is not None


def _asked(said: Said, found: Understood) -> Understood | None:
    """What is asked instead, where one of them alone would be taken."""
    if found.intent not in COUNTED or (said.context.idle and not found.moves):
        return None
    if not said.context.idle:
        return Understood(Intent.CORRECT, Slots(), route=Route.FAST, confidence=1.0, rejected=(SlotName.AMOUNT,))
    missing = (*(each for each in found.missing if each is not SlotName.AMOUNT), SlotName.AMOUNT)
    return replace(found, slots=replace(found.slots, amount=None, date=None), missing=missing, doubted=(), then=None)
