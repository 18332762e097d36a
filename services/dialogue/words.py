"""What the caller's words do to the dialogue."""

from dataclasses import replace
from typing import Final

from rules.orders import limits_of
from schemas.decision import Answer, Clarify
from schemas.extraction import Extraction, Fallback
from schemas.ids import PayeeId, RuleId, language
from schemas.intent import MONEY_MOVING, READING, Evidence, Intent, Route, Slot, Slots, Understood
from schemas.money import Money
from schemas.payee import PayeeMatch
from services.dialogue.advance import advance
from services.dialogue.answers import answered
from services.dialogue.commands import COMMANDS, command, queued
from services.dialogue.events import Facts, UserUtterance
from services.dialogue.names import both, payee_name, reply
from services.dialogue.phases import (
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
)
from services.dialogue.policy import currency_of
from services.dialogue.prompts import helped, missed, repeated, unclear, wait
from services.dialogue.remarks import everything_cancelled, offered_once, remark
from services.dialogue.resume import come_back, dropped, go_on, going_on, offer_person, refused, set_aside, to_a_person
from services.dialogue.rules import dialogue_rules
from services.dialogue.state import DialogueState, Step
from services.dialogue.tasks import ordered, task_of
from services.dialogue.turns import of_what_went_out
from services.dialogue.values import value_unasked

_MODEL_MAY_CHOOSE: Final = COMMANDS | {Intent.HUMAN_HANDOFF, Intent.QNA, Intent.CANCEL, Intent.INFORM}
_MAX_TOPIC: Final = 200
"""Characters of what was asked one after the other: the last of it counts."""
_REPEATED: Final = RuleId("veto.recurring")
_PERSON_FOR: Final = {
    "not_here": "offer.person_for_it",
    **{topic: f"offer.person_{topic}" for topic in ("sorry", "scam", "kin", "hold", "recall", "about", "advice")},
}
"""The topic of what only a person can do."""
_OFFERED: Final = frozenset({Intent.CARD_LOCK, Intent.CARD_UNLOCK, Intent.HUMAN_HANDOFF})
"""Where something is offered, no model takes words for a yes to it."""


def understood(state: DialogueState, event: UserUtterance, facts: Facts) -> Step:
    """Act on one utterance, and note what was asked of the documents, for as long as nothing else is wanted."""
    after, decision = _acted(state, event, facts)
    topic, about = (decision.question, decision.about) if isinstance(decision, Answer) else ("", "")
    if about and dialogue_rules().leans(topic):
        topic = f"{about} {topic}"[-_MAX_TOPIC:]
    elif not topic and event.understood.intent is None:
        topic = state.memory.topic
    return after if topic == after.memory.topic else after.keeping(replace(after.memory, topic=topic)), decision


def _acted(state: DialogueState, event: UserUtterance, facts: Facts) -> Step:
    """Nothing that is said changes what is being submitted."""
    if isinstance(state.phase, Submitting):
        return state, Answer(reply=reply("transfer.in_progress"))
    if _goes_on(state, event):
        return _open_question(state, event.text, facts, state.memory.topic)
    if event.extraction is not None:
        step = _chosen(state, event, event.extraction, facts)
    else:
        step = _meant(state, event.text, event.understood, facts)
    return _never_as_it_was(state, event, step, facts)


def _never_as_it_was(state: DialogueState, event: UserUtterance, step: Step, facts: Facts) -> Step:
    """What to change is asked where an order would but be read again behind a refusal, or another value not read."""
    at, (after, _), heard = state.phase, step, event.understood
    answers = heard.intent in {None, Intent.INFORM, Intent.CORRECT} and heard.slots.topic is None
    answers = answers and not of_what_went_out(state.memory, heard)
    if not isinstance(at, Reading | Confirming) or not answers or after.memory.queue != state.memory.queue:
        return step
    payee = at.it.task.payee
    another = heard.payees is not None and heard.payees.choice != payee and not _so_called(heard.payees, payee, facts)
    named = after.memory.misses > state.memory.misses and (heard.unresolved or another)
    to = after.phase.it if isinstance(after.phase, Reading | Confirming) else after.phase
    same = isinstance(to, ReadBack | Proposing) and to.order == at.it.order
    return refused(state, at.it.task) if same and (named or dialogue_rules().refuses(event.text)) else step


def _so_called(found: PayeeMatch, payee: PayeeId | None, facts: Facts) -> bool:
    """Whether all who may be meant have the name of this one: of two who are called alike nobody else is told."""
    own = payee_name(facts, payee) if payee is not None else ""
    plausible = found.candidates[: found.plausible]
    return len(plausible) > 1 and all(payee_name(facts, each.id) == own for each in plausible)


