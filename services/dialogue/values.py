"""Answers and corrections: what was said is put into the task, what was read back is void, and the dialogue goes on."""

from dataclasses import replace
from typing import Final

from schemas.decision import Clarify
from schemas.ids import PayeeId
from schemas.intent import Evidence, Intent, Mention, Slot, SlotName, Slots, Understood
from schemas.pick import Pick
from schemas.span import MoneyValue
from services.dialogue.advance import advance
from services.dialogue.amounts import merged
from services.dialogue.each_card import all_cards, with_others
from services.dialogue.events import Facts
from services.dialogue.names import open_bills, reply
from services.dialogue.offered import ending_in, marked, other_card, place_of_paid_last, pointed, told_by_name
from services.dialogue.parts import as_read, may_stay, noted_besides
from services.dialogue.phases import Asking, Confirming, Offering, Reading, Task
from services.dialogue.prompts import and_again, missed
from services.dialogue.questions import amount_key, ask, own_account
from services.dialogue.resume import offer_person, read_again, refused, set_aside, without_person
from services.dialogue.rules import dialogue_rules
from services.dialogue.state import DialogueState, Step
from services.dialogue.tasks import BY_HOW_MUCH, DAYS, is_money, settled, taken
from services.dialogue.turns import is_it, of_what_went_out, waiting

_DATE: Final = frozenset({SlotName.DATE})


def value(state: DialogueState, heard: Understood, facts: Facts) -> Step:
    """A choice of what was offered, or a value for the task at hand."""
    task, slots = state.task, heard.slots
    if task is None:
        return missed(state, facts)
    if slots.choice is not None and slots.choice.value == Pick.EVERY:
        return _each_offered(state, task, heard, facts) or all_cards(state, task, facts)
    if slots.choice is not None and state.asked is not None and getattr(slots, state.asked.value) is not None:
        heard = replace(heard, slots=replace(slots, choice=None), rejected=())  # "neither, a hundred and sixty"
    elif slots.choice is not None:
        return choose(state, pointed(state, heard, slots.choice.value), facts, heard)
    told = other_card(state, heard) or told_by_name(state, heard, facts) or marked(state, heard, facts)
    if told is not None:
        return choose(state, told, facts)
    if slots.digits is not None:
        return choose(state, ending_in(state, slots.digits.value, facts), facts)
    if heard.by(*dialogue_rules().of_all):
        state = _all_changed(state, heard, facts)
    step = _in_instalments(state, task, heard, facts) or _each_changed(state, task, heard, facts)
    step = step or _those_left(state, task, heard, facts) or _of_one_that_waits(state, task, heard, facts)
    step = step or _told_by_another(state, task, heard, facts)
    return step or own_account(state, task, heard, facts) or _changed(state, task, heard, facts)


def _those_left(state: DialogueState, task: Task, heard: Understood, facts: Facts) -> Step | None:
    """Of the offered payees those who are not said not to be meant; None where nothing is told by that, or one is."""
    if not heard.payees or heard.slots.payee or state.asked is not SlotName.PAYEE or state.asked not in heard.rejected:
        return None
    named = {each.id for each in heard.payees.candidates[: max(1, heard.payees.plausible)]}
    rest = tuple(PayeeId(each) for each in state.choices if each not in named)
    if not 0 < len(rest) < len(state.choices):
        return None
    left = task.paying(rest[0]) if len(rest) == 1 else replace(task, payee_candidates=rest)
    return advance(state.memory.missed(0), left, facts)


def value_unasked(state: DialogueState, heard: Understood, facts: Facts) -> Step:
    """Words without an intent may still name a payee who was asked for, or speak of a day or an account."""
    task = state.task
    if task is None and state.memory.last == reply("problem.repeated") and heard.unresolved:
        return state, Clarify(reply("problem.repeated"))  # "starting january"
    if task is None:
        return missed(without_person(state, heard), facts)
    found = heard.payees
    if state.asked is SlotName.PAYEE and found is not None and found.choice:
        evidence = Evidence(found.start, found.end, found.heard, dialogue_rules().rule)
        named = replace(heard, unresolved=(*heard.unresolved, Mention(SlotName.PAYEE, evidence)))
        task = replace(merged(task, named, facts), payee_candidates=(PayeeId(found.choice),))
        return advance(state.memory, task, facts)
    if is_money(task) and heard.unresolved:
        return _changed(state, task, replace(heard, unread=()), facts)
    return missed(state, facts)


