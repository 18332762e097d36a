"""What a yes, a no, a wish to stop or a value does: a `match` a phase."""

from dataclasses import replace

from schemas.decision import Clarify, Confirm, Execute, VerifyStepUp
from schemas.ids import PayeeId
from schemas.intent import READING, Intent, SlotName, Understood
from services.dialogue.advance import advance
from services.dialogue.amounts import merged
from services.dialogue.commands import queued
from services.dialogue.each_card import beside_the_first, first_of_two
from services.dialogue.errands import offer_of
from services.dialogue.events import Facts
from services.dialogue.names import reply, said_name
from services.dialogue.phases import (
    Asking,
    Behind,
    Changing,
    Confirming,
    Idle,
    Offering,
    OfferingPerson,
    Proposing,
    ReadBack,
    Reading,
    SteppingUp,
    Submitting,
    Task,
    Unlocking,
    Waiting,
)
from services.dialogue.prompts import asked_again, missed, unclear
from services.dialogue.resume import cancelled, declined, dropped, go_on, going_on, read_again, refused, to_a_person
from services.dialogue.rules import dialogue_rules
from services.dialogue.state import DialogueState, Memory, Step
from services.dialogue.tasks import is_money
from services.dialogue.terms import agreed, surely
from services.dialogue.values import choose, value


def answered(state: DialogueState, heard: Understood, facts: Facts) -> Step:  # noqa: C901, PLR0911 - a case a phase
    """An answer, as the phase takes it."""
    match state.phase:
        case Asking() as at:
            return _asking(state, at, heard, facts)
        case Waiting():
            return _waiting(state, heard, facts)
        case Changing(task):
            return _changing(state, task, heard, facts)
        case Proposing() as at:
            return _proposing(state, at, heard, facts)
        case Reading(it):
            return _reading(state, it, heard, facts)
        case Confirming(it):
            return _confirming(state, it, heard, facts)
        case SteppingUp():
            return _stepping_up(state, heard, facts)
        case Offering(task):
            return _offering(state, task, heard, facts)
        case OfferingPerson(behind):
            return _offering_person(state, behind, heard, facts)
        case Idle() | Submitting() | Unlocking():
            return _idle(state, heard, facts)


def _idle(state: DialogueState, heard: Understood, facts: Facts) -> Step:
    """Nothing waits for an answer."""
    match heard.intent:
        case Intent.CONFIRM if not _was_told(state.memory) or heard.by(*dialogue_rules().wished):
            return asked_again(state, facts)
        case Intent.CONFIRM | Intent.DENY:
            return go_on(state, reply("say.ok_what_else"), facts)
        case Intent.CANCEL if heard.slots.payee is not None:
            return _called_off(state, heard, heard.slots.payee.value, facts)
        case Intent.CANCEL:
            return go_on(dropped(state), reply("cancel.nothing"), facts)
        case _:
            return missed(state, facts)


def _called_off(state: DialogueState, heard: Understood, payee: PayeeId, facts: Facts) -> Step:
    """A payment is to be stopped that nobody here can see: "set one up then" is to the same payee, on that day."""
    spoken_of = merged(Task(Intent.TRANSFER_MONEY), heard, facts)
    memory = replace(dropped(state).memory, recent=replace(spoken_of, amounts=()))
    said = reply("offer.person_cancel", payee=said_name(facts, payee))
    return DialogueState(OfferingPerson(), memory), Clarify(said)


def _was_told(memory: Memory) -> bool:
    """Whether something was looked up, of which a yes says no more than that it was heard."""
    return memory.recent is not None and memory.recent.intent in READING and not memory.misses


def _asking(state: DialogueState, at: Asking, heard: Understood, facts: Facts) -> Step:
    """A yes takes the only choice, a no to payees or to amounts asks for another one."""
    match heard.intent:
        case Intent.CONFIRM if len(at.choices) == 1 and agreed(state, heard, facts):
            return choose(state, 1, facts)
        case Intent.DENY if at.choices and at.slot in {SlotName.PAYEE, SlotName.AMOUNT}:
            return choose(state, 0, facts)
        case _:
            return _waiting(state, heard, facts)


def _waiting(state: DialogueState, heard: Understood, facts: Facts) -> Step:
    """A no gives up what waits, a yes is asked about, and a value goes into it."""
    match heard.intent:
        case Intent.CONFIRM:
            return asked_again(state, facts)
        case Intent.DENY | Intent.CANCEL:
            return cancelled(state, facts)
        case _:
            return value(state, heard, facts)


def _changing(state: DialogueState, task: Task, heard: Understood, facts: Facts) -> Step:
    """A yes is asked about, and leads to an offer to go on where it is said again; a second no gives it up."""
    if heard.intent is Intent.CONFIRM and agreed(state, heard, facts) and state.memory.misses:
        state, said = going_on(state, task)
        return state, Clarify(said)
    return _waiting(state, heard, facts)


