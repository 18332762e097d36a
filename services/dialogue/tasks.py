"""From what was understood to a task, and from a task and later words to a corrected one."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Any, Final

from schemas.banking import TransferOrder
from schemas.ids import PayeeId
from schemas.intent import SAID_FIRST, Intent, Mention, Slot, SlotName, Slots, Topic, Understood
from schemas.money import exponent
from schemas.payee import MatchOutcome, PayeeMatch
from schemas.span import DateValue, MoneyValue, of_their_size
from services.dialogue.phases import Disambiguation, Task

BY_HOW_MUCH: Final = frozenset({"more", "less", "half", "double"})
"""Portions that tell by how much an order's amount is to be changed."""
_OF_BALANCE: Final = frozenset({Topic.ENOUGH, Topic.LEFT})
_ASKED: Final = _OF_BALANCE | {
    *(Topic.WHETHER, Topic.TROUBLE, Topic.FIRST, Topic.OTHERS, Topic.LARGEST, Topic.SMALLEST, Topic.NEXT)
}
_DEFAULTED: Final = frozenset({SlotName.DATE, SlotName.SOURCE})
"""What an order has without being told: now, and the usual account."""
IN_CURRENCY: Final = "in "
"""Before the currency that is meant instead: "ok, pounds then"."""
DAYS: Final = "days"
"""Before the number of days, with its sign, by which an order's day is to be changed."""


def task_of(understood: Understood, limit: int) -> Task:
    """A new task for a command. `limit`: how many payees may be offered. The balance of a bill is what is owed."""
    assert understood.intent is not None, "a command has an intent"
    slots = understood.slots
    owed = understood.intent is Intent.BALANCE_INQUIRY and slots.bill is not None and slots.about not in _OF_BALANCE
    return merged(Task(Intent.BILL_INQUIRY if owed else understood.intent), understood, limit)


def ordered(heard: Understood) -> Understood:
    """Values that no order waits for, as an order of their own where they tell enough for one."""
    if heard.slots.bill is not None:
        return replace(heard, intent=Intent.BILL_PAYMENT)
    whole = heard.slots.amount is not None and heard.slots.payee is not None
    return replace(heard, intent=Intent.TRANSFER_MONEY) if whole else heard


def task_for(order: TransferOrder) -> Task:
    """The task that leads to an order, so that the order can be corrected."""
    return Task(
        Intent.TRANSFER_MONEY if order.bill_id is None else Intent.BILL_PAYMENT,
        amounts=(MoneyValue(order.amount.minor, order.amount.currency),),
        payee=order.payee_id if order.bill_id is None else None,
        source=order.source,
        target=order.to_account,
        bill=order.bill_id,
        on=order.on,
    )


def merged(task: Task, understood: Understood, limit: int) -> Task:
    """The task with everything newly said put in; the last word wins."""
    for name in understood.rejected:
        task = without(task, name)
    task = _amounts(_following(task, understood.slots), understood.slots)
    task = _places(task, understood.slots)
    task = _payee(task, understood, limit)
    task = _doubted(task, understood, limit)
    for mention in understood.unresolved:
        heard = mention.evidence.surface
        if mention.slot in {SlotName.ACCOUNT, SlotName.SOURCE, SlotName.TARGET}:
            task = replace(task, account_heard=heard)
        elif mention.slot is SlotName.CARD:
            task = replace(task, card_heard=heard)
        elif mention.slot is SlotName.BILL:
            task = replace(task, bill=None, bill_heard=heard)
        elif mention.slot is SlotName.DATE and not _dated(understood, mention):
            task = replace(task, on=None, date_heard=heard)
    task = _refused(task, understood)
    return replace(task, unread=tuple(each.surface for each in understood.unread)) if understood.unread else task


def _refused(task: Task, understood: Understood) -> Task:
    """With the parts that were refused and not told since: a default must not stand for them."""
    told = {SlotName.DATE} if task.on or task.date_heard or understood.slots.date is not None else set[SlotName]()
    told |= {SlotName.SOURCE} if task.source is not None else set()
    refused = (task.refused_parts | (_DEFAULTED & set(understood.rejected))) - told
    return task if refused == task.refused_parts else replace(task, refused_parts=refused)


def _dated(understood: Understood, mention: Mention) -> bool:
    """Whether a day is named behind one that is not told for sure: 「五十日なので、20日に」."""
    day = understood.slots.date
    return day is not None and mention.evidence.end <= day.evidence.start


