"""The bank's rules before the ledger: what an order must have, and what it may not be. Pure."""

from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from rules.act import money_policy
from rules.locales import locale_rules
from rules.orders import Objection, OrderFacts, against, last_day, limits_of
from schemas.banking import Account, Bill, TransferOrder
from schemas.decision import Reply, ReplyParam
from schemas.errors import LimitExceeded, MoneyRefused
from schemas.intent import Intent, SlotName
from schemas.money import MAX_MINOR, Money
from schemas.span import MoneyValue
from services.dialogue.events import Facts
from services.dialogue.names import account, account_name, bill, reply
from services.dialogue.phases import Task


@dataclass(frozen=True, slots=True)
class Problem:
    """Why an order can't be made yet: the slot to ask for (None: no answer would help), and what to say."""

    slot: SlotName | None
    reply: Reply


def money(value: MoneyValue, currency: str, facts: Facts) -> Money | None:
    """An amount as said, in `currency` when it named none; None where there is no such amount in that currency."""
    found = value.within(currency, locale_rules(facts.locale).digits)
    if found is None or abs(found.amount_minor) > MAX_MINOR:
        return None
    return Money(found.amount_minor, found.currency or currency)


def currency_of(debited: Account | None, facts: Facts) -> str:
    """The currency of an amount that names none: the account's, else of the caller's first one, else the locale's."""
    own = (debited, *facts.profile.accounts)
    return next((each.balance.currency for each in own if each is not None), locale_rules(facts.locale).currency)


def source_of(task: Task, facts: Facts) -> Account | None:
    """The account to debit: the one named, else the first in the amount's currency that is not the target."""
    if task.source is not None:
        return account(facts, task.source)
    wanted = task.amounts[0].currency if task.amounts else None
    due = bill(facts, task.bill)
    if wanted is None and due is not None:
        wanted = due.due.currency
    others = [a for a in facts.profile.accounts if a.id != task.target]
    fitting = [a for a in others if wanted is None or a.balance.currency == wanted]
    return fitting[0] if fitting else None


def order_of(task: Task, facts: Facts) -> TransferOrder | Problem:
    """The order a complete task asks for, or the first problem with it: what is objected to here, acting refuses."""
    source = source_of(task, facts)
    if source is None:
        return Problem(SlotName.AMOUNT, reply("problem.currency"))
    due = bill(facts, task.bill) if task.intent is Intent.BILL_PAYMENT else None
    payee = due.payee_id if due is not None else task.payee if task.target is None else None
    known = facts.payees.get(payee) if payee is not None else None
    amount = _amount(task, source, facts)
    if amount is None:
        return Problem(SlotName.AMOUNT, reply("problem.amount_uneven"))
    order = TransferOrder(
        source.id,
        payee,
        known.version if known is not None else 0,
        amount,
        to_account=task.target if due is None else None,
        on=task.on,
        bill_id=due.id if due is not None else None,
    )
    found = against(order, OrderFacts(facts.profile, known, facts.today), money_policy())
    return order if found is None else _problem(found, order, source, facts)


_MENDED_BY: Final = {
    Objection.AMOUNT: (SlotName.AMOUNT, "problem.amount_positive"),
    Objection.CURRENCY: (SlotName.AMOUNT, "problem.currency"),
    Objection.LIMIT: (SlotName.AMOUNT, "problem.limit"),
    Objection.FUNDS: (SlotName.AMOUNT, "problem.funds"),
    Objection.BILL_AMOUNT: (SlotName.AMOUNT, "problem.bill_amount"),
    Objection.PAST: (SlotName.DATE, "problem.date_past"),
    Objection.FAR: (SlotName.DATE, "problem.date_far"),
    Objection.SAME_ACCOUNT: (SlotName.TARGET, "problem.same_account"),
    Objection.TARGET: (SlotName.TARGET, "problem.target"),
    Objection.PAYEE: (SlotName.PAYEE, "problem.payee_gone"),
}
"""The slot that would mend an order, and what to say; no answer of the caller's mends what is not here."""


def _problem(found: Objection, order: TransferOrder, source: Account, facts: Facts) -> Problem:
    if found not in _MENDED_BY or (found is Objection.PAYEE and order.bill_id is not None):
        return Problem(None, reply(LimitExceeded.spoken if found is Objection.NO_LIMIT else MoneyRefused.spoken))
    slot, said = _MENDED_BY[found]
    return Problem(slot, reply(said, **_told(found, order, source, facts)))


def _told(found: Objection, order: TransferOrder, source: Account, facts: Facts) -> dict[str, ReplyParam]:
    """What the sentence about an objection speaks of."""
    limits, due = limits_of(facts.profile, order.amount.currency), bill(facts, order.bill_id)
    match found:
        case Objection.LIMIT if limits is not None:
            return {"limit": Money(limits.per_transfer, limits.currency)}
        case Objection.FUNDS:
            return {"available": source.available, "account": account_name(facts, source.id)}
        case Objection.BILL_AMOUNT if due is not None:
            return {"bill": due.name, "due": due.due}
        case Objection.PAST | Objection.FAR:
            return {"date": order.on or facts.today if found is Objection.PAST else _last_day(facts)}
        case Objection.SAME_ACCOUNT | Objection.TARGET:
            return {"account": account_name(facts, order.to_account or source.id)}
        case _:
            return {}


def _last_day(facts: Facts) -> date:
    return last_day(facts.today, money_policy())


def bill_amount(task: Task, due: Bill) -> Money | None:
    """What of a bill would be paid without a word about it; None where the minimum is another choice."""
    if task.portion == "minimum" and due.minimum is not None:
        return due.minimum
    if task.portion == "half":
        return replace(due.due, minor=due.due.minor // 2)
    if task.portion or due.minimum is None or due.minimum == due.due:
        return due.due
    return None


def _amount(task: Task, source: Account, facts: Facts) -> Money | None:
    if task.amounts:
        return money(task.amounts[0], source.balance.currency, facts)
    due = bill(facts, task.bill)
    assert due is not None, "an amount may be left out of a bill payment only"
    return bill_amount(task, due) or due.due
