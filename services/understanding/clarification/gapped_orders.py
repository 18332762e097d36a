"""Orders side by side, each with its day, that lean on one verb: 「妹に明日一万円で大家さんに月末に九万円」."""

import re
from dataclasses import replace
from itertools import pairwise
from typing import Final

from schemas.intent import MONEY_MOVING, Evidence, Intent, Mention, Route, SlotName, Slots, Understood
from schemas.span import SUMS
from services.understanding.clarification.competing_values import MAX_VALUES
from services.understanding.correction.mentions import Mentions
from services.understanding.correction.merging import one_after_another, said_in, shifted
from services.understanding.correction.said import Said

_OPEN: Final = frozenset({None, Intent.TRANSFER_MONEY})


def side_by_side(said: Said, found: Understood) -> Understood | None:
    """The orders, one behind the other; None where each is not a payee's, with one amount and at most one day."""
    moving, context = said.rules.cues.moving, said.context
    if said.rules.spaced or not context.idle or found.intent not in _OPEN or found.then or found.sure:
        return None
    if sum(span.kind in SUMS for span in said.heard.spans) < 2:  # noqa: PLR2004 - an amount to each of two, at least
        return None
    named = Mentions.of_all(said).of(Intent.TRANSFER_MONEY)
    payees = sorted(named["payee"], key=lambda each: each[0].start)
    several = 1 < len(payees) <= MAX_VALUES and len({id_ for _, id_ in payees}) == len(payees)
    if not several or len(named["amount"]) != len(payees):
        return None
    told = sorted((e for name in ("amount", "date") for e, _ in named[name]), key=lambda each: each.start)
    ends = [_end(said, told, one[0], two[0]) for one, two in pairwise(payees)]
    orders, start = list[Understood](), 0
    for (_, payee), end in zip(payees, [*ends, (len(said.text), 0)], strict=True):
        if end is None:
            return None
        leans = end[1] > 0 or told[-1].end == end[0]
        piece = said.rules.patterns.orders.of_them_all.sub(_blank, said.text[start : end[0]])
        orders.append(order := _order(said, start, piece + (moving if leans else "")))
        if order.slots.payee is None or order.slots.payee.value != payee:
            return None
        start = end[1]
    return one_after_another(orders)


def _end(said: Said, told: list[Evidence], one: Evidence, two: Evidence) -> tuple[int, int] | None:
    """Where what is ordered for one ends before the other's begins, and that: behind a value, at what parts them."""
    parts = said.rules.patterns.orders.side_by_side
    between = (each for each in told if one.end <= each.start and each.end <= two.start)
    places = (mark.span() for each in between if (mark := parts.match(said.text, each.end)) is not None)
    return next(places, None)


def _blank(words: re.Match[str]) -> str:
    return " " * len(words[0])


def _order(said: Said, start: int, piece: str) -> Understood:
    """One of the orders; nothing where not all of it is read."""
    order = said_in(shifted(said.again(piece), start), said.text)
    plain = order.intent is Intent.TRANSFER_MONEY and order.route is Route.FAST and order.whole and not order.missing
    return order if plain and order.then is None and not order.doubted else replace(order, slots=Slots())


def day_of_the_last(said: Said, made: Understood) -> Understood | None:
    """The order with its day asked for, which is told of the last of several: "edison and toast, but toast monday"."""
    day, cues = made.slots.date, said.rules.cues
    if day is None or made.rule != cues.rule("doubled") or not said.rules.spaced or made.intent not in MONEY_MOVING:
        return None
    named = Mentions.of_all(said).of(made.intent)
    starts = [evidence.start for name in made.doubted for evidence, _ in named[name]] or [0]
    between = said.text[min(starts) : max(starts)] if max(starts) < day.evidence.start else ""
    if not any(joint in between for joint in cues.joined):
        return None
    asked = Mention(SlotName.DATE, day.evidence)
    return replace(made, slots=replace(made.slots, date=None), unresolved=(*made.unresolved, asked))
