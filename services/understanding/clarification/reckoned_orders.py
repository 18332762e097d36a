"""A transfer whose amount follows from a balance, or from what was paid before: no figure tells it, code reckons it.

"Everything over 2,000", "all but 500", "top it up to 5,000", "ten percent of what's in checking", "the same as last
month", 「三十万を超えた分だけ」; half of a sum that was shared; and what is to stay of one at hand.
What no pattern reads is left to `derived_amounts`, which has it asked for.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, timedelta
from typing import Final

from rules.locales import locale_rules
from schemas.balances import Measure, Reckoning
from schemas.ids import AccountId
from schemas.intent import Intent, Route, Slot, SlotName, Slots, Understood
from schemas.span import DateValue, MoneyValue
from services.understanding.clarification.balance_terms import BalanceWords
from services.understanding.correction.said import Said

_HALF: Final = 2
_DAY: Final = timedelta(days=1)


def measured(said: Said, found: Understood) -> Understood | None:
    """The transfer with what its amount follows from; None where it does not, or not by all of the words."""
    context = said.context
    words = BalanceWords.of(said) if not context.code else None
    if words is None:
        return None
    if (bill := _of_a_bill(words, found)) is not None:
        return bill
    if not context.idle:
        return _staying(words) if context.confirming else None
    tries: dict[str, Callable[[BalanceWords, re.Match[str]], Understood | None]] = {
        "ordinal": _by_place,
        "halved": _halved,
        "above": _above,
        "up_to": _up_to,
        "before": _before,
        "share": _share,
    }
    for kind, read in tries.items():
        orders = (read(words, match) for pattern in words.rules.patterns[kind] for match in _each(pattern, words))
        if (order := next((each for each in orders if each is not None), None)) is not None:
            return order
    return None


def _each(pattern: re.Pattern[str], words: BalanceWords) -> Iterator[re.Match[str]]:
    """The first place of a pattern: none needs another one."""
    match = pattern.search(words.text)
    if match is not None:
        yield match


def _of_a_bill(words: BalanceWords, found: Understood) -> Understood | None:
    """All of a bill but so much, or so much more than its minimum; of no bill that is clear, it stays unread."""
    context, patterns = words.said.context, words.rules.patterns
    due = [(pattern, False) for pattern in patterns["due_but"]]
    for pattern, least in (*due, *((each, True) for each in patterns["over_least"])):
        match = pattern.search(words.text)
        sum_ = words.sum(match) if match is not None else None
        if match is None or sum_ is None:
            continue
        order = words.order(match) if context.idle else words.answer(match)
        if order is not None and context.idle and order.intent is not Intent.BILL_PAYMENT:
            continue
        amount = _of_due(words, match, order, sum_, least=least) if order is not None else None
        if order is not None and amount is not None:
            return replace(order, slots=replace(order.slots, amount=amount, portion=None), missing=())
        if found.intent is Intent.BILL_PAYMENT and context.idle:
            return replace(found, unread=(words.evidence(match),), then=None)
    return None


def _of_due(
    words: BalanceWords, match: re.Match[str], order: Understood, sum_: MoneyValue, *, least: bool
) -> Slot[MoneyValue] | None:
    """What is due of the order's bill but a sum, or its minimum and a sum; None of no clear bill, or of nothing."""
    context, bill = words.said.context, order.slots.bill
    named = bill.value if bill is not None else context.terms.bill or context.recent_bill
    due = next((each for each in context.bills if each.id == named), None)
    base = due and (due.minimum if least else due.due)
    by = sum_.within(base.currency, locale_rules(words.said.heard.transcript.locale).digits) if base else None
    if not base or by is None or by.currency not in {None, base.currency}:
        return None
    minor = base.minor + (by.amount_minor if least else -by.amount_minor)
    return Slot(MoneyValue(minor, base.currency), words.evidence(match)) if minor > 0 else None


def _above(words: BalanceWords, match: re.Match[str]) -> Understood | None:
    """What an account holds beyond a sum."""
    held, sum_ = words.account(match), words.sum(match)
    if sum_ is None or (order := words.transfer(match)) is None:
        return None
    account = held.value if held is not None else None
    return _following(words, match, order, Reckoning(Measure.ABOVE, account, sum_), held)


def _share(words: BalanceWords, match: re.Match[str]) -> Understood | None:
    """A part of what an account holds."""
    held, share = words.account(match), words.share(match)
    if held is None or share is None or not 0 < share <= 1 or (order := words.transfer(match)) is None:
        return None
    return _following(words, match, order, Reckoning(Measure.SHARE, held.value, share=share), held)


