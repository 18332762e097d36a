"""What a task still lacks, and the one question to ask about it next."""

from dataclasses import replace

from schemas.banking import TransactionFilter, TransferOrder
from schemas.decision import (
    Answer,
    Clarify,
    Confirm,
    Decision,
    Execute,
    LockCard,
    ReadBalance,
    ReadPayees,
    ReadTransactions,
    Refuse,
    Reply,
    ReplyParam,
    UnlockCard,
)
from schemas.ids import PayeeId
from schemas.intent import Intent, SlotName
from schemas.span import MoneyValue
from services.decide.events import Facts
from services.decide.names import account_name, bill, card_name, payee_name, payee_told_apart, reply
from services.decide.policy import Problem, bill_amount, money, order_of, source_of
from services.decide.rules import dialogue_rules
from services.decide.state import DialogueState, Phase, Task
from services.decide.tasks import is_money

Step = tuple[DialogueState, Decision]


def advance(state: DialogueState, facts: Facts) -> Step:
    """Do the task when nothing is missing, else ask for the first thing that is."""
    task = state.task
    assert task is not None, "there is a task to advance"
    match task.intent:
        case Intent.TRANSFER_MONEY:
            return _transfer(state, task, facts)
        case Intent.BILL_PAYMENT:
            return _bill(state, task, facts)
        case Intent.CARD_LOCK | Intent.CARD_UNLOCK:
            return _card(state, task, facts)
        case Intent.BALANCE_INQUIRY:
            return _balance(state, task)
        case Intent.RECENT_TRANSACTIONS | Intent.BILL_INQUIRY:
            due = task.intent is Intent.BILL_INQUIRY
            read = Answer(reply=_bills_due(task, facts)) if due else Execute(ReadTransactions(_filter(task, facts)))
            return done(state, read)
        case _:
            return _payees(state, task, facts)


def done(state: DialogueState, decision: Decision) -> Step:
    """Leave the task: it is being done."""
    return replace(state, phase=Phase.IDLE, task=None, asked=None, choices=()), decision


def ask(state: DialogueState, slot: SlotName | None, said: Reply, choices: tuple[str, ...] = ()) -> Step:
    """Ask about the task."""
    state = replace(state, phase=Phase.ASKING, asked=slot, choices=choices, order=None, proposal=None, readback=None)
    return state, Clarify(said, slot, choices)


def _transfer(state: DialogueState, task: Task, facts: Facts) -> Step:
    if task.payee is None and task.target is None and (task.payee_candidates or task.payee_heard):
        return _which_payee(state, task, facts)
    if task.account_heard:
        state = replace(state, task=replace(task, account_heard=""))
        said = reply("ask.account_unknown", heard=task.account_heard, accounts=_accounts(facts))
        return ask(state, SlotName.SOURCE, said)
    if not task.amounts:
        return ask(state, SlotName.AMOUNT, _amount_question(task, facts))
    if len(task.amounts) > 1:
        return _which_amount(state, task, facts)
    if task.payee is None and task.target is None:
        return ask(state, SlotName.PAYEE, reply("ask.payee"))
    return _propose(state, task, facts)


def _amount_question(task: Task, facts: Facts) -> Reply:
    if task.payee is not None:
        return reply("ask.amount_to", payee=payee_name(facts, task.payee))
    return reply("ask.amount")


def _which_payee(state: DialogueState, task: Task, facts: Facts) -> Step:
    candidates = task.payee_candidates
    if not candidates:
        cleared = replace(task, payee_heard="")
        return ask(replace(state, task=cleared), SlotName.PAYEE, reply("ask.payee_unknown", heard=task.payee_heard))
    names = tuple(payee_told_apart(facts, c, candidates) for c in candidates)
    said = reply("ask.payee_is_it", payee=names[0]) if len(names) == 1 else reply("ask.payee_which", payees=names)
    return ask(state, SlotName.PAYEE, said, tuple(candidates))


def _which_amount(state: DialogueState, task: Task, facts: Facts) -> Step:
    source = source_of(task, facts)
    currency = source.balance.currency if source is not None else facts.profile.accounts[0].balance.currency
    values = task.amounts[: dialogue_rules().choices]
    spoken: tuple[ReplyParam, ...] = tuple(money(value, currency, facts) for value in values)
    return ask(state, SlotName.AMOUNT, reply("ask.amount_which", amounts=spoken), tuple(map(amount_key, values)))


def amount_key(value: MoneyValue) -> str:
    """An amount as an offered choice's id."""
    return f"{value.amount_minor}:{value.currency or ''}"


def _bill(state: DialogueState, task: Task, facts: Facts) -> Step:
    due = bill(facts, task.bill)
    bills = facts.profile.bills
    names = tuple(b.name for b in bills)[: dialogue_rules().choices]
    if due is None:
        if not bills:
            return done(state, Refuse(reply("bill.none_open")))
        choices = tuple(b.id for b in bills)[: dialogue_rules().choices]
        said = reply("ask.bill", bills=names)
        if task.bill_heard:
            said = reply("ask.bill_unknown", heard=task.bill_heard, bills=names)
            state = replace(state, task=replace(task, bill_heard=""))
        return ask(state, SlotName.BILL, said, choices)
    if len(task.amounts) > 1:
        return _which_amount(state, task, facts)
    if not task.amounts and bill_amount(task, due) is None:
        assert due.minimum is not None, "without a minimum the amount is what is due"
        said = reply("ask.bill_amount", bill=due.name, due=due.due, minimum=due.minimum)
        return ask(state, SlotName.AMOUNT, said)
    return _propose(state, task, facts)


