"""Silence and nonsense: two escalating prompts, then a person. And saying things again."""

from dataclasses import replace
from typing import Final

from schemas.consent import Awaited
from schemas.decision import Answer, Clarify, Confirm, Reply
from services.dialogue.events import Facts
from services.dialogue.names import both, reply
from services.dialogue.phases import Confirming, Offering, OfferingPerson, Proposing, Reading, SteppingUp, Submitting
from services.dialogue.resume import come_back, offer_person, pending_question, read_again, set_aside, to_a_person
from services.dialogue.rules import dialogue_rules
from services.dialogue.state import DialogueState, Step
from services.dialogue.terms import terms_of

_CLEARLY: Final = frozenset(Awaited) - {Awaited.NOTHING, Awaited.TASK, Awaited.SLOT, Awaited.CARD, Awaited.CODE}
"""What is asked about in words of its own."""


def say(state: DialogueState, said: Reply) -> Step:
    """Say something, and await what was awaited before."""
    return state, Clarify(said, state.asked, state.choices)


def and_again(state: DialogueState, said: str, facts: Facts) -> Step:
    """Say something, and then again what is awaited; a yes to what is read back counts only after that."""
    match state.phase:
        case Proposing(_, order):
            return state.keeping(state.memory.first(reply(said))), Confirm(order)
        case Reading(it) | Confirming(it):
            return read_again(state.memory, it, said)
        case _:
            return say(state, both(reply(said), question(state, facts)))


def wait(state: DialogueState) -> Step:
    """The caller needs a moment. What was read back is read again before a yes: the next one may mean "I am back"."""
    if isinstance(state.phase, Confirming):
        state = state.at(Reading(state.phase.it))
    return say(state.keeping(replace(state.memory, patience=dialogue_rules().patience)), reply("say.wait"))


def silent(state: DialogueState, facts: Facts) -> Step:
    """Nothing was heard, which is no wonder of a caller who asked for a moment."""
    memory = state.memory
    if memory.patience:
        return state.keeping(replace(memory, patience=memory.patience - 1)), Answer()
    match state.phase:
        case OfferingPerson():
            return _once_more(state), to_a_person(state)
        case Submitting():
            return state, Answer(reply=reply("transfer.in_progress"))
        case _:
            return _prompt(state, facts, "silence")


def missed(state: DialogueState, facts: Facts) -> Step:
    """Nothing was understood. At a read-back it may have been a correction: the order is read again before a yes."""
    match state.phase:
        case Reading(it) | Confirming(it) if state.memory.misses < dialogue_rules().prompts:
            return read_again(_once_more(state).memory, it, "confirm.unchanged")
        case OfferingPerson():
            return _once_more(state), Clarify(reply("consent.person"))
        case _:
            return _prompt(state, facts, "missed")


def _once_more(state: DialogueState) -> DialogueState:
    return state.keeping(state.memory.missed(state.memory.misses + 1))


def _prompt(state: DialogueState, facts: Facts, kind: str) -> Step:
    state = _once_more(state)
    misses = state.memory.misses
    if misses > dialogue_rules().prompts:
        return offer_person(state.memory, set_aside(state.phase, state.task))
    state, asked = _question(state, facts)
    return say(state, both(reply(f"{kind}.{'first' if misses == 1 else 'second'}"), asked))


def unclear(state: DialogueState, facts: Facts) -> Step:
    """Words that some say for yes and others for no: asked about once, clearly; then they were not understood."""
    awaited = terms_of(state, facts).awaited
    if awaited not in _CLEARLY:
        return asked_again(state, facts)
    clearly = reply(f"consent.{awaited}")
    if state.memory.last == clearly:
        return missed(state, facts)
    if isinstance(state.phase, Offering):
        state = state.at(replace(state.phase, question=clearly))
    return _once_more(state), Clarify(clearly)


def asked_again(state: DialogueState, facts: Facts) -> Step:
    """What is awaited, asked once more, and then as after any miss; an order that only waits is offered."""
    if state.memory.misses:
        return missed(state, facts)
    return say(*_question(_once_more(state), facts))


def _question(state: DialogueState, facts: Facts) -> tuple[DialogueState, Reply]:
    if isinstance(state.phase, Confirming | Reading | SteppingUp | Offering | OfferingPerson):
        return state, question(state, facts)
    state, pending = come_back(state, facts)
    return state, pending or reply("ask.what")


def question(state: DialogueState, facts: Facts) -> Reply:
    """What is awaited, as a question."""
    match state.phase:
        case Confirming(it) | Reading(it):
            return reply("consent.doubted" if it.doubted else "confirm.yes_or_no")
        case SteppingUp():
            return reply("step_up.waiting")
        case Offering(_, asked):
            return asked
        case OfferingPerson():
            return reply("consent.person")
        case _:
            return pending_question(state, facts) or reply("ask.what")


def helped(state: DialogueState, facts: Facts) -> Step:
    """What can be asked for, or what was asked."""
    if pending_question(state, facts) is None and not isinstance(state.phase, Offering | OfferingPerson):
        return state, Clarify(reply("help.general"))
    return say(state, both(reply("help.pending"), question(state, facts)))


def repeated(state: DialogueState, facts: Facts) -> Step:
    """Say the last thing again."""
    last = state.memory.last
    match state.phase:
        case Reading(it) | Confirming(it):
            return read_again(state.memory, it)
        case _ if state.memory.inquired:
            return state, Answer(state.memory.inquired, reply=last)
        case _ if last is None or last == reply("say.goodbye"):
            return state, Clarify(question(state, facts))
        case Offering() | OfferingPerson():
            return say(state, last)
        case _:
            return state, Answer(reply=last) if state.asked is None else Clarify(last, state.asked, state.choices)
