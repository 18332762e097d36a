"""An order that is meant only if nothing was paid yet: "send Maria 1450 if I haven't already".

A bill that is due is not paid. Of anybody else it is told first what was paid, and the order is read back behind that.
"""

from dataclasses import replace

from schemas.intent import READING, Intent, Route, Understood
from services.understanding.correction.merging import said_in
from services.understanding.correction.said import Said


def if_unpaid(said: Said, _: Understood) -> Understood | None:
    """The order, behind what was paid to its payee; None where it hangs on nothing like that, or not all is read."""
    rules, text = said.rules.patterns.inquiries, said.text
    place = rules.if_unpaid.search(text) if said.context.idle and not said.context.code else None
    if place is None:
        return None
    order = said_in(said.again(text[: place.start()] + " " * len(place[0]) + text[place.end() :]), text)
    if not order.moves or order.route is not Route.FAST or not order.whole or order.then is not None:
        return None
    if order.intent is Intent.BILL_PAYMENT:
        return order
    payee = order.slots.payee
    asked = said.again(rules.whether_paid.replace("_", payee.evidence.surface)) if payee is not None else None
    told = asked is not None and asked.intent in READING and asked.route is Route.FAST and asked.then is None
    return replace(said_in(asked, text), then=order) if told and asked is not None else None
