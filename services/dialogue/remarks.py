"""What is said of an order that none can hold is answered; of several orders one is taken back, or all."""

from dataclasses import replace
from typing import Final

from schemas.decision import Clarify
from schemas.intent import Intent, Slots, Topic, Understood
from schemas.money import exponent
from services.dialogue.errands import offer_of
from services.dialogue.events import Facts
from services.dialogue.names import both, payee_in_full, reply
from services.dialogue.phases import Confirming, Offering, ReadBack, Reading, Task
from services.dialogue.policy import money
from services.dialogue.prompts import and_again
from services.dialogue.resume import cancelled, dropped, go_on, read_again, refused
from services.dialogue.rules import dialogue_rules
from services.dialogue.state import DialogueState, Memory, Step
from services.dialogue.tasks import is_money, task_of
from services.dialogue.values import value

_SAID: Final[dict[str, str]] = {
    "done": "problem.not_sent",
    Topic.NOTE: "problem.note",
    Topic.EXACT: "problem.exact",
    Topic.REPEATED: "problem.not_repeated",
    Topic.CONDITIONAL: "problem.conditional",
}
"""What is answered on a topic; what that was said of is asked about again."""


_NEW, _CODE = "new", "code"
_OF_IT: Final = frozenset({Topic.WHO, Topic.THAT_MUCH, _NEW, _CODE})
"""Topics of what is read back."""


def remark(state: DialogueState, heard: Understood, facts: Facts) -> Step | None:
    """The answer to a remark on what waits; None where there is none."""
    topic = heard.slots.about
    if topic in {Topic.DROPPED, Topic.ONLY} and state.task is not None:
        return _of_several(state, state.task, heard, facts)
    if topic in _OF_IT and isinstance(state.phase, Reading | Confirming):
        return _of_it(state.memory, state.phase.it, heard.slots, facts)
    if topic not in _SAID or heard.intent not in {Intent.INFORM, Intent.CORRECT}:
        return None
    said, values = _SAID[topic], replace(heard.slots, topic=None)
    if values != Slots() or heard.rejected:
        return value(state.keeping(state.memory.first(reply(said))), replace(heard, slots=values), facts)
    return and_again(state, said, facts)


def _of_it(memory: Memory, it: ReadBack, asked: Slots, facts: Facts) -> Step:
    """What is asked of the order that is read back; then it is read again."""
    if asked.about == Topic.WHO:
        return _to_whom(memory, it, facts)
    if asked.about == Topic.THAT_MUCH:
        return _so_much(memory, it, asked, facts)
    return _of_what_follows(memory, it, asked.about, facts)


def _to_whom(memory: Memory, it: ReadBack, facts: Facts) -> Step:
    """Who is paid, by all that tells them apart; then the order is read again."""
    payee = it.order.payee_id
    told = None if payee is None else reply("say.to_whom", payee=payee_in_full(facts, payee))
    return read_again(memory if told is None else memory.first(told), it)


def _of_what_follows(memory: Memory, it: ReadBack, topic: str, facts: Facts) -> Step:
    """Whether its payee is a new one, or that what has to be approved is asked for in time; then it is read again."""
    payee = facts.payees.get(it.order.payee_id) if it.order.payee_id is not None else None
    new = payee is not None and payee.is_new
    said = "say.code_then" if topic == _CODE else "say.yes" if new else "say.no"
    return read_again(memory.first(reply(said)), it)


def _so_much(memory: Memory, it: ReadBack, said: Slots, facts: Facts) -> Step:
    """Whether the order is of the amount that is asked about, which may leave out the small change."""
    amount, unit = it.order.amount, 10 ** exponent(it.order.amount.currency)
    asked = money(said.amount.value, amount.currency, facts) if said.amount is not None else None
    so = asked in {amount, replace(amount, minor=amount.minor // unit * unit)}
    return read_again(memory.first(reply("say.yes" if so else "say.no")), it)


def offered_once(state: DialogueState, heard: Understood, facts: Facts) -> Step:
    """Repeated payments are refused; of an order that was told whole, one payment is offered."""
    if heard.then is None:
        return state, Clarify(reply("problem.repeated"))
    task = task_of(heard.then, dialogue_rules().choices)
    said = both(reply("problem.not_repeated"), offer_of(task, facts))
    return state.at(Offering(task, said)), Clarify(said)


def everything_cancelled(state: DialogueState, heard: Understood, facts: Facts) -> Step | None:
    """What is at hand and what waits its turn is given up; None where that was not said, or nothing waits."""
    if not heard.by(*dialogue_rules().every_order) or not is_money(state.task):
        return None
    state = state.keeping(replace(state.memory, queue=()))
    sent = state.memory.ordered is not None
    return go_on(dropped(state), reply("cancel.rest"), facts) if sent else cancelled(state, facts)


def _of_several(state: DialogueState, task: Task, heard: Understood, facts: Facts) -> Step:
    """One of several orders is not wanted, or no other than that; where there is but one, it is corrected."""
    said = heard.slots
    if said.about == Topic.ONLY:
        found = _alone(state, task, said, facts)
    else:
        found = None if heard.rejected and not state.memory.queue else _struck(state, task, said, facts)
    payee = None if heard.rejected else said.payee
    return found or value(state, replace(heard, slots=replace(said, topic=None, payee=payee)), facts)


def _struck(state: DialogueState, task: Task, said: Slots, facts: Facts) -> Step:
    """Of several orders one is not wanted: what is at hand is given up, what waits its turn left out."""
    queue, more = state.memory.queue, replace(said, payee=None, bill=None, choice=None, topic=None) != Slots()
    places = [i for i, each in enumerate(queue) if said.choice is not None or _is_it(each, said)]
    if _is_it(task, said) and queue and not more:
        return cancelled(state, facts)
    if _is_it(task, said) or not places or more:
        return refused(state, task)
    left = (*queue[: places[0]], *queue[places[0] + 1 :])
    return and_again(state.keeping(replace(state.memory, queue=left)), "cancel.done", facts)


def _alone(state: DialogueState, task: Task, said: Slots, facts: Facts) -> Step | None:
    """Of several orders one is wanted and no other; None where it is none of them."""
    if said.choice is not None or _is_it(task, said):
        return and_again(state.keeping(replace(state.memory, queue=())), "cancel.others", facts)
    one = tuple(each for each in state.memory.queue if _is_it(each, said))
    return cancelled(state.keeping(replace(state.memory, queue=one)), facts) if len(one) == 1 else None


def _is_it(task: Task, said: Slots) -> bool:
    """Whether that order was named, by who is paid or by its bill."""
    payee, bill = said.payee, said.bill
    return (payee is not None and payee.value == task.payee) or (bill is not None and bill.value == task.bill)
