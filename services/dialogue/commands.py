"""Commands: what is at hand is left, corrected or put aside for them."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from rules.locales import locale_rules
from schemas.decision import Answer, Clarify, Execute, ReadBalance, Refuse, Reply
from schemas.intent import READING, Intent, Route, Slots, Topic, Understood
from schemas.pick import Pick
from services.dialogue.advance import advance, foreign, struck
from services.dialogue.amounts import merged, of_its_scale
from services.dialogue.asked import measured, owed_to
from services.dialogue.each_card import beside_the_first, every_card, first_of_two
from services.dialogue.errands import offer_of
from services.dialogue.events import Facts
from services.dialogue.names import both, reply
from services.dialogue.phases import (
    Asking,
    Changing,
    Confirming,
    Idle,
    Offering,
    OfferingPerson,
    Proposing,
    Reading,
    SteppingUp,
    Task,
    Unlocking,
    Waiting,
)
from services.dialogue.prompts import and_again
from services.dialogue.questions import due_to
from services.dialogue.recent import of_recent
from services.dialogue.resume import at_once, go_on, read_again
from services.dialogue.rules import dialogue_rules
from services.dialogue.state import DialogueState, Step
from services.dialogue.tasks import is_money, task_of
from services.dialogue.tasks import merged as put_in
from services.dialogue.terms import only_card
from services.dialogue.turns import room
from services.dialogue.turns import waiting as put_by

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


def command(state: DialogueState, heard: Understood, facts: Facts) -> Step:
    """Do what was asked for; offer it first where it is not sure to be meant."""
    if heard.by(*dialogue_rules().asked_first) and heard.then is not None:
        return _asked_first(state, heard, heard.then, facts)
    task = measured(state, leaning(state, heard, facts), facts)
    if _on_top(state, task, heard):
        return _besides(state, heard, facts)
    for told in _told_first(state, heard, task):
        state = state.keeping(state.memory.first(told))
    state = queued(state, heard, facts)
    waiting = state.task
    if heard.route in {Route.CLARIFY, Route.EXTRACT} or _other_card_step(state, task):
        return _offered(state, task, heard, facts)
    if heard.intent is Intent.CARD_LOCK and heard.slots.choice is not None and heard.slots.choice.value == Pick.EVERY:
        return every_card(state, task, facts)
    if not is_money(task) and (is_money(waiting) or (isinstance(state.phase, SteppingUp) and task.intent in READING)):
        return _digression(state, _of_waiting(waiting, task, heard), facts, left=heard.by(*dialogue_rules().asked_left))
    if waiting is not None and _goes_on(state, waiting, task):
        amounts = task.amounts
        task = merged(waiting, heard, facts)
        task = replace(task, amounts=amounts) if heard.by(*dialogue_rules().again) else task
    elif state.memory.recent is not None:
        task = of_recent(state.memory, state.memory.recent, task, heard, facts)
    memory = replace(state.memory, recent=task, billed=task.bill or state.memory.billed)
    return at_once(advance(memory, task, facts), facts)


def _of_waiting(waiting: Task | None, task: Task, heard: Understood) -> Task:
    """What is asked about a bill or a payee, of those of the order that waits where none is named: 「いつまで」."""
    if waiting is not None and heard.by(*dialogue_rules().to_them):
        return replace(task, payee=waiting.payee)
    its = task.bill is None and heard.by(*dialogue_rules().that_bill)
    return replace(task, bill=waiting.bill) if its and waiting is not None else task


def _offered(state: DialogueState, task: Task, heard: Understood, facts: Facts) -> Step:
    """Ask whether it is meant; of a card that may be one of several, which."""
    if heard.by(*dialogue_rules().which_card) and task.card is None and only_card(facts, locked=False) is None:
        return advance(replace(state.memory, recent=task), task, facts)
    if task.intent is Intent.CARD_UNLOCK and not _locked(task, facts):
        return _none_locked(state, task, facts)
    if heard.rule is None and heard.slots == Slots():  # nothing but a day or an account is kept of the words
        task = replace(task, unread=())
    sender = task.payee or owed_to(task.bill_heard, facts)
    if task.intent is Intent.BILL_PAYMENT and task.bill is None and sender and task.amounts:
        task = replace(task, intent=Intent.TRANSFER_MONEY, payee=sender, bill_heard="")  # who sends it is paid
    if (step := foreign(replace(state.memory, recent=task), task, facts)) is not None:
        return step
    state = _kept(state, task)
    state = state.keeping(due_to(state.memory, task, facts))
    locked = only_card(facts, locked=True) if task.intent is Intent.CARD_UNLOCK else None
    if task.intent is Intent.CARD_LOCK and task.card is not None and _locked(task, facts):
        return advance(replace(state.memory, recent=task), task, facts)
    first = first_of_two(state, facts) if task.intent is Intent.CARD_LOCK else None
    other = only_card(facts, locked=False) if first is not None and task.card != first.id else None
    task = replace(task, card=task.card or locked or other)
    offer = beside_the_first(first, task, offer_of(task, facts), facts)
    if locked is not None and task.card == locked:
        offer = both(reply("card.locked"), offer)
    hangs = dialogue_rules().conditional(task.unread)
    if hangs or (_whole(task) and not dialogue_rules().only_endings(task.unread)):  # one question, not two in turn
        missed = reply("problem.conditional" if hangs else "offer.missed_some")
        task, offer = struck(task, facts), both(missed, offer)
    return state.at(Offering(task, offer)), Clarify(offer)


def _kept(state: DialogueState, offered: Task) -> DialogueState:
    """With an order of another kind that is read back waiting its turn: what is only offered takes nothing's place."""
    task = state.task if _read_back(state) else None
    other = task is not None and is_money(task) and is_money(offered) and task.intent is not offered.intent
    return state.keeping(put_by(state.memory, (task,), next_=True)) if task is not None and other else state


