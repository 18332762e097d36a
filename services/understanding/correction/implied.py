"""What an order leaves to the caller's own things: the other of two accounts, savings, the bill that is due first.

"Move five hundred over from savings", "put aside a hundred", "pay whichever is due first": what is meant is read back.
"""

from dataclasses import replace
from typing import Final

from schemas.ids import AccountId
from schemas.intent import Context, Evidence, Intent, Route, Slot, SlotName, Understood
from schemas.payee import MatchOutcome
from services.understanding.correction.said import Said
from services.understanding.fast.words.vocabulary import owned, vocabulary

_TWO: Final = 2
_SAVED: Final = ".saved@"
"""In the rule of words that name nobody: "save" is no Dave."""
_SOONEST: Final = ".soonest"
"""In the rule of words that name a bill by its day alone."""


def implied(said: Said, found: Understood) -> Understood | None:
    """The same order with it; None where nothing is left so."""
    return _due_first(found, said.context) or _own_receiver(said, found)


def _due_first(found: Understood, context: Context) -> Understood | None:
    """The bill that is due before all others, where just that is asked for."""
    named = found.rule is not None and _SOONEST in found.rule and found.slots.bill is None
    days = sorted(bill.due_on for bill in context.bills)
    if not named or found.rule is None or not days or days[:1] == days[1:2]:
        return None
    due = next(bill for bill in context.bills if bill.due_on == days[0])
    bill = Slot(due.id, Evidence(0, 0, "", found.rule))
    missing = tuple(slot for slot in found.missing if slot is not SlotName.BILL)
    dated = tuple(each for each in found.unresolved if each.slot is not SlotName.DATE)
    return replace(found, slots=replace(found.slots, bill=bill), missing=missing, unresolved=dated)


def _own_receiver(said: Said, found: Understood) -> Understood | None:
    """The own account that gets what is moved across from the other one, or put by."""
    slots, match, context, rules = found.slots, said.heard.payees, said.context, said.rules
    nobody = match is None or match.outcome is MatchOutcome.NOBODY or _SAVED in (found.rule or "")
    open_ = found.intent is Intent.TRANSFER_MONEY and found.route is Route.FAST and not found.unresolved
    if not open_ or slots.payee or slots.target or slots.amount is None or not nobody or not context.idle:
        return None
    units, marks = said.units, rules.accounts
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
