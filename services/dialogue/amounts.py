"""What was said put into an order, each amount taken by the currency of those that the order has."""

from dataclasses import replace

from rules.locales import locale_rules
from schemas.intent import Slot, Understood
from schemas.span import MoneyValue
from services.dialogue.events import Facts
from services.dialogue.phases import Task
from services.dialogue.rules import dialogue_rules
from services.dialogue.tasks import merged as put_in


def merged(task: Task, heard: Understood, facts: Facts) -> Task:
    """The task with what was said put in; an amount is one in the order's own currency, where neither names another."""
    had = task.amounts or ((task.refused,) if task.refused is not None else ())
    if heard.slots.amount is not None and had:
        digits = locale_rules(facts.locale).digits
        heard = replace(heard, slots=replace(heard.slots, amount=_beside(had, heard.slots.amount, digits)))
    return put_in(task, heard, dialogue_rules().choices)


def _beside(had: tuple[MoneyValue, ...], amount: Slot[MoneyValue], digits: int) -> Slot[MoneyValue]:
    """An amount as said of an order that has these; asked which of several, those of them that it may be, if any."""
    currency, *others = {each.currency for each in had}
    said = tuple(dict.fromkeys((amount.value, *amount.readings)))
    if currency is not None and not others:
        said = tuple(each.within(currency, digits) or each for each in said)
    asked = had if min(len(had), len(said)) > 1 else ()
    said = tuple(each for each in said if any(each.agrees_with(one, digits) for one in asked)) or said
    return replace(amount, value=said[0], readings=said[1:])


def of_its_scale(task: Task, before: Task, digits: int) -> Task:
    """The task with as many hundreds or thousands as its digit says besides, where so few of them were said before."""
    said, scale = task.amounts[:1], _scale(before.amounts, digits)
    few = [each for each in said if each.currency is None and each.amount_minor % 10**digits == 0]
    if len(task.amounts) != 1 or not few or not scale or few[0].amount_minor >= 10 ** (digits + 1):
        return task
    whole = replace(few[0], amount_minor=few[0].amount_minor // 10**digits * scale)
    return replace(task, amounts=(*said, whole))


def _scale(amounts: tuple[MoneyValue, ...], digits: int) -> int:
    """Of so few hundreds, or thousands, as a digit says, how much each is; 0 of anything else."""
    whole = str(amounts[0].amount_minor) if len(amounts) == 1 else ""
    return 10 ** (len(whole) - 1) if whole[1:].strip("0") == "" and len(whole) > digits + 2 else 0