def _changed(state: DialogueState, task: Task, heard: Understood, facts: Facts) -> Step:
    """Put what was said into the task; asked-for slots that were rejected are asked for."""
    task, heard = _of_another_kind(task, heard, facts)
    task = as_read(state, task, heard.slots)
    had = task
    if task.on is None and heard.slots.portion is not None and heard.slots.portion.value.startswith(DAYS):
        task = replace(settled(task, SlotName.DATE), on=facts.today)
    if task.intent is Intent.BILL_PAYMENT and SlotName.PAYEE in heard.rejected and heard.slots.bill is None:
        task = replace(task, bill=None, amounts=(), portion="")  # "not that one": which bill is asked
    changed = merged(task, heard, facts)
    if changed == had and not heard.rejected:
        return _as_it_is(state, task, heard, facts)
    memory = state.memory
    if _fruitless(task, changed):
        memory = memory.missed(memory.misses + 1)
    if memory.misses > dialogue_rules().prompts:
        return offer_person(memory, set_aside(state.phase, changed))
    if changed == state.task and state.read_back is not None:  # what was refused is never read back as it was
        return refused(state, task)
    elsewhere = changed.source != task.source and not changed.amounts
    if elsewhere and task.refused is not None and state.asked is SlotName.AMOUNT:  # there is enough in another
        return advance(memory, replace(changed, amounts=(task.refused,), refused=None), facts)
    noted = noted_besides(state, task, changed, facts)
    return advance(memory.first(noted) if noted is not None else memory, changed, facts)


def _told_by_another(state: DialogueState, task: Task, heard: Understood, facts: Facts) -> Step | None:
    """The order to the one other payee of that name, "the other will"; or that nobody knows what half would be."""
    if heard.slots.reckoning is not None and not may_stay(state, task, heard.slots.reckoning.value):
        return missed(state, facts) if state.read_back is not None else and_again(state, "problem.exact", facts)
    portion = heard.slots.portion.value if heard.slots.portion is not None and heard.slots.amount is None else ""
    if portion in BY_HOW_MUCH and task.intent is Intent.TRANSFER_MONEY and not task.amounts:
        return and_again(state, "problem.exact", facts)
    had = facts.payees.get(task.payee) if task.payee is not None else None
    if had is None or not heard.by(*dialogue_rules().other_named):
        return None
    names, meant = (
        {*had.name.casefold().split()},
        {each.id for each in heard.payees.candidates} if heard.payees else None,
    )
    so_called = (p.id for p in facts.payees.values() if names.intersection(p.name.casefold().split()))
    others = [each for each in so_called if each != task.payee and (meant is None or each in meant)]
    return advance(state.memory, task.paying(others[0]), facts) if len(others) == 1 else None


def _all_changed(state: DialogueState, heard: Understood, facts: Facts) -> DialogueState:
    """With what is said of every order put into those that wait their turn, too."""
    changed = tuple(merged(each, heard, facts) if is_money(each) else each for each in state.memory.queue)
    return state.keeping(replace(state.memory, queue=changed))


def _of_one_that_waits(state: DialogueState, task: Task, heard: Understood, facts: Facts) -> Step | None:
    """What is said of an order that waits its turn, by who gets it: "make dave's seventy"; a code stays awaited."""
    payee, queue, ordered = heard.slots.payee, state.memory.queue, state.memory.ordered
    which = heard.said_of or (payee.value if payee is not None else None)
    if which is None or state.read_back is None or which == task.payee:
        return None
    if of_what_went_out(state.memory, heard):
        return and_again(state, "cancel.nothing", facts)
    begin = 2 if ordered is None else 3  # behind the one at hand, and one that is done
    at = next((n - begin for n, each in enumerate(queue, begin) if is_it(each, which, n)), None)
    if at is None:  # of none of them: only what stands in its place is put into the one at hand
        instead = heard.slots.amount if isinstance(heard.said_of, MoneyValue) else heard.slots.payee
        return refused(state, task) if isinstance(heard.said_of, str | MoneyValue) and instead is None else None
    alone = not (heard.said_of or heard.unresolved)
    if alone and replace(heard.slots, payee=None) == Slots():  # "no, dave": his comes first
        left = replace(state.memory, queue=(*queue[:at], *queue[at + 1 :]))
        return advance(waiting(left, (task,)), queue[at], facts)
    changed = merged(queue[at], heard, facts)
    memory = replace(state.memory, queue=(*queue[:at], changed, *queue[at + 1 :]))
    return and_again(state.keeping(memory), "say.noted", facts)


def _each_changed(state: DialogueState, task: Task, heard: Understood, facts: Facts) -> Step | None:
    """What is said in one breath of the order at hand and of others: "fifty for gwen and a hundred for owen"."""
    if state.read_back is None or heard.then is None:
        return None
    orders = [task, *state.memory.queue]
    for each in heard.in_turn:
        whom = each.slots.payee
        at = next((n for n, one in enumerate(orders) if whom is not None and one.payee == whom.value), None)
        if at is None:
            return None
        orders[at] = merged(orders[at], replace(each, then=None), facts)
    memory = replace(state.memory, queue=tuple(orders[1:]))
    return advance(memory.missed(0), orders[0], facts)


