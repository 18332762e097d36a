"""What a task still lacks, and the one question to ask about it next; an order, once it lacks nothing."""

from dataclasses import replace

from schemas.banking import TransferOrder
from schemas.decision import (
    Answer,
    Clarify,
    Confirm,
    Execute,
    Handoff,
    ReadBalance,
    ReadTransactions,
    Refuse,
    ReplyParam,
)
from schemas.intent import Intent, SlotName, Topic
from schemas.span import MoneyValue
from services.dialogue.asked import owed_to
from services.dialogue.bills import bills_due
from services.dialogue.cards import asked_of_card, lock_or_unlock
from services.dialogue.errands import history, offer_of, payees, result
from services.dialogue.events import ActionDone, Facts
from services.dialogue.names import (
    bill,
    both,
    open_bills,
    reply,
    said_name,
    told_of,
)
from services.dialogue.phases import Asking, Offering, Proposing, Task, Waiting
from services.dialogue.policy import Problem, bill_amount, currency_of, money, order_of, source_of
from services.dialogue.questions import ask, done, which, which_account, which_amount, which_payee
from services.dialogue.rules import dialogue_rules
from services.dialogue.state import DialogueState, Memory, Step
from services.dialogue.tasks import of_the_last_size, without
from services.dialogue.weighing import Reckoned, held_by, look_for, paid_before, reckoned, weighed


def advance(memory: Memory, task: Task, facts: Facts) -> Step:  # noqa: PLR0911 - one return an intent
    """Do the task when nothing is missing, else ask for the first thing that is."""
    match task.intent:
        case Intent.TRANSFER_MONEY:
            return foreign(memory, task, facts) or _transfer(memory, task, facts)
        case Intent.BILL_PAYMENT:
            return _bill(memory, task, facts)
        case Intent.CARD_LOCK | Intent.CARD_UNLOCK:
            return asked_of_card(memory, task, facts) or lock_or_unlock(memory, task, facts)
        case Intent.BALANCE_INQUIRY if task.bill is None:
            if task.account_heard:
                memory = memory.first(reply("say.no_such_account", heard=task.account_heard))
            account = None if task.accounts else task.account
            enough = task.asked == Topic.ENOUGH
            return done(memory, Execute(ReadBalance(account, task.accounts, task.total, task.less, enough)))
        case Intent.RECENT_TRANSACTIONS:
            return done(memory, Execute(history(task, facts)))
        case Intent.BILL_INQUIRY | Intent.BALANCE_INQUIRY:  # a card's balance is its bill
            return done(memory, Answer(reply=bills_due(task, facts)))
        case Intent.HUMAN_HANDOFF:
            return done(memory, Handoff(reply("handoff.now")))
        case _:
            return done(memory, payees(task, facts))


def _transfer(memory: Memory, task: Task, facts: Facts) -> Step:
    nobody = task.payee is None and task.target is None
    if nobody and (task.payee_candidates or task.payee_heard):
        return which_payee(memory, task, facts)
    if task.account_heard:
        return which_account(memory, task, facts)
    if not task.amounts:
        return _how_much(memory, task, facts)
    if len((task := of_the_last_size(task, memory.ordered)).amounts) > 1:
        return _which_amount(memory, task, facts)
    if nobody:
        into = any(doubt.slot is SlotName.TARGET for doubt in task.doubts)
        asked = which(memory, task, facts) if into else None
        return asked or ask(memory, Asking(task, SlotName.PAYEE), reply("ask.payee"))
    return _propose(memory, task, facts)


def _which_amount(memory: Memory, task: Task, facts: Facts) -> Step:
    currency = currency_of(source_of(task, facts), facts)
    payable = tuple(each for each in task.amounts if money(each, currency, facts) is not None)
    if len(payable) > 1:
        return which_amount(memory, task, facts)
    return advance(memory, replace(task, amounts=payable or task.amounts[:1]), facts)  # by its currency it is clear


def _bill(memory: Memory, task: Task, facts: Facts) -> Step:
    due = bill(facts, task.bill)
    if due is None and (asked := which(memory, task, facts)) is not None:
        return asked
    if due is None:
        return _which_bill(memory, task, facts)
    if due.id in facts.paid:
        return done(memory, Refuse(reply("bill.paid_now", bill=due.name)))
    if len(task.amounts) > 1:
        return which_amount(memory, task, facts)
    if task.portion == "minimum" and due.minimum is None and not task.amounts:
        memory, task = memory.first(reply("bill.no_minimum", bill=due.name)), replace(task, portion="")
    if not task.amounts and bill_amount(task, due) is None:
        assert due.minimum is not None, "without a minimum the amount is what is due"
        said = reply("ask.bill_amount", bill=due.name, due=due.due, minimum=due.minimum)
        return ask(memory, Asking(task, SlotName.AMOUNT), said)
    return _propose(memory, task, facts)


