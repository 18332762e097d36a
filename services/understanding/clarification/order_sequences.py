"""Several orders in one breath: each has its own day, and what is told behind the last one is of them all.

"send 20 to kate and 30 to dave on friday", "… both from savings": that is read back of both.
"""

from dataclasses import replace
from datetime import date
from itertools import pairwise, zip_longest
from typing import Any, Final

from schemas.intent import MONEY_MOVING, TOLD_ALONE, Intent, Route, Slot, SlotName, Slots, Understood
from schemas.span import DateValue
from services.understanding.correction.merging import one_after_another, values
from services.understanding.correction.said import Said
from services.understanding.fast.clauses.joints import joints
from services.understanding.fast.ruleset.meanings import LEANING

_SHORT: Final = ("transfer_money.and_to", "bill_payment.and_bill")
"""The rules of an order that leans on the verb of the one before it."""
_OF_ALL: Final = "correct.all"
"""The rule of what corrects all orders, whether said behind them or to a read-back."""
_SHARED: Final = ("date", "source")
_ONE: Final = frozenset({None, Intent.TRANSFER_MONEY, Intent.QNA})
"""What two orders may have been read as."""
_ENDS: Final = frozenset("。.!！?？")
_JOINED: Final = 2
"""Characters between two orders of one verb, at most: と、 or も、."""


def in_turn(said: Said, found: Understood) -> Understood | None:
    """The orders with their days and accounts; None where not several follow one another.

    A day before all of them, or behind them, may be of one that has none: that is asked.
    """
    orders = _orders(found)
    if len(orders) == 1:
        return None
    orders = orders if said.rules.spaced else _folded(orders)
    orders = orders if said.rules.patterns.orders.once_more.search(said.text) else _once_each(orders)
    words = f" {' '.join(said.units.words)} "
    now = any(f" {word} " in words for word in said.rules.cues.now)  # "20 to kate now, and 30 to dave on friday"
    made = orders if now else [_with(said, orders, at) for at in range(len(orders))]
    if not said.rules.spaced and not _of_one_verb(said, orders):
        made = [_without_the_next(one, two) for one, two in pairwise(made)] + made[-1:]
    made = [_on_its_day(order, at, orders, said.today) for at, order in enumerate(made)]
    again = one_after_another(made)
    return again if again != found else None


def _once_each(orders: list[Understood]) -> list[Understood]:
    """Without an order that is said once more behind it, as by who begins anew: "fifty to em, send fifty to em"."""
    return [order for order, then in zip_longest(orders, orders[1:]) if then is None or not _alike(order, then)]


def _alike(order: Understood, then: Understood) -> bool:
    """Whether both tell the same of the same, and neither that it is to be done again."""
    one, two = ({name: slot.value for name, slot in values(each.slots).items()} for each in (order, then))
    whole = not (order.unread or order.unresolved or order.doubted) and {"payee", "target", "bill"} & one.keys()
    return bool(whole) and one == two and order.intent is then.intent and not then.by(*LEANING)


def _folded(orders: list[Understood]) -> list[Understood]:
    """Without an order that tells but the account of the one before it: 「花子に千円だったかね、定期から送って」."""
    made = orders[:1]
    for order in orders[1:]:
        source, last = order.slots.source, made[-1]
        alike = order.intent is last.intent and last.slots.source is None and order.slots == Slots(source=source)
        if alike and not order.unread and not order.unresolved:
            made[-1] = replace(last, slots=replace(last.slots, source=source), then=None)
        else:
            made.append(order)
    return made


def of_all(said: Said) -> Understood | None:
    """Several orders with what is said of "both" at the end; None where nothing is."""
    rules, units, context = said.rules, said.units, said.context
    for at in range(1, len(units.words)) if context.idle and rules.spaced else ():
        if not rules.cues.apiece.scan(units.words, at):
            continue
        told = said.look(units.starts[at], units.ends[-1], replace(context, confirming=True))
        before = said.look(0, units.ends[at - 1], context) if told.by(_OF_ALL) else None
        orders = _orders(before) if before is not None and before.route is Route.FAST else []
        if len(orders) > 1 and not any(getattr(each.slots, name) for each in orders for name in _SHARED):
            given = {name: getattr(told.slots, name) for name in _SHARED if getattr(told.slots, name) is not None}
            return one_after_another([_given(order, given) for order in orders])
    return None


def as_the_last(said: Said, found: Understood) -> Understood | None:
    """An order that is as the last one, and another behind it, "the same again and 20 to dave"; unread if not clear."""
    rules, units, context = said.rules, said.units, said.context
    if context.recent not in MONEY_MOVING or not rules.spaced or found.then or found.intent not in _ONE:
        return None
    if any(rules.cues.repairs.begins(units.words, at) for at in range(1, len(units.words))):
        return None
    for at, begin in joints(said.hearing, 0):
        first = said.look(0, units.ends[at - 1], context)
        if begin == at or not first.by(*LEANING) or not first.sure:
            continue
        start, end = units.starts[begin], units.ends[-1]
        rest = said.look(start, end, context)
        if (alike := _to_another(said, first, rest, (start, end))) is not None:
            return one_after_another([first, alike])
        if rest.sure and rest.intent in MONEY_MOVING and (rest.slots.payee or rest.slots.target or rest.slots.bill):
            return one_after_another([first, rest])
        if rest.intent is Intent.TRANSFER_MONEY and rest.slots.payee is not None:
            return replace(first, unread=(said.heard.evidence(start, end, rules.cues.rule("afterthought")),))
    return None


