"""What a task still lacks, and the one question to ask about it next; an order, once it lacks nothing."""

import re
from dataclasses import replace
from datetime import date

from schemas.banking import TransferOrder
from schemas.decision import (
    Answer,
    Clarify,
    Confirm,
    Decision,
    Execute,
    Handoff,
    LockCard,
    ReadBalance,
    Refuse,
    Reply,
    ReplyParam,
)
from schemas.ids import AccountId, BillId, CardId, PayeeId
from schemas.intent import Intent, SlotName
from schemas.span import MoneyValue
from services.dialogue.errands import bills_due, history, payees
from services.dialogue.events import Facts
from services.dialogue.names import (
    account_name,
    bill,
    both,
    card,
    card_name,
    day_name,
    payee_told_apart,
    reply,
    said_name,
    same_but_for_bank,
    told_of,
)
from services.dialogue.phases import (
    Asking,
    DialogueState,
    Disambiguation,
    Memory,
    Offering,
    Proposing,
    Step,
    Task,
    Unlocking,
)
from services.dialogue.policy import Problem, bill_amount, currency_of, money, order_of, source_of
from services.dialogue.rules import dialogue_rules
from services.dialogue.tasks import without


def advance(memory: Memory, task: Task, facts: Facts) -> Step:  # noqa: PLR0911 - one return an intent
    """Do the task when nothing is missing, else ask for the first thing that is."""
    match task.intent:
        case Intent.TRANSFER_MONEY:
            return foreign(memory, task, facts) or _transfer(memory, task, facts)
        case Intent.BILL_PAYMENT:
            return _bill(memory, task, facts)
        case Intent.CARD_LOCK | Intent.CARD_UNLOCK:
            return _card(memory, task, facts)
        case Intent.BALANCE_INQUIRY if task.bill is None:
            if task.account_heard:
                memory = memory.first(reply("say.no_such_account", heard=task.account_heard))
            account = None if task.accounts else task.account
            return done(memory, Execute(ReadBalance(account, task.accounts, task.total)))
        case Intent.RECENT_TRANSACTIONS:
            return done(memory, Execute(history(task, facts)))
        case Intent.BILL_INQUIRY | Intent.BALANCE_INQUIRY:  # a card's balance is its bill
            return done(memory, Answer(reply=bills_due(task, facts)))
        case Intent.HUMAN_HANDOFF:
            return done(memory, Handoff(reply("handoff.now")))
        case _:
            return done(memory, payees(task, facts))


def done(memory: Memory, decision: Decision) -> Step:
    """Leave the task: it is being done."""
    return DialogueState(memory=memory), decision


def ask(memory: Memory, question: Asking, said: Reply) -> Step:
    """Ask about the task."""
    return DialogueState(question, memory), Clarify(said, question.slot, question.choices)


def _transfer(memory: Memory, task: Task, facts: Facts) -> Step:
    nobody = task.payee is None and task.target is None
    if nobody and (task.payee_candidates or task.payee_heard):
        return _which_payee(memory, task, facts)
    if task.account_heard:
        return _which_account(memory, task, facts)
    if not task.amounts:
        to = reply("ask.amount") if task.payee is None else reply("ask.amount_to", payee=said_name(facts, task.payee))
        return ask(memory, Asking(task, SlotName.AMOUNT), to)
    if len(task.amounts) > 1:
        return _which_amount(memory, task, facts)
    if nobody:
        into = any(doubt.slot is SlotName.TARGET for doubt in task.doubts)
        asked = _which(memory, task, facts) if into else None
        return asked or ask(memory, Asking(task, SlotName.PAYEE), reply("ask.payee"))
    return _propose(memory, task, facts)


def _which_payee(memory: Memory, task: Task, facts: Facts) -> Step:
    candidates = task.payee_candidates
    if not candidates:
        cleared = Asking(replace(task, payee_heard=""), SlotName.PAYEE)
        whom = re.sub(dialogue_rules().related_by, "", task.payee_heard)
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