def _meant(state: DialogueState, text: str, heard: Understood, facts: Facts) -> Step:
    state = state.keeping(replace(state.memory, patience=0)) if state.memory.patience else state
    if heard.intent is Intent.QNA or heard.route is Route.QNA:
        return _asked(state, text, heard, facts)
    if heard.intent is None and _REPEATED in heard.vetoes and state.task is None:
        return offered_once(state, heard, facts)
    if (answer := remark(state, heard, facts)) is not None:
        return answer
    if heard.intent is None:
        return value_unasked(state, heard, facts)
    after, decision = _act(state, heard, facts)
    missed_again = after.memory.misses != state.memory.misses
    return (after if missed_again else after.keeping(after.memory.missed(0))), decision


def _goes_on(state: DialogueState, event: UserUtterance) -> bool:
    """Whether words that say nothing by themselves go on with what was asked of the documents: "and on Sundays?"."""
    heard, rules = event.understood, dialogue_rules()
    nothing = heard.intent is None or (heard.by(*rules.elided) and heard.slots.payee is None)
    waits = state.task is not None or heard.payees is not None or heard.then is not None
    return bool(state.memory.topic) and nothing and not waits and rules.leans(event.text)


def _asked(state: DialogueState, text: str, heard: Understood, facts: Facts) -> Step:
    """Answer from the documents, with the order that was said beside it, if any; what is not done here is told."""
    if state.task is None and heard.by(*dialogue_rules().not_here):
        if heard.then is None or heard.then.intent not in MONEY_MOVING:
            return state, Answer(reply=reply("error.not_allowed"))
        return command(state.keeping(state.memory.first(reply("error.not_allowed"))), heard.then, facts)
    limits = heard.by(*dialogue_rules().limit_asked) or (heard.then is None and dialogue_rules().asks_limit(text))
    if limits and facts.profile.limits:
        return _limit(state, facts)
    if heard.then is not None and heard.then.intent in MONEY_MOVING and state.task is None:
        return _asked_beside(state, text, heard.then, facts)
    topic = state.memory.topic if dialogue_rules().refers(text) else ""
    order = state.task is not None or state.memory.ordered is not None
    asked = _in_full(state, text, heard, facts) if order or not topic else text
    return _open_question(state, asked, facts, topic if asked == text else "")


def _limit(state: DialogueState, facts: Facts) -> Step:
    """What may be sent at once, and in a day; then back to what waits."""
    each = limits_of(facts.profile, currency_of(None, facts)) or facts.profile.limits[0]
    once, day = Money(each.per_transfer, each.currency), Money(each.per_day, each.currency)
    state, pending = come_back(state.keeping(replace(state.memory, recent=Task(Intent.QNA))), facts)
    told = reply("limit.told", per_transfer=once, per_day=day)
    return (state, Answer(reply=told)) if pending is None else (state, Clarify(both(told, pending)))


def _in_full(state: DialogueState, text: str, heard: Understood, facts: Facts) -> str:
    """What is asked about the order that waits, in words that say so: "can i cancel it later"."""
    asked, questions = (heard.rule or "").partition("@")[0], dialogue_rules().questions
    local = questions.get(f"{asked}.{language(facts.locale)}")
    later = state.task is not None and state.task.on is not None and state.task.on > facts.today
    return questions.get(f"{asked}_booked" if later else asked) or questions.get(asked) or local or text


def _open_question(state: DialogueState, text: str, facts: Facts, about: str = "") -> Step:
    """Answer from the documents, then come back; a read-back that was left has to be read again before a yes.

    `about` is what was asked before. Who asks on wants no person that was offered before.
    """
    if isinstance(state.phase, OfferingPerson) and not isinstance(state.phase.behind, Offering):
        state = state.at(state.phase.behind)
    state, pending = come_back(state.keeping(state.memory.missed(0)), facts)
    return state, Answer(text, about, pending)


def unanswered(state: DialogueState, said: str, facts: Facts) -> Step:
    """No document answers: a person is offered, before what waits; beside what can't wait it is but told."""
    if isinstance(state.phase, Submitting | Unlocking):
        return state, Answer(reply=reply("answer.none"))
    if isinstance(state.phase, SteppingUp):
        return go_on(state, reply("answer.none"), facts)
    return offer_person(state.memory, set_aside(state.phase, state.task), said)


def _asked_beside(state: DialogueState, text: str, order: Understood, facts: Facts) -> Step:
    """Answer from the documents, and come to the order that was said with the question: it is read back after a yes."""
    task = task_of(order, dialogue_rules().choices)
    after, decision = advance(state.memory, task, facts)
    if isinstance(decision, Clarify):
        return after, Answer(text, reply=decision.reply)
    after, offer = going_on(state, task)
    return after, Answer(text, reply=offer)