def _following(task: Task, slots: Slots) -> Task:
    if slots.condition is not None:
        task = replace(task, condition=slots.condition.value)
    by = slots.reckoning
    return task if by is None else replace(task, reckoning=by.value, amounts=(), portion="")


def _amounts(task: Task, slots: Slots) -> Task:
    portion = slots.portion.value if slots.portion is not None else ""
    if portion.startswith(DAYS):
        by = timedelta(days=int(portion.removeprefix(DAYS)))
        return task if task.on is None else replace(task, on=task.on + by, date_heard="")
    if portion.startswith(IN_CURRENCY):
        had, currency = task.foreign, portion.removeprefix(IN_CURRENCY)
        alike = had is not None and exponent(had.currency or currency) == exponent(currency)
        return replace(task, amounts=(replace(had, currency=currency),)) if had is not None and alike else task
    of_what_is_due = portion == "half" and task.intent is Intent.BILL_PAYMENT and not task.amounts
    if portion in BY_HOW_MUCH and not of_what_is_due:
        task = replace(task, amounts=_by_how_much(task, portion, slots.amount), portion="")
    elif portion == SAID_FIRST:
        task = replace(task, amounts=task.first, portion="")
    elif portion:
        task = replace(task, portion=portion, amounts=())
    elif slots.amount is not None:
        said = tuple(dict.fromkeys((slots.amount.value, *slots.amount.readings)))
        sure = task.amounts if len(task.amounts) == 1 else ()
        first = task.first or sure
        task = replace(task, amounts=of_their_size(said, sure), portion="", reckoning=None, first=first)
    if slots.at_least is not None:
        task = replace(task, at_least=slots.at_least.value)
    if slots.at_most is not None:
        task = replace(task, at_most=slots.at_most.value)
    if slots.date is not None:
        task = replace(task, on=slots.date.value.start, date_heard="")
    return task


def _by_how_much(task: Task, by: str, amount: Slot[MoneyValue] | None) -> tuple[MoneyValue, ...]:
    """The amount at hand, changed by another, halved or doubled; none, so that it is asked for, where that is open."""
    had, change = task.amounts[0] if len(task.amounts) == 1 else None, amount.value if amount is not None else None
    if had is None or (amount is not None and amount.readings):
        return ()
    if change is not None and change.currency != had.currency:
        return ()
    by_minor = 0 if change is None else change.amount_minor
    changed = {
        "more": had.amount_minor + by_minor,
        "less": had.amount_minor - by_minor,
        "half": had.amount_minor // 2,
        "double": had.amount_minor * 2,
    }[by]
    return (replace(had, amount_minor=changed),) if changed > 0 else ()


def of_the_last_size(task: Task, ordered: Task | None) -> Task:
    """The task with the reading of its amount that is of the last order's size: "680 to ann, seven twenty to bob"."""
    near = of_their_size(task.amounts, ordered.amounts) if ordered is not None else task.amounts
    return task if near == task.amounts else replace(task, amounts=near)


def _places(task: Task, slots: Slots) -> Task:
    if slots.source is not None:
        swapped = slots.source.value == task.target and slots.target is None and task.source is None
        target = None if swapped else task.target  # "savings", "no, from savings"
        task = replace(task, source=slots.source.value, target=target, account_heard="")
    if slots.target is not None:
        task = replace(task.paying(None), target=slots.target.value)
    if slots.account is not None:
        several = (slots.account.value, *slots.account.readings) if slots.account.readings else ()
        task = replace(task, account=slots.account.value, accounts=several)
    if slots.card is not None:
        task = replace(task, card=slots.card.value)
    if slots.bill is not None:
        task = replace(task, bill=slots.bill.value, bill_heard="", bills=(slots.bill.value, *slots.bill.readings))
    if slots.period is not None:
        task = replace(task, period=slots.period.value)
    if slots.about in {Topic.RECEIVED, Topic.SENT}:
        task = replace(task, received=slots.about == Topic.RECEIVED, sent=slots.about == Topic.SENT, spent=False)
    task = _asked(task, (slots.about, *(slots.topic.readings if slots.topic is not None else ())))
    if slots.choice is not None and task.intent is Intent.RECENT_TRANSACTIONS:
        task = replace(task, listed=slots.choice.value)
    return _merchant(task, slots)


