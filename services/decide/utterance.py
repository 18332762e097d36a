"""What the caller's words do to the dialogue."""

from dataclasses import replace
from typing import Final

from schemas.decision import Answer, Clarify, Execute, Handoff, Refuse, SubmitTransfer, VerifyStepUp
from schemas.extraction import Fallback
from schemas.ids import PayeeId
from schemas.intent import MONEY_MOVING, Evidence, Intent, Mention, Route, Slot, SlotName, Slots, Understood
from services.decide.asking import Step, advance, amount_key, ask, pending_question
from services.decide.events import Extracted, Facts, UtteranceUnderstood
from services.decide.names import last_digits, reply
from services.decide.outcomes import go_on
from services.decide.prompts import missed, offer_human, question, read_again, repeated
from services.decide.rules import dialogue_rules
from services.decide.state import DialogueState, Offer, Phase, Task
from services.decide.tasks import chosen_payee, is_money, merged, task_of

COMMANDS: Final = frozenset(
    {
        Intent.BALANCE_INQUIRY,
        Intent.RECENT_TRANSACTIONS,
        Intent.TRANSFER_MONEY,
        Intent.BILL_PAYMENT,
        Intent.BILL_INQUIRY,
        Intent.CARD_LOCK,
        Intent.CARD_UNLOCK,
        Intent.RECIPIENT_LOOKUP,
    }
)
_MODEL_MAY_CHOOSE: Final = COMMANDS | {Intent.HUMAN_HANDOFF, Intent.QNA, Intent.CANCEL, Intent.INFORM}


def understood(state: DialogueState, event: UtteranceUnderstood, facts: Facts) -> Step:
    """Act on one utterance."""
    heard = event.understood
    if state.phase is Phase.SUBMITTING:
        return state, Answer(reply=reply("transfer.in_progress"))
    if heard.intent is Intent.QNA or heard.route is Route.QNA:
        return _open_question(state, event.text, facts)
    if heard.intent is None:
        return _not_understood(state, heard, facts)
    step = _act(state, heard, facts) if heard.intent not in COMMANDS else _command(state, heard, facts)
    after, decision = step
    return (after if after.misses != state.misses else replace(after, misses=0)), decision


def _not_understood(state: DialogueState, heard: Understood, facts: Facts) -> Step:
    """Asked for a payee, words in which the directory found someone are an answer, whatever stands around them."""
    if state.asked is SlotName.PAYEE and state.task is not None and heard.payees is not None and heard.payees.choice:
        evidence = Evidence(heard.payees.start, heard.payees.end, heard.payees.heard, dialogue_rules().rule)
        named = replace(heard, unresolved=(Mention(SlotName.PAYEE, evidence),))
        task = merged(state.task, named, dialogue_rules().choices)
        task = replace(task, payee_candidates=(PayeeId(heard.payees.choice),))
        return advance(replace(state, task=task), facts)
    return missed(state, facts)


def _open_question(state: DialogueState, text: str, facts: Facts) -> Step:
    """Answer from the documents, then come back; a read-back that was left has to be read again before a yes."""
    if state.phase in {Phase.READING, Phase.CONFIRMING}:
        state = replace(state, phase=Phase.OFFERING, offer=Offer.TASK, proposal=None, readback=None)
        return state, Answer(text, reply("offer.resume"))
    return replace(state, misses=0), Answer(text, pending_question(state, facts))


def _act(state: DialogueState, heard: Understood, facts: Facts) -> Step:  # noqa: PLR0911 - one return an act
    match heard.intent:
        case Intent.HUMAN_HANDOFF:
            return _dropped(state), Handoff(reply("handoff.now"))
        case Intent.CONFIRM:
            return _yes(state, heard, facts)
        case Intent.DENY:
            return _no(state, facts)
        case Intent.CANCEL:
            return _cancel(state, facts)
        case Intent.REPEAT:
            return repeated(state, facts)
        case Intent.HELP:
            return _help(state, facts)
        case Intent.START_OVER:
            return replace(_dropped(state), queue=()), Clarify(reply("start_over.done"))
        case _:
            return _informed(state, heard, facts)


def _dropped(state: DialogueState) -> DialogueState:
    """Without the task at hand; what was said after it stays."""
    return DialogueState(queue=state.queue, last=state.last)