def _act(state: DialogueState, heard: Understood, facts: Facts) -> Step:  # noqa: PLR0911 - one return an act
    """What is the same wherever a dialogue stands; the rest is its phase's to answer."""
    match heard.intent:
        case Intent.HUMAN_HANDOFF if heard.route is Route.CLARIFY:
            behind = state.phase.behind if isinstance(state.phase, OfferingPerson) else Idle()
            return offer_person(state.memory, behind, _PERSON_FOR.get(heard.slots.about, "offer.person"))
        case Intent.HUMAN_HANDOFF:
            return dropped(state), to_a_person(state)
        case Intent.REPEAT:
            return _advised(state, heard) or repeated(state, facts)
        case Intent.HELP:
            return helped(state, facts)
        case Intent.WAIT:
            return wait(state)
        case Intent.FAREWELL:
            return state, Answer(reply=reply("say.goodbye"))
        case Intent.START_OVER:
            fresh = dropped(state)
            return _anew(fresh.keeping(replace(fresh.memory, queue=())), heard.then, facts)
        case Intent.DENY | Intent.CANCEL:
            return _refused(state, heard, facts)
        case intent if intent in COMMANDS:
            return command(state, heard, facts)
        case _:
            return answered(state, heard, facts)


def _advised(state: DialogueState, heard: Understood) -> Step | None:
    """What to do about what was warned of, where that is asked; None where nothing was."""
    rules, phase, last = dialogue_rules(), state.phase, state.memory.last
    warned = last is not None and last.id in rules.warned and heard.by(*rules.what_now)
    if not warned or not isinstance(phase, OfferingPerson):
        return None
    return offer_person(state.memory, phase.behind, _PERSON_FOR["advice"])


def _refused(state: DialogueState, heard: Understood, facts: Facts) -> Step:
    """A no, or a wish to stop: for something to look up, for a new order, or for other values of what was read back."""
    if (given_up := everything_cancelled(state, heard, facts)) is not None:
        return given_up
    then, read_back = heard.then, state.read_back
    if then is not None and heard.intent is Intent.DENY and then.intent in READING and read_back is not None:
        return command(state.at(Changing(read_back.task)), then, facts)
    if then is not None and heard.intent is Intent.CANCEL and then.intent is Intent.CORRECT:
        then = ordered(then)
        if then.intent is Intent.CORRECT and read_back is not None:
            return answered(state, then, facts)
    return answered(queued(state, replace(heard, then=then), facts), heard, facts)


def _anew(fresh: DialogueState, then: Understood | None, facts: Facts) -> Step:
    """What was said in one breath with the wish to start over, with nothing of what was said before it."""
    if then is not None and then.intent in {Intent.INFORM, Intent.CORRECT}:
        then = ordered(then)
    if then is None or then.intent not in COMMANDS:
        return fresh, Clarify(reply("start_over.done"))
    return command(fresh, then, facts)


def _chosen(state: DialogueState, event: UserUtterance, chosen: Extraction, facts: Facts) -> Step:
    """Act on the model's choice: it may name a command, its slots, an answer's value or a wish to stop; never a yes."""
    if chosen.fallback is Fallback.NOT_BANKING or chosen.intent not in _MODEL_MAY_CHOOSE:
        return missed(state, facts)
    if isinstance(state.phase, Offering | OfferingPerson) and chosen.intent in _OFFERED:
        return unclear(state, facts)
    if chosen.intent is Intent.CANCEL:
        return _model_cancels(state, event, chosen, facts)
    evidence = Evidence(0, len(event.text), event.text, dialogue_rules().rule)
    slots = Slots(
        amount=Slot(chosen.amount, evidence, chosen.readings) if chosen.amount is not None else None,
        payee=Slot(chosen.payee, evidence) if chosen.payee is not None else None,
    )
    doubtful = chosen.needs_confirmation and chosen.intent not in MONEY_MOVING | {Intent.CARD_UNLOCK}
    route = Route.CLARIFY if doubtful and chosen.intent in COMMANDS else Route.FAST
    meant = replace(event.understood, intent=chosen.intent, slots=slots, route=route, confidence=1.0, then=None)
    return _meant(state, event.text, meant, facts)


def _model_cancels(state: DialogueState, event: UserUtterance, chosen: Extraction, facts: Facts) -> Step:
    """What is at hand is given up, if the model is sure; with nothing at hand it is about an earlier payment."""
    if chosen.needs_confirmation:
        return missed(state, facts)
    if isinstance(state.phase, Idle):
        return _open_question(state, event.text, facts)
    return _meant(state, event.text, Understood(Intent.CANCEL, route=Route.FAST), facts)
