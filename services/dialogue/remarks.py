"""What is said of an order that none can hold is answered; of several orders one is taken back, or all."""

from dataclasses import replace
from typing import Final

from schemas.decision import Clarify, Confirm
from schemas.intent import Intent, Slots, Understood
from services.dialogue.commands import named
from services.dialogue.errands import offer_of
from services.dialogue.events import Facts
from services.dialogue.names import both, reply
from services.dialogue.phases import DialogueState, Offering, Proposing, Step, Task
from services.dialogue.prompts import missed, question, say
from services.dialogue.resume import cancelled, dropped, go_on, read_again, refused
from services.dialogue.rules import dialogue_rules
from services.dialogue.tasks import is_money, task_of
from services.dialogue.values import value

DROPPED: Final = "dropped"
"""The topic of words that take one of several orders back."""
_SAID: Final = {"note": "problem.note", "exact": "problem.exact", "repeated": "problem.not_repeated"}
"""What is answered to words on a topic; what they were said of is asked about again."""


def remark(state: DialogueState, heard: Understood, facts: Facts) -> Step | None:
    """The answer to a remark on what waits; None where there is none."""
    topic = heard.slots.topic.value if heard.slots.topic is not None else ""
    if topic == DROPPED:
        return _struck(state, heard.slots, facts)
    said = _SAID.get(topic)
    if said is None or heard.intent not in {Intent.INFORM, Intent.CORRECT}:
        return None
    values = replace(heard.slots, topic=None)
    if values != Slots():
        return value(state.keeping(state.memory.first(reply(said))), replace(heard, slots=values), facts)
    if isinstance(state.phase, Proposing):
        return state.keeping(state.memory.first(reply(said))), Confirm(state.phase.order)
    if state.read_back is not None and state.question is None:
        return _again(state, said)
    return say(state, both(reply(said), question(state, facts)))


def _again(state: DialogueState, said: str) -> Step:
    assert state.read_back is not None, "an order is read back"
    return read_again(state.memory, state.read_back, said)


def offered_once(state: DialogueState, heard: Understood, facts: Facts) -> Step:
    """Repeated payments are refused; of an order that was told whole, one payment is offered."""
    if heard.then is None:
        return state, Clarify(reply("problem.repeated"))
    task = task_of(heard.then, dialogue_rules().choices)
    said = both(reply("problem.not_repeated"), offer_of(task, facts))
    return state.at(Offering(task, said)), Clarify(said)


def everything_cancelled(state: DialogueState, heard: Understood, facts: Facts) -> Step | None:
    """What is at hand and what waits its turn is given up; None where that was not said."""
    if heard.intent is not Intent.CANCEL or not named(heard, dialogue_rules().every_order):
        return None
    sent = state.memory.ordered is not None and is_money(state.task)
    state = state.keeping(replace(state.memory, queue=()))
    return go_on(dropped(state), reply("cancel.rest"), facts) if sent else None


def _struck(state: DialogueState, said: Slots, facts: Facts) -> Step:
    """Of several orders one is not wanted: what is at hand is given up, what waits its turn left out."""
    task, queue = state.task, state.memory.queue
    if replace(said, payee=None, bill=None, choice=None, topic=None) != Slots():
        return refused(state, task) if task is not None else missed(state, facts)
    if task is not None and _is_it(task, said):
        return cancelled(state, facts) if queue else refused(state, task)
    at = 0 if said.choice is not None else next((i for i, each in enumerate(queue) if _is_it(each, said)), len(queue))
    if at >= len(queue):
        return refused(state, task) if task is not None else missed(state, facts)
    state = state.keeping(replace(state.memory, queue=(*queue[:at], *queue[at + 1 :])))
    if state.read_back is not None:
        return _again(state, "cancel.done")
    return say(state, both(reply("cancel.done"), question(state, facts)))


def _is_it(task: Task, said: Slots) -> bool:
    """Whether that order was named, by who is paid or by its bill."""
    payee, bill = said.payee, said.bill
    return (payee is not None and payee.value == task.payee) or (bill is not None and bill.value == task.bill)