def _locked(task: Task, facts: Facts) -> bool:
    """Whether the card, or any where none is named, is locked."""
    return any(each.locked for each in facts.profile.cards if task.card in {None, each.id})


def _none_locked(state: DialogueState, task: Task, facts: Facts) -> Step:
    """Nothing that could be unlocked: what waits is come back to."""
    if state.task is None:
        return advance(replace(state.memory, recent=task), task, facts)
    return go_on(state, reply("card.none_to_unlock"), facts)


def _whole(task: Task) -> bool:
    """Whether an offer of an order tells all of it."""
    return bool((task.payee or task.target) and len(task.amounts) == 1) or task.bill is not None


def _told_first(state: DialogueState, heard: Understood, task: Task) -> Iterator[Reply]:
    """What of it can't be done, and that more follows; a condition that is unread is told where it is asked about."""
    about, pieces = heard.slots.about, [each.surface for each in heard.unread]
    hangs = about == Topic.CONDITIONAL and not dialogue_rules().conditional(pieces)
    if hangs or about in {Topic.EXACT, Topic.SPLIT, Topic.NOTE, Topic.EXTRA}:
        yield reply(f"problem.{about}")
    if heard.by(*dialogue_rules().left_unpaid):
        before = state.memory.ordered
        yield reply("cancel.nothing" if before is not None and before.bill == task.bill else "bill.left_unpaid")
    if heard.then is not None and heard.in_turn[-1].intent is Intent.QNA:
        yield reply("offer.missed_some")
    if heard.then is not None and heard.then.intent in COMMANDS and is_money(task):
        yield reply("say.in_turn")


def _asked_first(state: DialogueState, heard: Understood, order: Understood, facts: Facts) -> Step:
    """What was asked for in the middle of an order is told, and then it is asked whether to go on with that."""
    limit = dialogue_rules().choices
    aside, decision = advance(state.memory, task_of(heard, limit), facts)
    kept = aside.at(Offering(task_of(order, limit), reply("offer.resume")))
    said = decision.reply if isinstance(decision, Refuse | Answer) else None
    return (kept, decision) if said is None else go_on(kept, said, facts)


def _read_back(state: DialogueState) -> bool:
    """Whether an order is at hand that is complete, and not yet agreed to or refused."""
    return state.read_back is not None or isinstance(state.phase, Proposing)


def _on_top(state: DialogueState, said: Task, heard: Understood) -> bool:
    """Whether a command comes on top of the order that is read back, or agreed to and its code awaited.

    Behind a yes that is any order to another payee; one to the same is the order anew.
    """
    if _read_back(state) and heard.by(*dialogue_rules().besides):
        return True
    waits = state.task if isinstance(state.phase, SteppingUp) and heard.route is Route.FAST else None
    others = waits is not None and (waits.payee, waits.target, waits.bill) != (said.payee, said.target, said.bill)
    return others and _anew(said)


