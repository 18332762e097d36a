"""Questions about what a task lacks, or about what in it may be one of several."""

import re
from dataclasses import replace
from datetime import date

from schemas.decision import Clarify, Decision, Reply, ReplyParam
from schemas.ids import AccountId, BillId, CardId
from schemas.intent import SlotName, Understood
from schemas.span import MoneyValue
from services.dialogue.amounts import merged
from services.dialogue.bills import bills_due
from services.dialogue.errands import offer_of
from services.dialogue.events import Facts
from services.dialogue.names import (
    account_name,
    bill,
    card,
    card_name,
    day_name,
    payee_told_apart,
    reply,
    said_name,
    same_but_for_bank,
)
from services.dialogue.phases import Asking, Disambiguation, Offering, Task
from services.dialogue.policy import currency_of, money, source_of
from services.dialogue.rules import dialogue_rules
from services.dialogue.state import DialogueState, Memory, Step


def done(memory: Memory, decision: Decision) -> Step:
    """Leave the task: it is being done."""
    return DialogueState(memory=memory), decision


def ask(memory: Memory, question: Asking, said: Reply) -> Step:
    """Ask about the task."""
    return DialogueState(question, memory), Clarify(said, question.slot, question.choices)


def own_account(state: DialogueState, task: Task, heard: Understood, facts: Facts) -> Step | None:
    """Whether an own account that was named alone, asked who is paid, is to get it: it may as well be what pays."""
    if not heard.by(*dialogue_rules().bare_account) or heard.slots.target is None or task.source is not None:
        return None
    task = merged(task, heard, facts)
    offer = offer_of(task, facts)
    return DialogueState(Offering(task, offer), state.memory), Clarify(offer)


def due_to(memory: Memory, task: Task, facts: Facts) -> Memory:
    """With what is due to who is offered so much, where that is less: "pay the water company four hundred"."""
    bills = [each for each in facts.profile.bills if each.payee_id == task.payee]
    sent = money(task.amounts[0], bills[0].due.currency, facts) if len(bills) == len(task.amounts) == 1 else None
    less = sent is not None and sent.minor > bills[0].due.minor
    return memory.first(bills_due(replace(task, bill=bills[0].id), facts)) if less else memory


def which_payee(memory: Memory, task: Task, facts: Facts) -> Step:
    """Who of those who may be meant, or who at all."""
    candidates = task.payee_candidates
    if not candidates:
        cleared = Asking(replace(task, payee_heard=""), SlotName.PAYEE)
        whom, places = re.sub(dialogue_rules().related_by, "", task.payee_heard), dialogue_rules().told_from.values()
        if any(whom in words for words in places):  # 「職場のほう」 is no name
            return ask(memory, cleared, reply("ask.payee"))
        known = "unknown" if whom == task.payee_heard else "unrelated"  # my mom
        return ask(memory, cleared, reply(f"ask.payee_{known}", heard=whom))
    question = Asking(task, SlotName.PAYEE, tuple(candidates))
    banks: tuple[ReplyParam, ...] = same_but_for_bank(facts, candidates)
    if banks:
        name = reply("name.payee", name=said_name(facts, candidates[0]))
        return ask(memory, question, reply("ask.payee_bank", payee=name, banks=banks))
    names = tuple(payee_told_apart(facts, c, candidates) for c in candidates)
    said = reply("ask.payee_is_it", payee=names[0]) if len(names) == 1 else reply("ask.payee_which", payees=names)
    return ask(memory, question, said)


def which_amount(memory: Memory, task: Task, facts: Facts) -> Step:
    """Which of the amounts that were perhaps said, and come out even in the currency that pays."""
    currency = currency_of(source_of(task, facts), facts)
    values = [(each, said) for each in task.amounts if (said := money(each, currency, facts)) is not None]
    values = values[: dialogue_rules().choices]
    question = Asking(task, SlotName.AMOUNT, tuple(amount_key(each) for each, _ in values))
    return ask(memory, question, reply("ask.amount_which", amounts=tuple(said for _, said in values)))


def amount_key(value: MoneyValue) -> str:
    """An amount as an offered choice's id."""
    return f"{value.amount_minor}:{value.currency or ''}"


def which_account(memory: Memory, task: Task, facts: Facts) -> Step:
    """The account that words are about, which name none or not surely one; it is asked for until it is named."""
    accounts, heard = facts.profile.accounts, task.account_heard.casefold()
    if any((own := account.name.casefold()) in heard or heard in own for account in accounts):
        return ask(memory, Asking(task, SlotName.SOURCE), reply("ask.source"))
    names: tuple[ReplyParam, ...] = tuple(account_name(facts, a.id) for a in accounts)
    said = reply("ask.account_unknown", heard=task.account_heard, accounts=names)
    return ask(memory, Asking(task, SlotName.SOURCE), said)


def which(memory: Memory, task: Task, facts: Facts) -> Step | None:
    """A question about the first of what was named two ways; None where there is nothing such."""
    if not task.doubts:
        return None
    doubt = task.doubts[0]
    names = tuple(_named(doubt, key, facts) for key in doubt.choices)
    asked, said = Asking(task, doubt.slot, doubt.choices), reply(f"ask.{doubt.slot.value}_either", choices=names)
    if doubt.slot is SlotName.DATE and task.payee is not None:
        said = reply("ask.date_either_to", payee=said_name(facts, task.payee), choices=names)
    elif doubt.slot is SlotName.DATE and (due := bill(facts, task.bill)) is not None:
        said = reply("ask.date_either_bill", bill=due.name, choices=names)
    return ask(memory, asked, said)


def _named(doubt: Disambiguation, key: str, facts: Facts) -> ReplyParam:
    """What is offered under this key, as said aloud."""
    match doubt.slot:
        case SlotName.DATE:
            return day_name(facts, date.fromisoformat(key))
        case SlotName.BILL:
            due = bill(facts, BillId(key))
            return due.name if due is not None else ""
        case SlotName.CARD:
            found = card(facts, CardId(key))
            return card_name(facts, found) if found is not None else ""
        case _:
            return account_name(facts, AccountId(key))
