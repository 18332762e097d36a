"""What is said of a part of an order: by how much its amount changes, what is to stay, what is told besides."""

from dataclasses import replace

from schemas.balances import Measure, Reckoning
from schemas.decision import Reply
from schemas.intent import Intent, SlotName, Slots
from schemas.span import MoneyValue
from services.dialogue.events import Facts
from services.dialogue.names import day_name, reply
from services.dialogue.phases import Task
from services.dialogue.state import DialogueState
from services.dialogue.tasks import BY_HOW_MUCH


def as_read(state: DialogueState, task: Task, slots: Slots) -> Task:
    """The task with what was read back of it, where that is changed by a part, or what of it is to stay."""
    order = state.read_back.order if state.read_back is not None else None
    if order is not None and slots.portion is not None and slots.portion.value in BY_HOW_MUCH:
        return replace(task, amounts=(MoneyValue(order.amount.minor, order.amount.currency),))  # of a bill it has none
    return replace(task, source=order.source) if order is not None and slots.reckoning is not None else task


def may_stay(state: DialogueState, task: Task, what: Reckoning) -> bool:
    """Whether something may stay of a sum: of all that an account holds, or of as much as is asked for."""
    open_ = task.intent is Intent.TRANSFER_MONEY and (not task.amounts or task.reckoning is not None)
    return open_ and bool(what.measure is Measure.BEFORE or task.source or what.account or state.read_back)


def noted_besides(state: DialogueState, task: Task, changed: Task, facts: Facts) -> Reply | None:
    """That something else was heard than what is asked again: from where, or on which day."""
    if state.asked is SlotName.DATE and changed.date_heard == task.date_heard != "":
        return reply("say.ok")
    if state.asked not in {SlotName.PAYEE, SlotName.BILL, SlotName.AMOUNT}:
        return None
    if changed.source != task.source and changed == replace(task, source=changed.source):
        return reply("say.ok")
    if changed.on in {None, task.on} or changed != replace(task, on=changed.on):
        return None
    return reply("say.on_day", date=day_name(facts, changed.on or facts.today))
