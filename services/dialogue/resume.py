"""Ways on from where a dialogue stands: to what waits, back to what was asked, or to reading back again."""

from dataclasses import replace

from schemas.decision import Answer, Clarify, Confirm, Handoff, Refuse, Reply
from schemas.intent import Intent, Understood
from services.dialogue.advance import advance
from services.dialogue.events import Facts
from services.dialogue.names import both, reply
from services.dialogue.phases import (
    Asking,
    Behind,
    Changing,
    Idle,
    Offering,
    OfferingPerson,
    Phase,
    ReadBack,
    Reading,
    SteppingUp,
    Submitting,
    Task,
    Unlocking,
    Waiting,
)
from services.dialogue.rules import dialogue_rules
from services.dialogue.state import DialogueState, Memory, Step
from services.dialogue.tasks import is_money


def dropped(state: DialogueState) -> DialogueState:
    """Without the task at hand; what was said after it stays, and what was done is still told."""
    memory = state.memory
    kept = Memory(memory.queue, memory.last, outcomes=memory.outcomes, paid=memory.paid, made=memory.made)
    return DialogueState(memory=replace(kept, booked=memory.booked))


def to_a_person(state: DialogueState) -> Handoff:
    """Bring in a person, who is told what kind of order was at hand."""
    return Handoff(reply("handoff.now"), state.task.intent if state.task else None)


def go_on(state: DialogueState, said: Reply, facts: Facts) -> Step:
    """Say something, and with it go on to what waits: the interrupted task, then what was said in the same breath."""
    task, memory = state.task, state.memory
    match state.phase:
        case Changing() | Unlocking(behind=Changing()):
            return state, Clarify(both(said, reply("ask.what_to_change")))
        case Offering(_, question):
            return state, Clarify(both(said, question))
        case OfferingPerson():
            return state, Clarify(both(said, reply("offer.human")))
        case Submitting():
            return state, Answer(reply=said)
        case SteppingUp():
            return state, Clarify(both(said, reply("step_up.waiting")))
    queue = tuple(each for each in memory.queue if not _paid(each, memory.ordered))
    if task is None and queue:
        task, memory = queue[0], replace(memory, queue=queue[1:])
    return (state, Answer(reply=said)) if task is None else at_once(advance(memory.first(said), task, facts), facts)


def at_once(step: Step, facts: Facts) -> Step:
    """What is told at once, and behind it what was said in the same breath."""
    state, decision = step
    told = decision.reply if isinstance(decision, Refuse | Answer) and isinstance(state.phase, Idle) else None
    return go_on(state, told, facts) if told is not None and state.memory.queue else step


def _paid(task: Task, before: Task | None) -> bool:
    """Whether it is but the bill that was just paid: the order before it was corrected to that."""
    again = before is not None and task.bill is not None and task.bill == before.bill
    return again and not task.amounts and task.on is None


def cancelled(state: DialogueState, facts: Facts) -> Step:
    """What is at hand is given up."""
    said = reply("cancel.done_money") if is_money(state.task) else reply("cancel.done")
    bill, after = state.task.bill if state.task is not None else None, dropped(state)
    spoken_of = Task(Intent.BILL_PAYMENT, bill=bill) if bill is not None else None
    return go_on(after.keeping(replace(after.memory, recent=spoken_of)), said, facts)


def refused(state: DialogueState, task: Task) -> Step:
    """What was read back is not wanted so: it waits until it is changed, or asked for again."""
    return state.at(Changing(task)), Clarify(reply("ask.what_to_change"))


def going_on(state: DialogueState, task: Task) -> tuple[DialogueState, Reply]:
    """Offer to go on with what waits: it is read back anew after a yes."""
    offer = reply("offer.resume")
    return state.at(Offering(task, offer)), offer


def pending_question(state: DialogueState, facts: Facts) -> Reply | None:
    """The question a digression has to come back to; None when nothing waits."""
    task = state.task
    if isinstance(state.phase, Changing):
        return reply("ask.what_to_change")
    if isinstance(state.phase, SteppingUp):
        return reply("step_up.waiting")
    if task is None or not (is_money(task) or isinstance(state.phase, Asking)):
        return None
    _, decision = advance(replace(state.memory, preface=()), task, facts)
    if isinstance(decision, Clarify):
        return decision.reply
    return reply("offer.resume") if isinstance(decision, Confirm) else None


def come_back(state: DialogueState, facts: Facts) -> tuple[DialogueState, Reply | None]:
    """The same question, and the state in which it is answered: a yes to going on goes on."""
    pending, task = pending_question(state, facts), state.task
    if task is not None and pending is not None and pending.id == "offer.resume":
        return going_on(state, task)
    return state, pending


def read_again(memory: Memory, it: ReadBack, first: str = "") -> Step:
    """Say the read-back once more, behind a reply that tells why; a yes counts only after that."""
    said = both(reply(first), it.said) if first else it.said
    return DialogueState(Reading(it), memory), Confirm(it.order, it.proposal, said)


def offer_person(memory: Memory, behind: Behind, said: str = "offer.human") -> Step:
    """A person is offered: the last resort, before it is taken, or what may have been asked for, in other words."""
    return DialogueState(OfferingPerson(behind), memory), Clarify(reply(said))


def without_person(state: DialogueState, heard: Understood) -> DialogueState:
    """Nobody who tells parts of something else waits for the person who was offered, or is asked about one twice."""
    clearly = state.memory.last == reply("consent.person") and state.memory.misses <= dialogue_rules().prompts
    given_up = bool(heard.unresolved or heard.unread) or clearly
    idle = isinstance(state.phase, OfferingPerson) and isinstance(state.phase.behind, Idle)
    return state.at(Idle()) if idle and given_up else state


def set_aside(phase: Phase, task: Task | None) -> Behind:
    """What of a phase is come back to after a person was declined: what was asked or offered, else its `task`."""
    if task is None:
        return Idle()
    match phase:
        case Asking() | Changing() | Offering():
            return replace(phase, task=task)
        case OfferingPerson(behind):
            return set_aside(behind, task)
        case _:
            return Waiting(task)


def declined(memory: Memory, behind: Asking | Waiting | Changing | Offering, facts: Facts) -> Step:
    """No person is wanted: what was asked or offered before is asked again, and nothing is done by that."""
    match behind:
        case Asking(task) | Waiting(task):
            return advance(memory, task, facts)
        case Changing():
            return DialogueState(behind, memory), Clarify(reply("ask.what_to_change"))
        case Offering(_, question):
            return DialogueState(behind, memory), Clarify(question)