def _which_bill(memory: Memory, task: Task, facts: Facts) -> Step:
    offered, others = told_of(open_bills(facts), dialogue_rules().choices)
    if (sender := owed_to(task.bill_heard, facts)) is not None:
        return advance(memory, replace(task, intent=Intent.TRANSFER_MONEY, payee=sender, bill_heard=""), facts)
    if not offered:
        return done(memory, Refuse(reply("bill.none_open")))
    more = (reply("name.other_bills", count=others),) if others else ()
    names: tuple[ReplyParam, ...] = (*(each.name for each in offered), *more)
    question = Asking(replace(task, bill_heard=""), SlotName.BILL, tuple(each.id for each in offered))
    if task.bill_heard:
        return ask(memory, question, reply("ask.bill_unknown", heard=task.bill_heard, bills=names))
    return ask(memory, question, reply("ask.bill", bills=names))


def _unread(memory: Memory, task: Task, facts: Facts) -> Step | None:
    """A question about words of the command that nothing was made of; None where every one has its place."""
    if (asked := which(memory, task, facts)) is not None:
        return asked
    if task.account_heard:
        return which_account(memory, task, facts)
    if task.date_heard:
        return ask(memory, Asking(task, SlotName.DATE), reply("ask.date_which", heard=task.date_heard))
    if task.unread:
        (first, *more), rules = task.unread, dialogue_rules()  # fragments are not echoed
        whole = not more and len(first) > rules.fragment
        told = bool(task.payee and len(task.amounts) == 1) or task.bill is not None
        some = both(reply("offer.missed_some"), offer_of(task, facts)) if told else reply("ask.unread_some")
        said = reply("ask.unread", heard=first) if whole else some
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
    if task.refused_parts:
        slot = min(task.refused_parts)
        return ask(memory, Asking(task, slot), reply(f"ask.{slot.value}"))
    if task.condition is None:
        return _ordered(memory, task, facts)
    held = held_by(task, facts)
    if held is None:  # it is asked about as any other
        heard = (*task.unread, task.condition.heard)
        return _propose(memory, replace(task, condition=None, unread=heard), facts)
    return DialogueState(Waiting(task), memory), Execute(ReadBalance(held.id))


def _how_much(memory: Memory, task: Task, facts: Facts) -> Step:
    """Look up what the amount follows from; it is asked for where nothing tells that surely."""
    if task.reckoning is None:
        to = reply("ask.amount") if task.payee is None else reply("ask.amount_to", payee=said_name(facts, task.payee))
        return ask(memory, Asking(task, SlotName.AMOUNT), to)
    look = look_for(task, facts)
    if look is None:
        return advance(memory.first(reply("problem.exact")), replace(task, reckoning=None), facts)
    return DialogueState(Waiting(task), memory), Execute(look)


def looked(memory: Memory, task: Task, event: ActionDone, facts: Facts) -> Step | None:
    """Go on with a task by what was looked up for it; None where nothing was."""
    if isinstance(event.action, ReadBalance) and event.accounts:
        facts = replace(facts, profile=replace(facts.profile, accounts=event.accounts))
    if task.reckoning is not None and not task.amounts:
        return _reckoned(memory, task, _found(task, event, facts), facts)
    if task.condition is None or not isinstance(event.action, ReadBalance):
        return None
    found = weighed(task, facts)
    if found is None:
        return _propose(memory, replace(task, condition=None, unread=(task.condition.heard,)), facts)
    return _ordered(memory.first(found.told), task, facts) if found.holds else done(memory, Refuse(found.told))


def _found(task: Task, event: ActionDone, facts: Facts) -> Reckoned | None:
    """What the amount comes to by what was looked up."""
    if isinstance(event.action, ReadBalance):
        return reckoned(task, facts)
    paid = paid_before(task, event, facts) if isinstance(event.action, ReadTransactions) else None
    if paid is None:
        return None
    minor = int(-paid.amount.minor * (task.reckoning.share if task.reckoning is not None else 1))
    return Reckoned(replace(paid.amount, minor=minor), result(replace(event, transactions=(paid,)), facts))


def _reckoned(memory: Memory, task: Task, found: Reckoned | None, facts: Facts) -> Step:
    """The task with the amount that follows, or that it cannot be told."""
    if found is None:
        return advance(memory.first(reply("problem.exact")), replace(task, reckoning=None), facts)
    if found.amount is None:
        return done(memory, Refuse(found.told))
    task = replace(task, amounts=(MoneyValue(found.amount.minor, found.amount.currency),))
    step = advance(memory.first(found.told), task, facts)
    if isinstance(step[1], Confirm):
        return step
    return advance(memory.first(both(found.told, reply("weigh.comes_to", amount=found.amount))), task, facts)


def _ordered(memory: Memory, task: Task, facts: Facts) -> Step:
    """The order, or what is wrong with it."""
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
        had, foreign_ = task.amounts[0] if task.amounts else None, found.reply.id == "problem.currency"
        asked = replace(asked, foreign=had if foreign_ else None, refused=None if foreign_ else had)
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