def _which_amount(memory: Memory, task: Task, facts: Facts) -> Step:
    currency = currency_of(source_of(task, facts), facts)
    values = [(each, said) for each in task.amounts if (said := money(each, currency, facts)) is not None]
    if len(values) < 2:  # noqa: PLR2004 - one or none of them is an amount in that currency
        return advance(memory, replace(task, amounts=tuple(each for each, _ in values) or task.amounts[:1]), facts)
    values = values[: dialogue_rules().choices]
    question = Asking(task, SlotName.AMOUNT, tuple(amount_key(each) for each, _ in values))
    return ask(memory, question, reply("ask.amount_which", amounts=tuple(said for _, said in values)))


def amount_key(value: MoneyValue) -> str:
    """An amount as an offered choice's id."""
    return f"{value.amount_minor}:{value.currency or ''}"


def _bill(memory: Memory, task: Task, facts: Facts) -> Step:
    due = bill(facts, task.bill)
    if due is None and (asked := _which(memory, task, facts)) is not None:
        return asked
    if due is None:
        return _which_bill(memory, task, facts)
    if len(task.amounts) > 1:
        return _which_amount(memory, task, facts)
    if task.portion == "minimum" and due.minimum is None and not task.amounts:
        memory, task = memory.first(reply("bill.no_minimum", bill=due.name)), replace(task, portion="")
    if not task.amounts and bill_amount(task, due) is None:
        assert due.minimum is not None, "without a minimum the amount is what is due"
        said = reply("ask.bill_amount", bill=due.name, due=due.due, minimum=due.minimum)
        return ask(memory, Asking(task, SlotName.AMOUNT), said)
    return _propose(memory, task, facts)


def _which_bill(memory: Memory, task: Task, facts: Facts) -> Step:
    offered, others = told_of(facts.profile.bills, dialogue_rules().choices)
    if (sender := _sent_by(task, facts)) is not None:
        return advance(memory, replace(task, intent=Intent.TRANSFER_MONEY, payee=sender, bill_heard=""), facts)
    if not offered:
        return done(memory, Refuse(reply("bill.none_open")))
    more = (reply("name.other_bills", count=others),) if others else ()
    names: tuple[ReplyParam, ...] = (*(each.name for each in offered), *more)
    question = Asking(replace(task, bill_heard=""), SlotName.BILL, tuple(each.id for each in offered))
    if task.bill_heard:
        return ask(memory, question, reply("ask.bill_unknown", heard=task.bill_heard, bills=names))
    return ask(memory, question, reply("ask.bill", bills=names))


def _sent_by(task: Task, facts: Facts) -> PayeeId | None:
    """The one payee to whom what is no bill of the caller's is owed: the rent, to the landlord."""
    kind = dialogue_rules().owed_to.get(task.bill_heard.casefold())
    owed = [payee.id for payee in facts.payees.values() if kind and payee.relationship == kind]
    return owed[0] if len(owed) == 1 else None


def _which_account(memory: Memory, task: Task, facts: Facts) -> Step:
    """The account that words are about, which name none or not surely one; it is asked for until it is named."""
    accounts, heard = facts.profile.accounts, task.account_heard.casefold()
    if any((own := account.name.casefold()) in heard or heard in own for account in accounts):
        return ask(memory, Asking(task, SlotName.SOURCE), reply("ask.source"))
    names: tuple[ReplyParam, ...] = tuple(account_name(facts, a.id) for a in accounts)
    said = reply("ask.account_unknown", heard=task.account_heard, accounts=names)
    return ask(memory, Asking(task, SlotName.SOURCE), said)


def _which(memory: Memory, task: Task, facts: Facts) -> Step | None:
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


