"""What is said of a part of an order's amount: by how much it is to change, and what of it is to stay."""

from dataclasses import replace

from schemas.balances import Measure, Reckoning
from schemas.intent import Intent, Slots
from schemas.span import MoneyValue
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
