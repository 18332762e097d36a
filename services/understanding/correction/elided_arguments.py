"""What an order leaves to the caller's own things: the other of two accounts, savings, the bill due first, or then.

"Move five hundred over from savings", "put aside a hundred", "pay whichever is due first": what is meant is read back.
"""

from dataclasses import replace
from typing import Final

from schemas.banking import Bill
from schemas.ids import AccountId
from schemas.intent import Evidence, Intent, Route, Slot, SlotName, Understood
from schemas.payee import MatchOutcome
from schemas.span import DateValue
from services.understanding.correction.said import Said
from services.understanding.fast.words.vocabulary import owned, vocabulary

_TWO: Final = 2
_SAVED: Final = "transfer_money.saved"
"""In the rule of words that name nobody: "save" is no Dave."""
_BETWEEN: Final = "transfer_money.between"
"""In the rule of words that tell neither of two own accounts."""
_MOST: Final = 3
"""Accounts that are offered."""
_SOONEST: Final = ("bill_payment.soonest", "bill_payment.soonest_listed", "bill_payment.soonest_asked")
"""In the rule of words that name a bill by its day alone."""
_DUE_THEN: Final = "bill_payment.due_then"
"""In the rule of words that name one by the day that they tell."""
_BY_SIZE: Final = {"bill_payment.smallest": min, "bill_payment.largest": max}
"""In the rules of words that name one by what is due."""


def implied(said: Said, found: Understood) -> Understood | None:
    """The same order with it; None where nothing is left so."""
    return _of_all_bills(said, found) or _between(said, found) or _own_receiver(said, found)


def _of_all_bills(said: Said, found: Understood) -> Understood | None:
    """The one bill that is due first or on that day, or of which most or least is due, where just that is asked for."""
    if found.rule is None or found.slots.bill is not None or not said.context.bills:
        return None
    meant = _meant(said, found)
    if len(meant) != 1:
        return None
    bill = Slot(meant[0].id, Evidence(0, 0, "", found.rule))
    missing = tuple(slot for slot in found.missing if slot is not SlotName.BILL)
    dated = tuple(each for each in found.unresolved if each.slot is not SlotName.DATE)
    return replace(found, slots=replace(found.slots, bill=bill), missing=missing, unresolved=dated)


def _meant(said: Said, found: Understood) -> list[Bill]:
    """The bills that are named so by a template."""
    bills = said.context.bills
    if found.by(*_SOONEST):
        first = min(bill.due_on for bill in bills)
        return [bill for bill in bills if bill.due_on == first]
    if found.by(_DUE_THEN):
        told = [day for span in said.heard.spans for day in span.values if isinstance(day, DateValue)]
        return [bill for bill in bills if any(day.start <= bill.due_on <= day.end for day in told)]
    for rule, choose in _BY_SIZE.items():
        if found.by(rule):
            size = choose(bill.due.minor for bill in bills)
            return [bill for bill in bills if bill.due.minor == size]
    return []


def _between(said: Said, found: Understood) -> Understood | None:
    """Which of the caller's accounts gets what goes from one to another, of which neither is told: that is asked."""
    slots, ids = found.slots, [each.id for each in said.context.accounts]
    if not found.by(_BETWEEN) or slots.payee or slots.target or slots.source or not 1 < len(ids) <= _MOST:
        return None
    target = Slot(ids[0], said.heard.whole(said.rules.cues.rule("implied")), tuple(ids[1:]))
    missing = tuple(slot for slot in found.missing if slot not in {SlotName.PAYEE, SlotName.TARGET})
    return replace(found, slots=replace(slots, target=target), missing=missing, doubted=(SlotName.TARGET,))


def _own_receiver(said: Said, found: Understood) -> Understood | None:
    """The own account that gets what is moved across from the other one, or put by."""
    slots, match, context, rules = found.slots, said.heard.payees, said.context, said.rules
    nobody = match is None or match.outcome is MatchOutcome.NOBODY or found.by(_SAVED)
    open_ = found.intent is Intent.TRANSFER_MONEY and found.route is Route.FAST and not found.unresolved
    if not open_ or slots.payee or slots.target or slots.amount is None or not nobody or not context.idle:
        return None
    units, marks = said.units, rules.cues
    words, nouns = units.words, vocabulary(rules, context)
    put_by = next((at for at in range(len(words)) if marks.put_by.begins(words, at)), None)
    told = marks.across.holds(words) or context.recent is Intent.BALANCE_INQUIRY
    across = told and not marks.handing.intersection(words)
    named = owned(nouns, words, len(words)).get("account", {})
    others = [each.id for each in context.accounts if slots.source is None or each.id != slots.source.value]
    if put_by is not None and marks.savings:
        others = [each for each in others if each in owned(nouns, marks.savings, 1).get("account", {})]
        place = put_by
    elif named and slots.source and len(context.accounts) == _TWO and (across or set(others) & named.keys()):
        place = next(iter(named.values()))[0]
    else:
        return None
    if len(others) != 1:
        return None
    rule = marks.rule("implied")
    evidence = said.heard.evidence(units.starts[place], units.ends[place], rule)
    missing = tuple(slot for slot in found.missing if slot not in {SlotName.PAYEE, SlotName.TARGET})
    target = Slot(AccountId(others[0]), evidence)
    return replace(found, slots=replace(slots, target=target), missing=missing)