def _up_to(words: BalanceWords, match: re.Match[str]) -> Understood | None:
    """What an account lacks of a sum."""
    target, sum_ = words.account(match), words.sum(match)
    alone = not any(kept and kept.strip() for name, kept in match.groupdict().items() if name.startswith("keep"))
    order = _bare(words, match) if alone else words.transfer(match)
    if order is None or sum_ is None or target is None or order.slots.payee is not None:
        return None
    named, source = order.slots.target, order.slots.source
    if target.value in {named.value if named is not None else None, source.value if source is not None else None}:
        return None
    order = replace(order, slots=replace(order.slots, target=target))
    return _following(words, match, order, Reckoning(Measure.UP_TO, target.value, sum_), None)


def _before(words: BalanceWords, match: re.Match[str]) -> Understood | None:
    """As much as was paid to the same payee before."""
    order = words.transfer(match) or words.offer(match)
    if order is None or order.slots.payee is None:
        return None
    told, today = match.groupdict(), words.said.today
    monday = today - timedelta(days=today.weekday())
    week = DateValue(monday - 7 * _DAY, monday - _DAY) if told.get("week") is not None else None
    days = month_before(today) if told.get("month") is not None else week
    return _following(words, match, order, Reckoning(Measure.BEFORE, period=days), None)


def _following(
    words: BalanceWords, match: re.Match[str], order: Understood, by: Reckoning, held: Slot[AccountId] | None
) -> Understood | None:
    """The order with what its amount follows from, of the account that holds it where none is named."""
    slots = order.slots
    if (slots.payee is None) is (slots.target is None):
        return None
    own = slots.target.value if slots.target is not None else None
    if held is not None and held.value == own:
        return None
    slots = replace(slots, source=slots.source or held, reckoning=Slot(by, words.evidence(match)))
    missing = tuple(slot for slot in order.missing if slot is not SlotName.AMOUNT)
    return replace(order, slots=slots, missing=missing, rule=words.rules.file.rule)


def _bare(words: BalanceWords, match: re.Match[str]) -> Understood:
    """A transfer of which only is told what is matched."""
    return Understood(Intent.TRANSFER_MONEY, Slots(), (), Route.FAST, 1.0, words.evidence(match).rule)


def _halved(words: BalanceWords, match: re.Match[str]) -> Understood | None:
    """Half of a sum that was told."""
    order = words.order(match)
    if order is None or order.intent is not Intent.TRANSFER_MONEY or order.slots.amount is None:
        return None
    amount = order.slots.amount
    half = replace(amount.value, amount_minor=amount.value.amount_minor // _HALF)
    if amount.readings or order.slots.payee is None or half.amount_minor <= 0:
        return None
    slots = replace(order.slots, amount=replace(amount, value=half, evidence=words.evidence(match)))
    return replace(order, slots=slots)


def _by_place(words: BalanceWords, match: re.Match[str]) -> Understood | None:
    """A transfer between two of the accounts whose balances were told, by their places among them."""
    told, places = words.said.context.told, words.rules.file.places
    at = {part: places[match[part]] for part in ("source", "target")}
    order = words.order(match)
    if order is None or order.intent is not Intent.TRANSFER_MONEY:
        return None
    if max(at.values()) >= len(told) or order.slots.amount is None or order.slots.payee or order.slots.source:
        return None
    between = {part: Slot(told[place], words.evidence(match, part)) for part, place in at.items()}
    if order.slots.target is not None or between["source"].value == between["target"].value:
        return None
    slots = replace(order.slots, source=between["source"], target=between["target"])
    missing = tuple(slot for slot in order.missing if slot is not SlotName.PAYEE)
    return replace(order, slots=slots, missing=missing)


def _staying(words: BalanceWords) -> Understood | None:
    """What is to stay where it is, of a transfer that is asked about or read back."""
    for pattern in words.rules.patterns["staying"]:
        match = pattern.fullmatch(words.text)
        sum_ = words.sum(match) if match is not None else None
        if match is not None and sum_ is not None:
            held = words.account(match)
            by = Reckoning(Measure.ABOVE, held.value if held is not None else None, sum_)
            slots = Slots(reckoning=Slot(by, words.evidence(match)))
            return Understood(Intent.CORRECT, slots, (), Route.FAST, 1.0, words.rules.file.rule)
    return None


def month_before(today: date) -> DateValue:
    """The month before this one."""
    last = today.replace(day=1) - timedelta(days=1)
    return DateValue(last.replace(day=1), last)