def _to_another(said: Said, first: Understood, rest: Understood, part: tuple[int, int]) -> Understood | None:
    """As much to who is named alone, "the same to dave and emily", or as one more: "and one for emily"."""
    rules, payee, sum_ = said.rules, rest.slots.payee, rest.slots.amount
    one = sum_ is not None and rules.units(sum_.evidence.surface).words == rules.words.one
    if not (one and rest.sure and payee) and first.slots.payee is not None and first.slots.amount is None:
        answer = said.look(*part, replace(said.context, asked=SlotName.PAYEE, confirming=True))
        alone = answer.intent in TOLD_ALONE and answer.whole and not answer.rejected
        payee = answer.slots.payee if alone and answer.slots == Slots(payee=answer.slots.payee) else None
    elif not one:
        return None
    return replace(first, slots=replace(first.slots, payee=payee)) if payee is not None else None


def _orders(found: Understood) -> list[Understood]:
    """The orders for money, one after the other; none where there is something else among them."""
    return list(found.in_turn) if all(each.intent in MONEY_MOVING for each in found.in_turn) else [found]


def _given(order: Understood, told: dict[str, Any]) -> Understood:
    """An order with the day and the account that were told."""
    return replace(order, slots=replace(order.slots, **told))


def _with(said: Said, orders: list[Understood], at: int) -> Understood:
    """The order with what stands before the first one or behind the last, where one verb is of both."""
    order, given = orders[at], dict[str, Any]()
    for owner, told in ((0, orders[: at + 1]), (len(orders) - 1, orders[at:])):
        for name in _SHARED if owner != at and _of_one_verb(said, told) else ():
            slot = getattr(orders[owner].slots, name)
            edge = _amid(orders[owner], name) is (owner > 0)  # not "20 to kate, and on friday 30 to dave"
            others = any(getattr(each.slots, name) is not None for each in orders if each is not orders[owner])
            if slot is not None and edge and not others and not _to_itself(order, slot):
                given[name] = slot
    return _given(order, given) if given else order


def _of_one_verb(said: Said, orders: list[Understood]) -> bool:
    """Whether the orders lean on one verb: "20 to kate and 30 to dave", 妹に千円と大家さんに二千円."""
    places = [[slot.evidence for slot in values(each.slots).values()] for each in orders]
    gaps = [(max(e.end for e in one), min(e.start for e in two)) for one, two in pairwise(places) if one and two]
    if not said.rules.spaced:
        near = all(0 <= begin - end <= _JOINED and not _ENDS.intersection(said.text[end:begin]) for end, begin in gaps)
        return near and len({each.intent for each in orders}) == 1
    short = all(each.by(*_SHORT) for each in orders[1:])
    return short and not any(_sends(said, *gap) for gap in gaps)


def _sends(said: Said, end: int, begin: int) -> bool:
    """Whether there is a verb between two places: "and send"."""
    grammar, words = said.rules, said.rules.units(said.text[end:begin]).words
    return any(e.symbol == grammar.symbols["sends"] for at in range(len(words)) for e in grammar.trie.scan(words, at))


def _to_itself(order: Understood, source: Slot[Any]) -> bool:
    return order.slots.target is not None and order.slots.target.value == source.value


def _on_its_day(order: Understood, at: int, orders: list[Understood], today: date) -> Understood:
    """The order without another's day, which may be its own as well before the first's words or behind the last's."""
    others = {n: day for n, each in enumerate(orders) if (day := each.slots.date) is not None and _names(order, day)}
    if not others:
        return order
    told = {day.evidence for day in others.values()}
    kept = tuple(m for m in order.unresolved if m.slot is not SlotName.DATE or m.evidence not in told)
    order, dated = replace(order, unresolved=kept), any(mention.slot is SlotName.DATE for mention in kept)
    may_be = [day for n, day in others.items() if _amid(orders[n]) is (n > at)]
    if dated or order.slots.date is not None or not may_be:
        return order
    both = Slot(DateValue.day(today), may_be[0].evidence, (may_be[0].value,))
    return replace(order, slots=replace(order.slots, date=both), doubted=(*order.doubted, SlotName.DATE))


def _without_the_next(order: Understood, other: Understood) -> Understood:
    """The order without the next one's day, where nobody knows which that is: 「水道代は払って、電気代は来月で」."""
    begins = min((slot.evidence.start for slot in values(other.slots).values()), default=0)
    shared = {m.evidence for m in other.unresolved if m.slot is SlotName.DATE and m.evidence.start >= begins > 0}
    return replace(order, unresolved=tuple(m for m in order.unresolved if m.evidence not in shared))


def _names(order: Understood, day: Slot[DateValue]) -> bool:
    return any(m.slot is SlotName.DATE and m.evidence == day.evidence for m in order.unresolved)


def _amid(order: Understood, name: str = "date") -> bool:
    """Whether its day, or its account, stands behind something else of it: "send ten to ann tomorrow"."""
    told: Slot[Any] | None = getattr(order.slots, name)
    return told is not None and any(slot.evidence.end <= told.evidence.start for slot in values(order.slots).values())
