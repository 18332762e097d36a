"""Several orders in one breath: each has its own day, and what is told behind the last one is of them all.

"send 20 to kate and 30 to dave on friday": both go on friday, and of both that is read back.
"""

from dataclasses import replace
from typing import Final

from schemas.ids import language
from schemas.intent import MONEY_MOVING, Annotation, Evidence, Mention, SlotName, Slots, Understood
from services.understanding.fast.ruleset.grammar import grammar

_SHORT: Final = (".and_to@", ".and_bill@")
"""The rules of an order that leans on the verb of the one before it."""
_SHARED: Final = ("date", "source")


def in_turn(heard: Annotation, found: Understood) -> Understood | None:
    """The orders with their days and accounts; None where not several follow one another."""
    orders = [found]
    while (then := orders[-1].then) is not None:
        orders.append(then)
    if len(orders) == 1 or any(each.intent not in MONEY_MOVING for each in orders):
        return None
    rules, text = grammar(language(heard.transcript.locale)), heard.transcript.text
    said = f" {' '.join(rules.units(text).words)} "
    now = any(f" {word} " in said for word in rules.accounts.now)  # "20 to kate now, and 30 to dave on friday"
    days = [each.slots.date.evidence for each in orders if each.slots.date is not None]
    behind: Understood | None = None
    for at, order in reversed(list(enumerate(orders))):
        made = replace(order if now else _with(order, orders, at), then=behind)
        if made.slots.date is not None:  # another's day says nothing of this one's
            made = replace(made, unresolved=tuple(m for m in made.unresolved if not _names(m, days)))
        behind = made
    return behind if behind != found else None


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
    slots: dict[str, object] = {name: getattr(order.slots, name) for name in Slots.__slots__}
    return replace(order, slots=Slots(**(slots | given)))  # type: ignore[arg-type]  # slots by their own names


def _names(mention: Mention, days: list[Evidence]) -> bool:
    return mention.slot is SlotName.DATE and mention.evidence in days
