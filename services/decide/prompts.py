"""Silence and nonsense: two escalating prompts, then a person. And saying things again."""

from dataclasses import replace

from schemas.decision import Answer, Clarify, Confirm, Handoff, Reply
from services.decide.asking import Step, pending_question
from services.decide.events import Facts
from services.decide.names import reply
from services.decide.rules import dialogue_rules
from services.decide.state import DialogueState, Offer, Phase


def silent(state: DialogueState, facts: Facts) -> Step:
    """Nothing was heard."""
    return _prompt(state, facts, "silence")


def missed(state: DialogueState, facts: Facts) -> Step:
    """Nothing was understood. At a read-back it may have been a correction: the order is read again before a yes."""
    if state.phase in {Phase.READING, Phase.CONFIRMING} and state.misses < dialogue_rules().prompts:
        return read_again(replace(state, misses=state.misses + 1), unsure=True)
    return _prompt(state, facts, "missed")


def _prompt(state: DialogueState, facts: Facts, kind: str) -> Step:
    misses = state.misses + 1
    state = replace(state, misses=misses)
    if state.phase is Phase.OFFERING and state.offer is Offer.HUMAN:
        return state, Handoff(reply("handoff.now"))
    if misses > dialogue_rules().prompts:
        return offer_human(state)
    said = reply(f"{kind}.{'first' if misses == 1 else 'second'}")
    return state, Clarify(_with(said, question(state, facts)), state.asked, state.choices)


def offer_human(state: DialogueState) -> Step:
    """The last resort, before it is taken."""
    state = replace(state, phase=Phase.OFFERING, offer=Offer.HUMAN, proposal=None, readback=None, order=None)
    return state, Clarify(reply("offer.human"))


def question(state: DialogueState, facts: Facts) -> Reply:
    """What is awaited, as a question."""
    if state.phase is Phase.CONFIRMING or state.phase is Phase.READING:
        return reply("confirm.yes_or_no")
    if state.phase is Phase.STEP_UP:
        return reply("step_up.waiting")
    if state.phase is Phase.OFFERING and state.offer is Offer.TASK and state.last is not None:
        return state.last
    return pending_question(state, facts) or reply("ask.what")


def _with(said: Reply, asked: Reply) -> Reply:
    return reply("say.both", first=said, second=asked)


def read_again(state: DialogueState, *, unsure: bool = False) -> Step:
    """Say the read-back once more; a yes counts only after that."""
    assert state.order is not None, "there is an order to read back"
    if state.readback is None or state.proposal is None:
        return replace(state, phase=Phase.PROPOSING, proposal=None), Confirm(state.order)
    said = _with(reply("confirm.unsure"), state.readback) if unsure else state.readback
    return replace(state, phase=Phase.READING), Confirm(state.order, state.proposal, said)


def repeated(state: DialogueState, facts: Facts) -> Step:
    """Say the last thing again."""
    if state.phase in {Phase.READING, Phase.CONFIRMING}:
        return read_again(state)
    if state.last is None:
        return state, Clarify(question(state, facts))
    if state.asked is not None or state.phase is Phase.OFFERING:
        return state, Clarify(state.last, state.asked, state.choices)
    return state, Answer(reply=state.last)