def _unread(memory: Memory, task: Task, facts: Facts) -> Step | None:
    """A question about words of the command that nothing was made of; None where every one has its place."""
    if (asked := _which(memory, task, facts)) is not None:
        return asked
    if task.account_heard:
        return _which_account(memory, task, facts)
    if task.date_heard:
        return ask(memory, Asking(task, SlotName.DATE), reply("ask.date_which", heard=task.date_heard))
    if task.unread:
        (first, *more), rules = task.unread, dialogue_rules()  # fragments are not echoed
        whole = not more and len(first) > rules.fragment
        said = reply("ask.unread", heard=first) if whole else reply("ask.unread_some")
        once = [each for each in task.unread if not rules.repeats(each)]  # 「毎月一万円ずつ」
        again = len(once) < len(task.unread) and all(len(each) <= rules.fragment for each in once)
        said = reply("problem.repeated") if again else said
        hangs = rules.conditional(task.unread)
        said = both(reply("problem.conditional"), reply("ask.without_it", heard=first)) if hangs else said
        return DialogueState(Offering(struck(task, facts), said), memory), Clarify(said)
    return None


def struck(task: Task, facts: Facts) -> Task:
    """The order without the words that were not read; where they name an account, it is asked for."""
    told, others = " ".join(task.unread).casefold(), [a for a in facts.profile.accounts if a.id != task.target]
    named = task.source is None and any(account.name.casefold() in told for account in others)
    return replace(task, unread=(), account_heard=told if named else task.account_heard)


def _propose(memory: Memory, task: Task, facts: Facts) -> Step:
    asked = _unread(memory, task, facts)
    if asked is not None:
        return asked
    order = order_of(task, facts)
    if isinstance(order, TransferOrder):
        return DialogueState(Proposing(task, order), memory), Confirm(order)
    return _problem(memory, task, order)


def _problem(memory: Memory, task: Task, found: Problem) -> Step:
    """Say what is wrong, and ask for the slot that would mend it."""
    if found.slot is None:
        return done(memory, Refuse(found.reply))
    asked = without(task, found.slot)
    if found.slot is SlotName.AMOUNT:
        asked = replace(asked, foreign=task.amounts[0] if found.reply.id == "problem.currency" else None)
    return ask(memory, Asking(asked, found.slot), found.reply)


def foreign(memory: Memory, task: Task, facts: Facts) -> Step | None:
    """What is said at once of an amount that no account of the caller's can pay by its currency; None where one can."""
    one = task.intent is Intent.TRANSFER_MONEY and len(task.amounts) == 1
    if not one or not facts.profile.accounts:
        return None
    if source_of(replace(task, source=None, target=None), facts) is None:
        return _problem(memory, task, Problem(SlotName.AMOUNT, reply("problem.currency")))
    if money(task.amounts[0], currency_of(source_of(task, facts), facts), facts) is None:
        return _problem(memory, task, Problem(SlotName.AMOUNT, reply("problem.amount_uneven")))
    return None


def _card(memory: Memory, task: Task, facts: Facts) -> Step:
    if (asked := _which(memory, task, facts)) is not None:
        return asked
    lock = task.intent is Intent.CARD_LOCK
    open_to = tuple(c for c in facts.profile.cards if c.locked is not lock)
    called = task.card_heard.casefold()
    open_to = tuple(c for c in open_to if called in c.name.casefold()) or open_to
    chosen = card(facts, task.card) or (open_to[0] if len(open_to) == 1 else None)
    if chosen is None and open_to:
        offered, others = told_of(open_to, dialogue_rules().choices)
        more = (reply("name.other_cards", count=others),) if others else ()
        names: tuple[ReplyParam, ...] = (*(card_name(facts, c) for c in offered), *more)
        said = reply("ask.card_lock" if lock else "ask.card_unlock", cards=names)
        return ask(memory, Asking(task, SlotName.CARD, tuple(c.id for c in offered)), said)
    if chosen is None:
        return done(memory, Refuse(reply("card.none_to_lock" if lock else "card.none_to_unlock")))
    if chosen.locked is lock:
        said = reply("card.already_locked" if lock else "card.already_unlocked", card=card_name(facts, chosen))
        return done(memory, Refuse(said))
    if lock:
        return done(memory, Execute(LockCard(chosen.id)))
    unlocking = Unlocking(chosen.id)
    return DialogueState(unlocking, memory), Execute(unlocking.action)