def _besides(state: DialogueState, heard: Understood, facts: Facts) -> Step:
    """What is read back comes first: it is said once more, and a yes counts only after that. A bill is paid once."""
    bill = heard.slots.bill
    same = state.task is not None and bill is not None and bill.value == state.task.bill
    if same and isinstance(state.phase, Reading | Confirming):
        return read_again(state.memory, state.phase.it)
    full = not (same or room(state.memory))
    kept = state if same or full else state.keeping(put_by(state.memory, (leaning(state, heard, facts),)))
    kept = kept if kept is state else queued(kept, heard, facts)
    return and_again(kept, "say.no_more_kept" if full else "confirm.this_first", facts)


def _goes_on(state: DialogueState, waiting: Task, said: Task) -> bool:
    """Whether a command is about what waits already: its like, and no whole order of its own."""
    if waiting.intent is not said.intent:
        return False
    match state.phase:
        case Asking() | Waiting():
            return True
        case Offering() | Reading() | Confirming() | Changing():
            return not _anew(said)
        case _:
            return False


def _anew(said: Task) -> bool:
    """Whether a command is a whole order of its own."""
    whose = said.payee is not None or said.target is not None or bool(said.payee_heard)
    return is_money(said) and (said.bill is not None or (bool(said.amounts) and whose))


def _other_card_step(state: DialogueState, task: Task) -> bool:
    """Whether "it" may be the card that was spoken of, and something else than was offered is to be done to it."""
    offered = state.task.intent if isinstance(state.phase, Offering | OfferingPerson) and state.task else None
    return {offered, task.intent} == {Intent.CARD_LOCK, Intent.CARD_UNLOCK} and task.card is None


def _digression(state: DialogueState, task: Task, facts: Facts, *, left: bool = False) -> Step:
    """Do something else first; the money task waits, and any read-back of it is void, but a code stays awaited.

    `left`: of its account, what the order will leave.
    """
    it = state.read_back if left else None
    order = it.order if it is not None and task.account in {None, it.order.source} and not task.accounts else None
    aside, decision = advance(state.memory, task, facts)
    if order is not None:
        decision = Execute(ReadBalance(order.source, less=order.amount))
    phase, waiting = state.phase, state.task
    behind = Idle() if waiting is None else Changing(waiting) if isinstance(phase, Changing) else Waiting(waiting)
    match aside.phase:
        case Idle():
            kept = aside.at(phase if isinstance(phase, SteppingUp) else behind)
        case Unlocking(card):
            kept = aside.at(Unlocking(card, behind))
        case _ if waiting is not None and not room(aside.memory):
            return go_on(state, reply("say.no_more_kept"), facts)
        case _:  # the aside itself lacks something: the older task waits behind it
            return aside.keeping(put_by(aside.memory, () if waiting is None else (waiting,), next_=True)), decision
    said = decision.reply if isinstance(decision, Refuse | Answer) else None
    return (kept, decision) if said is None else go_on(kept, said, facts)


def queued(state: DialogueState, heard: Understood, facts: Facts) -> DialogueState:
    """What was said after the command waits its turn."""
    then, more = heard.then, list[Task]()
    while then is not None and then.intent in COMMANDS | {Intent.HUMAN_HANDOFF}:
        more.append(leaning(state, then, facts, more[-1] if more else leaning(state, heard, facts)))
        then = then.then
    return state.keeping(put_by(state.memory, tuple(more))) if more else state


def leaning(state: DialogueState, heard: Understood, facts: Facts, before: Task | None = None) -> Task:
    """The task of a command; one that leans on the last order ("the same for Cathy") has what that had.

    The last is the one `before` it in the same breath, where that is one.
    """
    rules = dialogue_rules()
    task = task_of(heard, rules.choices)
    base = state.task if _read_back(state) else state.memory.ordered
    base = before if before is not None and is_money(before) else base
    if base is not None and (before is not None or heard.by(*rules.further_sum)):
        task = of_its_scale(task, base, locale_rules(facts.locale).digits)
    if base is None or not heard.by(*rules.again):
        return task
    as_it_was = base.amounts if heard.slots.about != Topic.EXACT else ()
    return put_in(replace(base, intent=task.intent, bill=None, portion="", amounts=as_it_was), heard, rules.choices)