def _bills_due(task: Task, facts: Facts) -> Reply:
    """What is due, and when: for the bill asked about, else for the next ones."""
    due = bill(facts, task.bill)
    if due is not None and due.minimum is not None:
        return reply("bill.due_minimum", bill=due.name, due=due.due, minimum=due.minimum, date=due.due_on)
    if due is not None:
        return reply("bill.due", bill=due.name, due=due.due, date=due.due_on)
    if not facts.profile.bills:
        return reply("bill.none_open")
    coming = sorted(facts.profile.bills, key=lambda b: b.due_on)[: dialogue_rules().choices]
    rows = tuple(reply("part.bill", bill=b.name, due=b.due, day=b.due_on) for b in coming)
    listed = reply("bill.list", bills=rows)
    return (
        reply("say.both", first=reply("bill.unknown", heard=task.bill_heard), second=listed)
        if task.bill_heard
        else listed
    )


def _propose(state: DialogueState, task: Task, facts: Facts) -> Step:
    order = order_of(task, facts)
    if isinstance(order, TransferOrder):
        state = replace(state, phase=Phase.PROPOSING, asked=None, choices=(), order=order, proposal=None, readback=None)
        return state, Confirm(order)
    return problem(state, order)


def problem(state: DialogueState, found: Problem) -> Step:
    """Say what is wrong, and ask for the slot that would mend it."""
    if found.slot is None:
        return done(state, Refuse(found.reply))
    assert state.task is not None, "a problem is one of a task"
    cleared: dict[SlotName, Task] = {
        SlotName.AMOUNT: replace(state.task, amounts=(), portion=""),
        SlotName.DATE: replace(state.task, on=None),
        SlotName.TARGET: replace(state.task, target=None),
        SlotName.PAYEE: replace(state.task, payee=None),
    }
    state = replace(state, task=cleared.get(found.slot, state.task))
    return ask(state, found.slot, found.reply)


def _card(state: DialogueState, task: Task, facts: Facts) -> Step:
    lock = task.intent is Intent.CARD_LOCK
    cards = facts.profile.cards
    chosen = next((c for c in cards if c.id == task.card), None)
    open_to = tuple(c for c in cards if c.locked is not lock)
    if chosen is None and len(open_to) == 1:
        chosen = open_to[0]
    if chosen is None and open_to:
        names: tuple[ReplyParam, ...] = tuple(card_name(c) for c in open_to[: dialogue_rules().choices])
        said = reply("ask.card_lock" if lock else "ask.card_unlock", cards=names)
        return ask(state, SlotName.CARD, said, tuple(c.id for c in open_to[: dialogue_rules().choices]))
    if chosen is None:
        return done(state, Refuse(reply("card.none_to_lock" if lock else "card.none_to_unlock")))
    if chosen.locked is lock:
        said = reply("card.already_locked" if lock else "card.already_unlocked", card=card_name(chosen))
        return done(state, Refuse(said))
    if lock:
        return done(state, Execute(LockCard(chosen.id)))
    return done(replace(state, unlocking=chosen.id), Execute(UnlockCard(chosen.id)))


def _balance(state: DialogueState, task: Task) -> Step:
    if task.account_heard:
        said = reply("say.no_such_account", heard=task.account_heard)
        state = replace(state, preface=(*state.preface, said))
    return done(state, Execute(ReadBalance(task.account)))


def _filter(task: Task, facts: Facts) -> TransactionFilter:
    currency = facts.profile.accounts[0].balance.currency if facts.profile.accounts else "USD"
    period = task.period
    return TransactionFilter(
        account_id=task.account,
        since=period.start if period is not None else None,
        until=period.end if period is not None else None,
        merchant=task.merchant or _paid_to(task, facts),
        at_least=money(task.at_least, currency, facts) if task.at_least is not None else None,
        at_most=money(task.at_most, currency, facts) if task.at_most is not None else None,
        limit=dialogue_rules().transactions_listed,
        received=task.received,
    )


def _paid_to(task: Task, facts: Facts) -> str:
    """Who was paid, as the account's history names them: the payee, or whoever sends the bill."""
    due = bill(facts, task.bill)
    payee = task.payee if due is None else due.payee_id
    return task.payee_heard if payee is None else payee_name(facts, payee)


def _payees(state: DialogueState, task: Task, facts: Facts) -> Step:
    if task.payee is not None:
        return done(state, Execute(ReadPayees((task.payee,))))
    if task.payee_candidates:
        return done(state, Execute(ReadPayees(task.payee_candidates)))
    if task.payee_heard:
        return done(state, Refuse(reply("payees.not_found", heard=task.payee_heard)))
    recent = sorted(facts.payees.values(), key=lambda p: (p.last_paid is None, -_ordinal(p.last_paid), p.name))
    return done(state, Execute(ReadPayees(tuple(PayeeId(p.id) for p in recent[: dialogue_rules().payees_listed]))))


def _ordinal(day: object) -> int:
    return getattr(day, "toordinal", lambda: 0)()


def _accounts(facts: Facts) -> tuple[ReplyParam, ...]:
    return tuple(account_name(facts, a.id) for a in facts.profile.accounts)


def pending_question(state: DialogueState, facts: Facts) -> Reply | None:
    """The question a digression has to come back to; None when nothing waits."""
    if state.task is None or not (is_money(state.task) or state.phase is Phase.ASKING):
        return None
    _, decision = advance(replace(state, preface=()), facts)
    if isinstance(decision, Clarify):
        return decision.reply
    return reply("offer.resume") if isinstance(decision, Confirm) else None