def _proposing(state: DialogueState, at: Proposing, heard: Understood, facts: Facts) -> Step:
    """There is nothing yet that a yes could bind to."""
    match heard.intent:
        case Intent.CONFIRM if heard.then is not None and not agreed(state, heard, facts):
            return queued(state, heard, facts), Confirm(at.order)
        case Intent.DENY:
            return refused(state, at.task)
        case _:
            return _waiting(state, heard, facts)


def _reading(state: DialogueState, it: ReadBack, heard: Understood, facts: Facts) -> Step:
    """A yes to what was not heard in full has it read again."""
    match heard.intent:
        case Intent.CONFIRM:
            return _this_first(state, it, heard, facts)
        case Intent.DENY if heard.rejected and heard.then is None:  # "don't send it friday"
            return value(state, heard, facts)
        case Intent.DENY:
            return refused(state, it.task)
        case _:
            return _waiting(state, heard, facts)


def _this_first(state: DialogueState, it: ReadBack, heard: Understood, facts: Facts) -> Step:
    """Read the order again; where an order behind it was said, that it waits its turn is told."""
    memory = queued(state, heard, facts).memory
    return read_again(memory, it, "confirm.this_first" if memory != state.memory else "")


def _confirming(state: DialogueState, it: ReadBack, heard: Understood, facts: Facts) -> Step:
    """The one place where a transfer is submitted: by a yes that the grammar proved to be one, to what was heard."""
    match heard.intent:
        case Intent.CONFIRM if heard.consent is not None and agreed(state, heard, facts) and surely(heard):
            submitting = Submitting(it, heard.consent)
            return state.at(submitting), Execute(submitting.action)
        case Intent.CONFIRM if heard.then is not None and not agreed(state, heard, facts):
            return _this_first(state, it, heard, facts)
        case Intent.CONFIRM if not surely(heard):
            return read_again(state.memory, it, "confirm.unsure")
        case Intent.CONFIRM:
            return unclear(state, facts)
        case _:
            return _reading(state, it, heard, facts)


def _stepping_up(state: DialogueState, heard: Understood, facts: Facts) -> Step:
    """A code is verified; a yes is none."""
    code, topic = heard.slots.digits, heard.slots.about
    match heard.intent:
        case Intent.CONFIRM if agreed(state, heard, facts):
            return state, Clarify(reply("step_up.not_yet"))
        case Intent.INFORM | Intent.CORRECT if code is not None:
            return state, Execute(VerifyStepUp(code.value))
        case Intent.INFORM | Intent.CORRECT if topic:
            return state, Clarify(reply(f"step_up.{topic}"))
        case Intent.INFORM if heard.slots.bill is not None:  # "let me find my phone"
            return missed(state, facts)
        case _:
            return _waiting(state, heard, facts)


def _offering(state: DialogueState, task: Task, heard: Understood, facts: Facts) -> Step:
    """A yes does what was offered; a value is none."""
    match heard.intent:
        case Intent.CONFIRM if agreed(state, heard, facts) and surely(heard):
            named = bool(task.amounts and task.payee) or task.bill is not None
            heard_whole = named and dialogue_rules().only_endings(task.unread)
            return advance(state.memory, replace(task, unread=()) if heard_whole else task, facts)
        case Intent.CONFIRM:
            return unclear(state, facts)
        case Intent.DENY:
            return go_on(dropped(state), reply("say.ok_what_else"), facts)
        case Intent.CANCEL:
            return cancelled(state, facts)
        case _ if task.intent is Intent.CARD_LOCK and (card := heard.slots.card) is not None:
            lost = replace(task, card=card.value)
            offer = beside_the_first(first_of_two(state, facts), lost, offer_of(lost, facts), facts)
            return state.at(Offering(lost, offer)), Clarify(offer)
        case _:
            chosen = is_money(task) or heard.slots.choice is not None  # "both", of the cards that may be stopped
            return value(state, heard, facts) if chosen else missed(state, facts)


def _offering_person(state: DialogueState, behind: Behind, heard: Understood, facts: Facts) -> Step:
    """A yes brings a person in; a no comes back to what waits."""
    match heard.intent:
        case Intent.CONFIRM if agreed(state, heard, facts) and surely(heard):
            return dropped(state), to_a_person(state)
        case Intent.CONFIRM:
            return unclear(state, facts)
        case Intent.DENY if not isinstance(behind, Idle):
            return declined(state.memory.missed(0), behind, facts)
        case Intent.CANCEL if not isinstance(behind, Idle):
            return cancelled(state, facts)
        case Intent.DENY | Intent.CANCEL:
            return go_on(state.at(Idle()).keeping(state.memory.missed(0)), reply("say.ok_what_else"), facts)
        case _:
            return value(state, heard, facts) if is_money(state.task) else missed(state, facts)
