"""An order that is meant only if nothing was paid yet: "send Maria 1450 if I haven't already".

A bill that is due is not paid. Of anybody else it is told what was paid, and asked whether the order stands then.
"""

from dataclasses import replace
from typing import Final

from schemas.ids import RuleId
from schemas.intent import Intent, Route, Slot, Slots, Topic, Understood
from services.understanding.correction.merging import said_in
from services.understanding.correction.said import Said

_RULE: Final = RuleId("intents.if_unpaid@1")
_FOR_A_DAY: Final = RuleId("intents.for_a_day@1")
_MARKS: Final = " ,.?!、。"


def for_a_day(said: Said, found: Understood) -> Understood | None:
    """An order for the bill that was spoken of, read as a history of a day to come; None where it is none."""
    day, bill = found.slots.period, said.context.recent_bill
    if found.intent is not Intent.RECENT_TRANSACTIONS or day is None or day.value.start <= said.today:
        return None
    if found.slots.payee is not None or said.rules.patterns.orders.asked_for.search(said.text) is None:
        return None
    if bill is None or day.value.start != day.value.end:
        return Understood(None)
    slots = Slots(bill=Slot(bill, day.evidence), date=day)
    return Understood(Intent.BILL_PAYMENT, slots, (), Route.FAST, found.confidence, _FOR_A_DAY)


def if_unpaid(said: Said, _: Understood) -> Understood | None:
    """The order, behind what was paid to its payee; None where it hangs on nothing like that, or not all is read."""
    text, open_ = said.text, said.context.idle and not said.context.code
    place = said.rules.patterns.inquiries.if_unpaid.search(text) if open_ else None
    if place is None:
        return None
    order = said_in(said.again(text[: place.start()] + " " * len(place[0]) + text[place.end() :]), text)
    if not order.moves or not order.whole or order.missing:
        return None
    if order.intent is Intent.BILL_PAYMENT or order.slots.payee is None:
        return order if order.slots.bill is not None else None
    begin = place.end() - len(place[0].lstrip(_MARKS))
    condition = said.heard.evidence(begin, begin + len(place[0].strip(_MARKS)), _RULE)
    slots = Slots(payee=order.slots.payee, topic=Slot(str(Topic.WHETHER), condition))
    asked = Understood(Intent.RECENT_TRANSACTIONS, slots, (), Route.FAST, order.confidence, _RULE, payees=order.payees)
    return replace(asked, then=replace(order, unread=(condition,)))
