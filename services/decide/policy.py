"""The bank's rules before the ledger: what an order must have, and what it may not be. Pure."""

from dataclasses import dataclass

from rules.locales import locale_rules
from schemas.banking import Account, Bill, TransferOrder
from schemas.decision import Reply
from schemas.ids import BillId, PayeeId
from schemas.intent import Intent, SlotName
from schemas.money import MAX_MINOR, Money, exponent
from schemas.span import MoneyValue
from services.decide.events import Facts
from services.decide.names import account, account_name, bill, reply
from services.decide.state import Task


@dataclass(frozen=True, slots=True)
class Problem:
    """Why an order can't be made yet: the slot to ask for (None: no answer would help), and what to say."""

    slot: SlotName | None
    reply: Reply


def money(value: MoneyValue, currency: str, facts: Facts) -> Money:
    """An amount as said, in `currency` when it named none; the minor unit said is the locale's own."""
    if value.currency is not None:
        return Money(value.amount_minor, value.currency)
    shift = exponent(currency) - exponent(locale_rules(facts.locale).currency)
    minor = value.amount_minor * 10**shift if shift >= 0 else value.amount_minor // 10**-shift
    return Money(max(-MAX_MINOR, min(MAX_MINOR, minor)), currency)


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
    """The order a complete task asks for, or the first problem with it."""
    source = source_of(task, facts)
    if source is None:
        return Problem(SlotName.AMOUNT, reply("problem.currency"))
    amount = _amount(task, source, facts)
    found = _amount_problem(task, amount, source, facts) or _date_problem(task, facts)
    if found is not None:
        return found
    if task.intent is Intent.BILL_PAYMENT:
        due = bill(facts, task.bill)
        assert due is not None, "a complete bill payment has a bill"
        return _to_payee(task, source, due.payee_id, amount, facts, due.id)
    if task.target is not None:
        if task.target == source.id:
            return Problem(SlotName.TARGET, reply("problem.same_account", account=account_name(facts, source.id)))
        return TransferOrder(source.id, None, 0, amount, to_account=task.target, on=task.on)
    assert task.payee is not None, "a complete transfer has someone to go to"
    return _to_payee(task, source, task.payee, amount, facts, None)


def _to_payee(
    task: Task, source: Account, payee: PayeeId, amount: Money, facts: Facts, bill_id: BillId | None
) -> TransferOrder | Problem:
    known = facts.payees.get(payee)
    if known is None:
        return Problem(SlotName.PAYEE, reply("problem.payee_gone"))
    return TransferOrder(source.id, payee, known.version, amount, on=task.on, bill_id=bill_id)


def bill_amount(task: Task, due: Bill) -> Money | None:
    """What of a bill would be paid without a word about it; None where the minimum is another choice."""
    if task.portion == "minimum" and due.minimum is not None:
        return due.minimum
    if task.portion or due.minimum is None or due.minimum == due.due:
        return due.due
    return None


def _amount(task: Task, source: Account, facts: Facts) -> Money:
    if task.amounts:
        return money(task.amounts[0], source.balance.currency, facts)
    due = bill(facts, task.bill)
    assert due is not None, "an amount may be left out of a bill payment only"
    return bill_amount(task, due) or due.due


def _amount_problem(task: Task, amount: Money, source: Account, facts: Facts) -> Problem | None:
    name = account_name(facts, source.id)
    if amount.minor <= 0:
        return Problem(SlotName.AMOUNT, reply("problem.amount_positive"))
    if amount.currency != source.balance.currency:
        return Problem(SlotName.AMOUNT, reply("problem.currency"))
    limit = next((li.per_transfer for li in facts.profile.limits if li.currency == amount.currency), None)
    if limit is not None and amount.minor > limit:
        return Problem(SlotName.AMOUNT, reply("problem.limit", limit=Money(limit, amount.currency)))
    now = task.on is None or task.on <= facts.today
    if now and amount.minor > source.available.minor:
        return Problem(SlotName.AMOUNT, reply("problem.funds", available=source.available, account=name))
    return None


def _date_problem(task: Task, facts: Facts) -> Problem | None:
    if task.on is not None and task.on < facts.today:
        return Problem(SlotName.DATE, reply("problem.date_past", date=task.on))
    return None