def _yes(state: DialogueState, heard: Understood, facts: Facts) -> Step:  # noqa: PLR0911 - one return a phase
    match state.phase:
        case Phase.CONFIRMING if heard.confidence >= dialogue_rules().yes_confidence and state.proposal is not None:
            return replace(state, phase=Phase.SUBMITTING), Execute(SubmitTransfer(state.proposal))
        case Phase.CONFIRMING:
            return read_again(state, unsure=True)
        case Phase.READING:
            return read_again(state)
        case Phase.OFFERING if state.offer is Offer.HUMAN:
            return _dropped(state), Handoff(reply("handoff.now"))
        case Phase.OFFERING if state.task is not None:
            return advance(replace(state, offer=None), facts)
        case Phase.ASKING if state.task is not None and len(state.choices) == 1:
            return _choose(state, state.task, 1, facts)
        case _:
            return state, Clarify(question(state, facts), state.asked, state.choices)


def _no(state: DialogueState, facts: Facts) -> Step:
    match state.phase:
        case Phase.CONFIRMING | Phase.READING | Phase.PROPOSING:
            return ask(state, None, reply("ask.what_to_change"))
        case Phase.OFFERING if state.offer is Offer.HUMAN and state.task is not None:
            return advance(replace(state, offer=None, misses=0), facts)
        case Phase.OFFERING:
            return go_on(_dropped(state), reply("say.ok_what_else"), facts)
        case Phase.ASKING if state.task is not None and state.choices and state.asked is SlotName.PAYEE:
            return _choose(state, state.task, 0, facts)
        case Phase.ASKING | Phase.STEP_UP:
            return _cancel(state, facts)
        case _:
            return state, Answer(reply=reply("say.ok_what_else"))


def _cancel(state: DialogueState, facts: Facts) -> Step:
    if state.task is None and state.proposal is None and state.unlocking is None:
        said = reply("say.ok_what_else") if state.phase is Phase.OFFERING else reply("cancel.nothing")
        return replace(_dropped(state), queue=()), Answer(reply=said)
    said = reply("cancel.done_money") if is_money(state.task) else reply("cancel.done")
    return go_on(_dropped(state), said, facts)


def _help(state: DialogueState, facts: Facts) -> Step:
    pending = pending_question(state, facts)
    if pending is None:
        return state, Clarify(reply("help.general"))
    said = reply("say.both", first=reply("help.pending"), second=question(state, facts))
    return state, Clarify(said, state.asked, state.choices)


def _informed(state: DialogueState, heard: Understood, facts: Facts) -> Step:
    """An answer or a correction: put it into the task, void what was read back, go on."""
    if state.phase is Phase.STEP_UP and heard.slots.digits is not None:
        return state, Execute(VerifyStepUp(heard.slots.digits.value))
    task = state.task
    if task is None:
        return missed(state, facts)
    if heard.slots.choice is not None:
        return _choose(state, task, heard.slots.choice.value, facts)
    if heard.slots.digits is not None:
        return _choose(state, task, _ending_in(state, heard.slots.digits.value, facts), facts)
    return _changed(state, task, heard, facts)


def _changed(state: DialogueState, task: Task, heard: Understood, facts: Facts) -> Step:
    """Put what was said into the task; asked-for slots that were rejected are asked for."""
    changed = merged(task, heard, dialogue_rules().choices)
    if changed == task and not heard.rejected:
        return missed(state, facts)
    state = _fruitless(state, task, changed)
    if state.misses > dialogue_rules().prompts:
        return offer_human(replace(state, task=changed))
    after = replace(state, task=changed, order=None, proposal=None, readback=None, offer=None)
    if SlotName.DATE in heard.rejected and changed.on is None:
        return ask(after, SlotName.DATE, reply("ask.date"))
    if SlotName.SOURCE in heard.rejected and changed.source is None:
        return ask(after, SlotName.SOURCE, reply("ask.source"))
    return advance(after, facts)


def _fruitless(state: DialogueState, before: Task, after: Task) -> DialogueState:
    """A name that nobody here has is an answer, but not for ever."""
    got = (after.payee, after.target, after.bill, after.amounts, after.payee_candidates)
    had = (before.payee, before.target, before.bill, before.amounts, before.payee_candidates)
    return replace(state, misses=state.misses + 1) if got == had and (after.payee_heard or after.bill_heard) else state


def _ending_in(state: DialogueState, digits: str, facts: Facts) -> int:
    """Which of what was offered has a number that ends so, 1-based; beyond them where none or several do."""
    numbers = [last_digits(facts, key) for key in state.choices]
    fitting = [place for place, number in enumerate(numbers, 1) if number and number.endswith(digits)]
    return fitting[0] if len(fitting) == 1 else len(state.choices) + 1