def _merchant(task: Task, slots: Slots) -> Task:
    """The task with whose entries of a history are asked for, or what to look for there."""
    if slots.merchant is not None:
        task = replace(task, merchant=slots.merchant.value)
    if slots.topic is not None and (sought := slots.topic).value == Topic.SOUGHT:
        task = replace(task, sought=sought.evidence.surface)
    return task


def _asked(task: Task, about: tuple[str, ...]) -> Task:
    """The task with what of what is read is asked."""
    task = replace(task, total=True) if Topic.TOTAL in about else task
    task = replace(task, spent=True) if Topic.SPENT in about else task
    asked = next((each for each in about if each in _ASKED), task.asked)
    bill = None if asked in _OF_BALANCE else task.bill
    return task if (asked, bill) == (task.asked, task.bill) else replace(task, asked=asked, bill=bill)


_DOUBTED: Final = {
    SlotName.SOURCE: "source",
    SlotName.TARGET: "target",
    SlotName.BILL: "bill",
    SlotName.CARD: "card",
    SlotName.DATE: "on",
}
"""What may be in doubt beside the amount and the payee, and the task's field for it."""


def _doubted(task: Task, understood: Understood, limit: int) -> Task:
    """The task with what was named two ways left open, and no longer what was named now."""
    for name, where in _DOUBTED.items():
        slot: Slot[Any] | None = getattr(understood.slots, name.value)
        if slot is None:
            continue
        asked = next((doubt.choices for doubt in task.doubts if doubt.slot is name), ())
        task = settled(task, name)
        if name in understood.doubted:
            said = tuple(dict.fromkeys(_key(each) for each in (slot.value, *slot.readings)))[:limit]
            said = tuple(each for each in said if each in asked) or said  # "mom's", asked whose checking
            open_: dict[str, Any] = {where: None, "doubts": (*task.doubts, Disambiguation(name, said))}
            task = replace(task, **open_)
            task = taken(task, name, said[0]) if len(said) == 1 else task
    return task


def settled(task: Task, slot: SlotName) -> Task:
    """The task without a doubt about this slot."""
    left = tuple(each for each in task.doubts if each.slot is not slot)
    return task if left == task.doubts else replace(task, doubts=left)


def _key(value: object) -> str:
    return value.start.isoformat() if isinstance(value, DateValue) else str(value)


def without(task: Task, slot: SlotName) -> Task:
    """The task with nothing of what an order has in this slot, so that it is asked for."""
    match slot:
        case SlotName.AMOUNT:
            return replace(task, amounts=(), portion="", reckoning=None)
        case SlotName.PAYEE:
            return task.paying(None)
        case SlotName.DATE:
            return replace(task, on=None, date_heard="")
        case SlotName.SOURCE:
            return replace(task, source=None)
        case SlotName.TARGET:
            return replace(task, target=None)
        case _:
            return task


def taken(task: Task, slot: SlotName, key: str) -> Task:
    """The task with what was offered under `key` taken for a slot that was in doubt."""
    value = date.fromisoformat(key) if slot is SlotName.DATE else key
    chosen: dict[str, Any] = {_DOUBTED[slot]: value}
    return replace(settled(task, slot), **chosen)


def _payee(task: Task, understood: Understood, limit: int) -> Task:
    named = understood.slots.payee
    if named is not None and SlotName.PAYEE in understood.doubted:
        either = tuple(dict.fromkeys((named.value, *named.readings)))[:limit]
        return task.paying(None, either, named.evidence.surface)
    if named is not None:
        return task.paying(named.value)
    mention = next((m for m in understood.unresolved if m.slot is SlotName.PAYEE), None)
    if mention is None:
        return task
    candidates = plausible(understood.payees, limit)
    if task.payee_candidates and (common := tuple(c for c in candidates if c in task.payee_candidates)):
        candidates = common
    if len(candidates) == 1 and task.payee_candidates:
        return task.paying(candidates[0])
    return task.paying(None, candidates, mention.evidence.surface)


def plausible(match: PayeeMatch | None, limit: int) -> tuple[PayeeId, ...]:
    """The candidates worth asking about; none when nobody fits."""
    if match is None or match.outcome is MatchOutcome.NOBODY:
        return ()
    return tuple(c.id for c in match.candidates[: min(limit, max(1, match.plausible))])


def is_money(task: Task | None) -> bool:
    """Whether completing the task would move money."""
    return task is not None and task.intent in {Intent.TRANSFER_MONEY, Intent.BILL_PAYMENT}
