"""Several orders in one breath: each has its own day, and what is told behind the last one is of them all.

"send 20 to kate and 30 to dave on friday", "… both from savings": that is read back of both.
"""

from dataclasses import replace
from typing import Any, Final

from schemas.intent import MONEY_MOVING, Evidence, Mention, Route, SlotName, Understood
from services.understanding.correction.merging import one_after_another
from services.understanding.correction.said import Said

_SHORT: Final = (".and_to@", ".and_bill@")
"""The rules of an order that leans on the verb of the one before it."""
_OF_ALL: Final = ".correct.all@"
"""The rule of what corrects all orders, whether said behind them or to a read-back."""
_SHARED: Final = ("date", "source")


def in_turn(said: Said, found: Understood) -> Understood | None:
    """The orders with their days and accounts; None where not several follow one another."""
    orders = _orders(found)
    if len(orders) == 1:
        return None
    words = f" {' '.join(said.units.words)} "
    now = any(f" {word} " in words for word in said.rules.accounts.now)  # "20 to kate now, and 30 to dave on friday"
    days = [each.slots.date.evidence for each in orders if each.slots.date is not None]
    made: list[Understood] = []
    for at, order in enumerate(orders):
        made.append(order if now else _with(order, orders, at))
        if made[-1].slots.date is not None:  # another's day says nothing of this one's
            made[-1] = replace(made[-1], unresolved=tuple(m for m in order.unresolved if not _names(m, days)))
    again = one_after_another(made)
    return again if again != found else None


def of_all(said: Said) -> Understood | None:
    """Several orders with what is said of "both" at the end; None where nothing is."""
    rules, units, context = said.rules, said.units, said.context
    for at in range(1, len(units.words)) if context.idle and rules.spaced else ():
        if not rules.accounts.apiece.scan(units.words, at):
            continue
        told = said.look(units.starts[at], units.ends[-1], replace(context, confirming=True))
        before = said.look(0, units.ends[at - 1], context) if _OF_ALL in (told.rule or "") else None
        orders = _orders(before) if before is not None and before.route is Route.FAST else []
        if len(orders) > 1 and not any(getattr(each.slots, name) for each in orders for name in _SHARED):
            given = {name: getattr(told.slots, name) for name in _SHARED if getattr(told.slots, name) is not None}
            return one_after_another([_given(order, given) for order in orders])
    return None


def _orders(found: Understood) -> list[Understood]:
    """The orders for money, one after the other; none where there is something else among them."""
    orders = [found]
    while (then := orders[-1].then) is not None:
        orders.append(then)
    return orders if all(each.intent in MONEY_MOVING for each in orders) else [found]


def _given(order: Understood, told: dict[str, Any]) -> Understood:
    """An order with the day and the account that were told."""
    return replace(order, slots=replace(order.slots, **told))


def _with(order: Understood, orders: list[Understood], at: int) -> Understood:
    """The order with what the last one has, which leans on it, where none before that has such a thing itself."""
    *before, last = orders
    short = all(any(rule in (each.rule or "") for rule in _SHORT) for each in orders[at + 1 :])
    if order is last or not short:
        return order
    given = {
        name: getattr(last.slots, name)
        for name in _SHARED
        if all(getattr(each.slots, name) is None for each in before) and getattr(last.slots, name) is not None
    }
    if order.slots.target is not None and "source" in given and order.slots.target.value == given["source"].value:
        del given["source"]
    return _given(order, given)


def _names(mention: Mention, days: list[Evidence]) -> bool:
    return mention.slot is SlotName.DATE and mention.evidence in days
