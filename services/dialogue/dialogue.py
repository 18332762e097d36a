"""The reducer: every event a dialogue can meet, and what follows from it."""

from dataclasses import replace
from datetime import date

from schemas.consent import Awaited
from schemas.decision import Answer, Decision, Execute, Reply
from schemas.intent import Context, Intent, SlotName
from services.dialogue import aftermath, outcomes
from services.dialogue.events import (
    ActionDone,
    ActionFailed,
    Event,
    Facts,
    OutcomesHeard,
    ProposalResumed,
    Proposed,
    QuestionUnanswered,
    ReadbackDelivered,
    ReadbackUnheard,
    Silence,
    StepUpFailed,
    StepUpPassed,
    StepUpStarted,
    TransferSettled,
    UserUtterance,
)
from services.dialogue.names import bill, both, marks
from services.dialogue.phases import Asking, Confirming, Proposing, Reading, SteppingUp, Submitting, Unlocking, Waiting
from services.dialogue.prompts import silent
from services.dialogue.state import DialogueState, Step
from services.dialogue.terms import terms_of
from services.dialogue.words import unanswered, understood


def decide(state: DialogueState, event: Event, facts: Facts) -> Step:
    """One event in, the next state and one decision out. Pure: the same arguments give the same result."""
    facts = _knowing(state, facts)
    if isinstance(state.phase, Unlocking) and isinstance(event, UserUtterance | Silence):
        return _meanwhile(state, state.phase, event, facts)
    after, decision = aftermath.reacted(state, event, facts) or _dispatch(state, event, facts)
    if isinstance(event, UserUtterance):
        after = after.keeping(aftermath.passed(after.memory))
    return _spoken(after, decision)


def _knowing(state: DialogueState, facts: Facts) -> Facts:
    """With the bills that were paid in this call, which the bank may list no more: each is known by its name."""
    paid = state.memory.paid
    if not paid:
        return facts
    gone = tuple(each for each in paid if bill(facts, each.id) is None)
    profile = replace(facts.profile, bills=(*facts.profile.bills, *gone)) if gone else facts.profile
    return replace(facts, profile=profile, paid=frozenset(each.id for each in paid))


def _meanwhile(state: DialogueState, unlocking: Unlocking, event: Event, facts: Facts) -> Step:
    """What is said while a card is being unlocked is said to what waits behind that."""
    after, decision = decide(state.at(unlocking.behind), event, facts)
    return (after.at(unlocking) if after.phase == unlocking.behind else after), decision


def _dispatch(state: DialogueState, event: Event, facts: Facts) -> Step:  # noqa: C901, PLR0911, PLR0912 - one case an event
    match event:
        case UserUtterance():
            return understood(state, event, facts)
        case Silence():
            return silent(state, facts)
        case Proposed():
            return outcomes.proposed(state, event, facts)
        case ProposalResumed():
            return outcomes.resumed(state, event, facts)
        case ReadbackDelivered(proposal):
            return outcomes.delivered(state, proposal)
        case ReadbackUnheard(proposal):
            return outcomes.undelivered(state, proposal)
        case OutcomesHeard(told):
            return state.keeping(aftermath.heard(state.memory, told)), Answer()
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
        case QuestionUnanswered(said):
            return unanswered(state, said, facts)


def _spoken(state: DialogueState, decision: Decision) -> Step:
    """Put what still has to be said before the decision's own words, and remember them for "say that again"."""
    inquired = decision.question if isinstance(decision, Answer) else ""
    if isinstance(decision, Execute) or decision.reply is None:
        kept = replace(state.memory, last=None, inquired=inquired) if inquired else state.memory
        return state.keeping(kept), decision
    whole: Reply = decision.reply
    for first in reversed(state.memory.preface):
        whole = both(first, whole)
    memory = replace(state.memory, preface=(), last=decision.reply, inquired=inquired)
    return state.keeping(memory), replace(decision, reply=whole)


def context_of(state: DialogueState, facts: Facts) -> Context:
    """What the next utterance is heard against."""
    facts = _knowing(state, facts)
    at, recent, terms = state.phase, state.memory.recent, terms_of(state, facts)
    return Context(
        asked=at.slot if isinstance(at, Asking) else None,
        confirming=state.task is not None or isinstance(at, SteppingUp),
        day=at.task.date_heard if isinstance(at, Asking) and at.slot is SlotName.DATE else "",
        days=tuple(map(date.fromisoformat, state.choices)) if state.asked is SlotName.DATE else (),
        choices=len(state.choices),
        offered=marks(facts, state.choices) if state.asked in {SlotName.PAYEE, SlotName.CARD} else (),
        code=isinstance(at, SteppingUp),
        recent=recent.intent if recent is not None and terms.awaited is Awaited.NOTHING else None,
        recent_bill=recent.bill if recent is not None and terms.awaited is Awaited.NOTHING else None,
        bill_before=state.memory.billed,
        recent_bills=recent.bills if recent is not None and terms.awaited is Awaited.NOTHING else (),
        told=state.memory.told if recent is not None and recent.intent is Intent.BALANCE_INQUIRY else (),
        accounts=facts.profile.accounts,
        cards=facts.profile.cards,
        bills=facts.profile.bills,
        terms=terms,
    )


def amount_open(state: DialogueState) -> bool:
    """Whether an amount was given that has not been agreed to: what comes next may go on with it."""
    at_hand = isinstance(state.phase, Asking | Waiting | Proposing | Reading | Confirming)
    return at_hand and state.task is not None and bool(state.task.amounts)


def voided(before: DialogueState, after: DialogueState) -> bool:
    """Whether the ledger must void the call's open proposal: it was given up or is being replaced."""
    open_ = before.proposal is not None and not isinstance(before.phase, Submitting)
    return open_ and after.proposal != before.proposal