def _in_instalments(state: DialogueState, task: Task, heard: Understood, facts: Facts) -> Step | None:
    """The order in several parts, each of its sum and on its day, one after the other."""
    if not heard.by(*dialogue_rules().instalments) or not is_money(task):
        return None
    first, *rest = (merged(task, replace(each, then=None), facts) for each in heard.in_turn)
    return advance(waiting(state.memory.missed(0).first(reply("say.in_turn")), tuple(rest), next_=True), first, facts)


def _of_another_kind(task: Task, heard: Understood, facts: Facts) -> tuple[Task, Understood]:
    """A bill instead of a transfer, or a payee instead of a bill, is a new order; whoever sends a bill is that bill."""
    payee, bill = heard.slots.payee, heard.slots.bill
    if bill is not None and task.intent is Intent.TRANSFER_MONEY:
        return Task(Intent.BILL_PAYMENT), heard
    if payee is None or task.intent is not Intent.BILL_PAYMENT or payee.readings:
        return task, heard
    sent = [each.id for each in facts.profile.bills if each.payee_id == payee.value]
    if len(sent) == 1:
        return task, replace(heard, slots=replace(heard.slots, payee=None, bill=Slot(sent[0], payee.evidence)))
    return Task(Intent.TRANSFER_MONEY), heard


def _as_it_is(state: DialogueState, task: Task, heard: Understood, facts: Facts) -> Step:
    """What is read back has that value already: it is read once more."""
    said = heard.slots != Slots() and not (heard.unread or heard.unresolved)
    offered = isinstance(state.phase, Offering) and is_money(task)
    if said and (task.unread or offered) and state.read_back is None:  # said once more, it answers "shall I go on?"
        return advance(state.memory.missed(0), replace(task, unread=()), facts)
    if said and isinstance(state.phase, Reading | Confirming) and not state.memory.misses:
        return read_again(state.memory.missed(1), state.phase.it)
    return missed(state, facts)


def _fruitless(before: Task, after: Task) -> bool:
    """Whether all that was got is a name that nobody here has: an answer, but not for ever."""
    got, had = ((t.payee, t.target, t.bill, t.amounts, t.payee_candidates, t.source, t.on) for t in (after, before))
    return got == had and bool(after.payee_heard or after.bill_heard or after.date_heard or after.account_heard)


def _each_offered(state: DialogueState, task: Task, heard: Understood, facts: Facts) -> Step | None:
    """As much to each of those who were offered, or each of the bills, one after the other."""
    if state.asked not in {SlotName.PAYEE, SlotName.BILL} or not state.choices or not is_money(task):
        return None
    task = merged(task, heard, facts).paying(None)
    every = with_others(state.choices, tuple(each.id for each in open_bills(facts)), task)
    first, *rest = (_with(task, state.asked, each, facts) for each in every)
    return advance(waiting(state.memory.missed(0), tuple(rest), next_=True), first, facts)


def choose(state: DialogueState, number: int, facts: Facts, heard: Understood | None = None) -> Step:
    """Take the n-th of what was offered (1-based, else a `Pick`), and what was said with it."""
    task, choices = state.task, state.choices
    if task is None:
        return missed(state, facts)
    if number == Pick.NONE:
        if choices and state.asked is SlotName.AMOUNT:
            return advance(state.memory, replace(task, amounts=()), facts)
        if state.asked is SlotName.DATE:
            return advance(state.memory, replace(settled(task, SlotName.DATE), refused_parts=_DATE), facts)
        return ask(state.memory, Asking(task.paying(None), SlotName.PAYEE), reply("ask.payee"))
    paid_last = number == Pick.PAID_LAST
    index = place_of_paid_last(choices, facts) if paid_last else number - 1 if number > 0 else len(choices) - 1
    if not 0 <= index < len(choices):
        return missed(state, facts)
    chosen = _with(task, state.asked, choices[index], facts)
    if heard is not None:
        besides = replace(heard, slots=replace(heard.slots, choice=None), unresolved=(), payees=None, rejected=())
        chosen = merged(chosen, besides, facts)
    return advance(state.memory.missed(0), chosen, facts)


def _with(task: Task, asked: SlotName | None, key: str, facts: Facts) -> Task:
    """The task with the choice of this key taken."""
    match asked:
        case SlotName.PAYEE:
            return task.paying(PayeeId(key))
        case SlotName.AMOUNT:
            return replace(task, amounts=tuple(a for a in task.amounts if amount_key(a) == key)[:1])
        case SlotName() if any(doubt.slot is asked for doubt in task.doubts):
            return taken(task, asked, key)
        case SlotName.CARD:
            return replace(task, card=next(c.id for c in facts.profile.cards if c.id == key))
        case _:
            assert asked is SlotName.BILL, "nothing else is offered to choose from"
            return replace(task, bill=next(b.id for b in facts.profile.bills if b.id == key), bill_heard="")