def _choose(state: DialogueState, task: Task, number: int, facts: Facts) -> Step:
    """Take the n-th of what was offered (1-based, −1 the last); 0 is none of them."""
    if number == 0:
        cleared = replace(task, payee=None, payee_candidates=(), payee_heard="", target=None)
        return ask(replace(state, task=cleared), SlotName.PAYEE, reply("ask.payee"))
    index = number - 1 if number > 0 else len(state.choices) - 1
    if not 0 <= index < len(state.choices):
        return missed(state, facts)
    key = state.choices[index]
    match state.asked:
        case SlotName.PAYEE:
            task = chosen_payee(task, PayeeId(key))
        case SlotName.AMOUNT:
            task = replace(task, amounts=tuple(a for a in task.amounts if amount_key(a) == key)[:1])
        case SlotName.CARD:
            task = replace(task, card=next(c.id for c in facts.profile.cards if c.id == key))
        case SlotName.BILL:
            task = replace(task, bill=next(b.id for b in facts.profile.bills if b.id == key), bill_heard="")
        case _:
            return missed(state, facts)
    return advance(replace(state, task=task, misses=0), facts)


def _command(state: DialogueState, heard: Understood, facts: Facts) -> Step:
    rules = dialogue_rules()
    task = task_of(heard, rules.choices)
    state = _queued(state, heard)
    if heard.route in {Route.CLARIFY, Route.EXTRACT}:
        offered = replace(state, phase=Phase.OFFERING, offer=Offer.TASK, task=task, asked=None, choices=())
        return replace(offered, proposal=None, readback=None), Clarify(reply(f"offer.{task.intent.value}"))
    if is_money(task) or state.task is None or not is_money(state.task):
        if state.task is not None and state.phase is Phase.ASKING and state.task.intent is task.intent:
            task = merged(state.task, heard, rules.choices)
        fresh = replace(state, task=task, order=None, proposal=None, readback=None, offer=None, asked=None, choices=())
        return advance(replace(fresh, phase=Phase.IDLE), facts)
    return _digression(state, task, facts)


def _digression(state: DialogueState, task: Task, facts: Facts) -> Step:
    """Do something else first; the money task waits, and any read-back of it is void."""
    aside, decision = advance(replace(state, task=task), facts)
    if aside.task is not None:  # the aside itself lacks something: the older task waits behind it
        assert state.task is not None, "there was a task to digress from"
        queue = (state.task, *state.queue)[: dialogue_rules().queued]
        return replace(aside, queue=queue), decision
    kept = replace(aside, task=state.task, phase=Phase.ASKING, order=None, proposal=None, readback=None)
    said = decision.reply if isinstance(decision, Refuse | Answer) else None
    return go_on(kept, said, facts) if said is not None else (kept, decision)


def _queued(state: DialogueState, heard: Understood) -> DialogueState:
    """What was said after the command waits its turn."""
    rules, then = dialogue_rules(), heard.then
    while then is not None and then.intent in COMMANDS:
        state = replace(state, queue=(*state.queue, task_of(then, rules.choices))[: rules.queued])
        then = then.then
    return state


def extracted(state: DialogueState, event: Extracted, facts: Facts) -> Step:
    """Act on the model's choice: it may name a command, its slots, an answer's value or a wish to stop; never a yes."""
    chosen = event.extraction
    if chosen.fallback is Fallback.NOT_BANKING or chosen.intent not in _MODEL_MAY_CHOOSE:
        return missed(state, facts)
    if chosen.intent is Intent.CANCEL:
        return _model_cancels(state, event, facts)
    evidence = Evidence(0, len(event.text), event.text, dialogue_rules().rule)
    slots = Slots(
        amount=Slot(chosen.amount, evidence, chosen.readings) if chosen.amount is not None else None,
        payee=Slot(chosen.payee, evidence) if chosen.payee is not None else None,
    )
    doubtful = chosen.needs_confirmation and chosen.intent not in MONEY_MOVING | {Intent.CARD_UNLOCK}
    route = Route.CLARIFY if doubtful and chosen.intent in COMMANDS else Route.FAST
    meant = replace(event.understood, intent=chosen.intent, slots=slots, route=route, confidence=1.0, then=None)
    return understood(state, UtteranceUnderstood(event.text, meant), facts)


def _model_cancels(state: DialogueState, event: Extracted, facts: Facts) -> Step:
    """What is at hand is given up, if the model is sure; with nothing at hand it is about an earlier payment."""
    if event.extraction.needs_confirmation:
        return missed(state, facts)
    if state.task is None and state.proposal is None and state.unlocking is None and state.phase is not Phase.OFFERING:
        return _open_question(state, event.text, facts)
    return understood(state, UtteranceUnderstood(event.text, Understood(Intent.CANCEL, route=Route.FAST)), facts)
