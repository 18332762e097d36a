"""Two clauses as one: a command with what another clause says besides."""

from dataclasses import replace
from typing import Any, Final

from schemas.ids import RuleId
from schemas.intent import MONEY_MOVING, TOLD_ALONE, Intent, Slot, SlotName, Slots, Understood
from services.understanding.fast.ruleset.meanings import LEANING

OWING: Final = RuleId("intents.owing@1")
"""What is owed to someone, or asked for by them: an order's parts, and no order."""
_LACKING: Final = (SlotName.AMOUNT, SlotName.PAYEE)


def joint(one: Understood, two: Understood) -> Understood | None:
    """`one` with what `two` says besides; None where they differ about a slot, or `two` names no slot of its kind."""
    if _another(one, two):
        return None
    one = _owed(_billed(one, two), two)
    given = _fitting(one, two.slots)
    if given is None:
        return None
    slots = {name: getattr(one.slots, name) for name in Slots.__slots__}
    named = {mention.slot for mention in one.unresolved}
    if two.rule == OWING or SlotName.BILL in named:  # what the order names itself is not who, or what, was spoken of
        given = {name: slot for name, slot in given.items() if name not in {mentioned.value for mentioned in named}}
    for name, slot in given.items():
        if slots[name] is not None and slots[name].value != slot.value:
            return None
        slots[name] = slots[name] or slot
    if slots["portion"] is not None and slots["amount"] is not None:
        return None  # "the minimum, no, a hundred"
    made = Slots(**slots)
    there = {SlotName(n) for n, slot in slots.items() if slot is not None and n in set(SlotName)}
    if two.intent not in TOLD_ALONE and any(mention.slot in there - named for mention in two.unresolved):
        return None  # "pay the electric bill and pay the gas bill", of which one is unknown
    further = tuple(mention for mention in two.unresolved if mention.slot not in named | there)
    if SlotName.TARGET in there:
        there.add(SlotName.PAYEE)
    of_bills = [each for each in further if one.intent is Intent.TRANSFER_MONEY and each.slot is SlotName.BILL]
    return replace(
        one,
        slots=made,
        missing=tuple(slot for slot in one.missing if slot not in there),
        unresolved=(*(m for m in one.unresolved if m.slot not in there), *(m for m in further if m not in of_bills)),
        payees=one.payees if one.slots.payee or not two.payees else two.payees,
        confidence=min(one.confidence, two.confidence),
        unread=(*one.unread, *two.unread, *(each.evidence for each in of_bills)),  # "fifty to emily plus tax"
        rejected=_rejected(one, two),
    )


def _another(one: Understood, two: Understood) -> bool:
    """Whether two orders of which one leans on the last are two: "do that again and send dave the same"."""
    leans, other = two.by(*LEANING), two.slots.payee is not None or two.slots.target is not None
    ordered = one.intent in MONEY_MOVING and two.intent in MONEY_MOVING and (leans or one.by(*LEANING))
    return ordered and other and (leans or two.slots.amount is not None)


def told_both(one: Understood, two: Understood) -> Understood | None:
    """Two values that are told alone, as one; None where either is more, or less, than that."""
    told = {slot.evidence.start for part in (one, two) for slot in _given(part.slots).values()}
    lost = any(mention.evidence.start not in told for part in (one, two) for mention in part.unresolved)
    alone = all(part.intent in TOLD_ALONE and not (part.then or part.unread) for part in (one, two))
    return joint(one, two) if alone and not lost else None


def _rejected(one: Understood, two: Understood) -> tuple[SlotName, ...]:
    """What both refuse; an amount only where by how much is not told: "that's too much, half that"."""
    told = one.slots.portion is not None or two.slots.portion is not None
    both = dict.fromkeys((*one.rejected, *two.rejected))
    return tuple(name for name in both if not (told and name is SlotName.AMOUNT))


def _fitting(one: Understood, slots: Slots) -> dict[str, Slot[object]] | None:
    """The slots that were given, as `one`'s intent names them; a bill that was spoken of is none of a question's."""
    given = _given(slots)
    if one.intent in {Intent.TRANSFER_MONEY, Intent.BILL_PAYMENT}:
        others = {"bill"} if one.intent is Intent.TRANSFER_MONEY else {"payee", "target"}
        return None if others & set(given) else given
    if one.intent not in {*TOLD_ALONE, Intent.BILL_INQUIRY}:
        given.pop("bill", None)
    if one.intent is Intent.BALANCE_INQUIRY:
        if "source" in given:
            given["account"] = given.pop("source")
        return given if set(given) <= {"account"} else None
    if one.intent in TOLD_ALONE or (one.intent is Intent.BILL_INQUIRY and set(given) <= {"bill"}):
        return given
    return given if not given else None


def _given(slots: Slots) -> dict[str, Slot[Any]]:
    return {name: slot for name in Slots.__slots__ if (slot := getattr(slots, name)) is not None}


def _billed(one: Understood, two: Understood) -> Understood:
    """An order to pay "them" as the payment of the bill that was spoken of."""
    bare = one.intent is Intent.TRANSFER_MONEY and one.slots == Slots() and not one.unresolved
    if not bare or two.intent is not Intent.INFORM or two.slots != Slots(bill=two.slots.bill):
        return one
    return replace(one, intent=Intent.BILL_PAYMENT, missing=(SlotName.BILL,))


def _owed(one: Understood, two: Understood) -> Understood:
    """An order to "pay it", or to "do that", as the transfer to the one whom something is owed to."""
    bare = one.intent is Intent.BILL_PAYMENT and one.missing == (SlotName.BILL,) and not one.unresolved
    if not bare or two.intent is not Intent.INFORM or two.slots.payee is None or one.slots.portion is not None:
        return one
    return replace(one, intent=Intent.TRANSFER_MONEY, missing=_LACKING)
