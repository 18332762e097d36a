"""The reducer: every event a dialogue can meet, and what follows from it."""

from dataclasses import replace
from typing import Final

from schemas.decision import Answer, Decision, Execute, Reply
from schemas.intent import Context, SlotName
from services.decide import outcomes
from services.decide.asking import Step
from services.decide.events import (
    ActionDone,
    ActionFailed,
    Event,
    Extracted,
    Facts,
    NoMatch,
    Proposed,
    ReadbackDelivered,
    ReadbackInterrupted,
    Resumed,
    Silence,
    StepUpFailed,
    StepUpPassed,
    StepUpStarted,
    TransferSettled,
    UtteranceUnderstood,
)
from services.decide.names import marks, reply
from services.decide.prompts import missed, silent
from services.decide.state import DialogueState, Phase
from services.decide.utterance import extracted, understood

_BOUND: Final = frozenset({Phase.READING, Phase.CONFIRMING, Phase.SUBMITTING, Phase.STEP_UP})


def decide(state: DialogueState, event: Event, facts: Facts) -> Step:
    """One event in, the next state and one decision out. Pure: the same arguments give the same result."""
    after, decision = _dispatch(state, event, facts)
    return _spoken(after, decision)


def _dispatch(state: DialogueState, event: Event, facts: Facts) -> Step:  # noqa: C901, PLR0911, PLR0912 - one case an event
    match event:
        case UtteranceUnderstood():
            return understood(state, event, facts)
        case Extracted():
            return extracted(state, event, facts)
        case Silence():
            return silent(state, facts)
        case NoMatch():
            return missed(state, facts)
        case Proposed():
            return outcomes.proposed(state, event, facts)
        case Resumed():
            return outcomes.resumed(state, event, facts)
        case ReadbackDelivered(proposal):
            return _delivered(state, delivered=state.proposal == proposal)
        case ReadbackInterrupted():
            return _delivered(state, delivered=False)
        case ActionDone():
            return outcomes.action_done(state, event, facts)
        case ActionFailed():
            return outcomes.action_failed(state, event, facts)
        case StepUpStarted():
            return outcomes.step_up_started(state, event)
        case StepUpPassed():
            return outcomes.step_up_passed(state, facts)
        case StepUpFailed():
            return outcomes.step_up_failed(state, event, facts)
        case TransferSettled():
            return outcomes.transfer_settled(state, event, facts)


def _delivered(state: DialogueState, *, delivered: bool) -> Step:
    """From now on a yes counts. Nothing is said."""
    if delivered and state.phase is Phase.READING:
        state = replace(state, phase=Phase.CONFIRMING)
    return state, Answer()


def _spoken(state: DialogueState, decision: Decision) -> Step:
    """Put what still has to be said before the decision's own words, and remember them for "say that again"."""
    if isinstance(decision, Execute) or decision.reply is None:
        return state, decision
    whole = _joined((*state.preface, decision.reply))
    return replace(state, preface=(), last=decision.reply), replace(decision, reply=whole)


def _joined(parts: tuple[Reply, ...]) -> Reply:
    whole = parts[-1]
    for part in reversed(parts[:-1]):
        whole = reply("say.both", first=part, second=whole)
    return whole


def context_of(state: DialogueState, facts: Facts) -> Context:
    """What the next utterance is heard against."""
    return Context(
        asked=state.asked if state.phase is Phase.ASKING else None,
        confirming=state.task is not None or state.phase in _BOUND,
        choices=len(state.choices),
        offered=marks(facts, state.choices) if state.asked is SlotName.PAYEE else (),
        code=state.phase is Phase.STEP_UP,
        accounts=facts.profile.accounts,
        cards=facts.profile.cards,
        bills=facts.profile.bills,
    )


def voided(before: DialogueState, after: DialogueState) -> bool:
    """Whether the ledger must void the call's open proposal: it was given up or is being replaced."""
    if before.proposal is None or after.proposal == before.proposal:
        return False
    return before.phase in {Phase.READING, Phase.CONFIRMING, Phase.STEP_UP}
