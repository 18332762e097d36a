"""What an order hangs on, and how much it is, by the balances as they are now and by what was paid before. Pure."""

from dataclasses import dataclass, replace
from typing import Final

from schemas.balances import BalanceCondition, Bound, Measure, Reckoning
from schemas.banking import Account, Transaction, TransactionFilter
from schemas.decision import ReadBalance, ReadTransactions, Reply
from schemas.ids import PayeeId
from schemas.money import Money
from schemas.span import MoneyValue
from services.dialogue.events import ActionDone, Facts
from services.dialogue.names import account, account_name, bill, payee_name, reply
from services.dialogue.phases import Task
from services.dialogue.policy import bill_amount, money, source_of

_LATEST: Final = 5
"""Of the payments to one payee so many are looked at."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Whether what an order hangs on is so, and how that is told."""

    holds: bool
    told: Reply


@dataclass(frozen=True, slots=True)
class Reckoned:
    """What an amount comes to, and what from; none where there is nothing to be moved."""

    amount: Money | None
    told: Reply


def look_for(task: Task, facts: Facts) -> ReadBalance | ReadTransactions | None:
    """What the amount of a task is reckoned from; None where nothing tells it surely."""
    by = task.reckoning
    if by is None:
        return None
    if by.measure is not Measure.BEFORE:
        if _later(task, facts):
            return None
        held = _reckoned_of(task, by, facts)
        return ReadBalance(held.id) if held is not None and _value(by.amount, held, facts) is not None else None
    if task.payee is None or not _only_one_called(task.payee, facts):
        return None
    days = by.period
    return ReadTransactions(
        TransactionFilter(
            since=days.start if days is not None else None,
            until=days.end if days is not None else None,
            merchant=payee_name(facts, task.payee),
            limit=_LATEST,
            sent=True,
        )
    )


def reckoned(task: Task, facts: Facts) -> Reckoned | None:
    """What the amount of a task comes to by a balance, rounded down."""
    by = task.reckoning
    held = _reckoned_of(task, by, facts) if by is not None else None
    bound = _value(by.amount, held, facts) if by is not None and held is not None else None
    if by is None or held is None or bound is None:
        return None
    available, name = held.available, account_name(facts, held.id)
    comes_to = {
        Measure.ABOVE: available.minor - bound.minor,
        Measure.UP_TO: bound.minor - available.minor,
        Measure.SHARE: available.minor * by.share.numerator // by.share.denominator,
    }[by.measure]
    if comes_to > 0:
        return Reckoned(replace(available, minor=comes_to), reply("balance.one", account=name, amount=available))
    said = "weigh.none_lacking" if by.measure is Measure.UP_TO else "weigh.none_over" if bound.minor else "weigh.none"
    return Reckoned(None, reply(said, account=name, amount=available, bound=bound))


def paid_before(task: Task, event: ActionDone, facts: Facts) -> Transaction | None:
    """The one payment that is meant; None where there is none, or more."""
    name = payee_name(facts, task.payee) if task.payee is not None else ""
    rows = [row for row in event.transactions if row.merchant == name and row.amount.minor < 0]
    if task.reckoning is None or not rows:
        return None
    if task.reckoning.period is None:
        rows = [row for row in rows if row.booked_on == rows[0].booked_on]
    return rows[0] if len(rows) == 1 else None


def held_by(task: Task, facts: Facts) -> Account | None:
    """The account on whose balance an order hangs; None where it is not clear which, or that is not known yet."""
    on = task.condition
    if on is None or _later(task, facts):
        return None
    pays, named = source_of(task, facts), account(facts, on.account)
    own = on.after or on.bound is Bound.ENOUGH
    held = named or (pays if own else _surely_pays(task, facts))
    if held is None or pays is None or (own and held.id != pays.id):
        return None
    return held if _value(on.amount, held, facts) is not None else None


def weighed(task: Task, facts: Facts) -> Comparison | None:
    """Whether what an order hangs on is so; None where that cannot be told."""
    on, held = task.condition, held_by(task, facts)
    bound = _value(on.amount, held, facts) if on is not None and held is not None else None
    if on is None or held is None or bound is None:
        return None
    name, cost = account_name(facts, held.id), _cost(task, held, facts)
    if (on.after or on.bound is Bound.ENOUGH) and (cost is None or cost.currency != held.available.currency):
        return None
    left = held.available.minor - cost.minor if cost is not None else 0
    if _holds(on, left if on.after or on.bound is Bound.ENOUGH else held.available.minor, bound.minor):
        return Comparison(True, reply("balance.one", account=name, amount=held.available))
    if cost is not None and left < 0 and (on.after or on.bound is Bound.ENOUGH):
        return Comparison(False, reply("weigh.short", account=name, amount=held.available, cost=cost))
    if on.after:
        after = replace(held.available, minor=left)
        return Comparison(False, reply("weigh.unmet_after", account=name, amount=held.available, left=after))
    return Comparison(False, reply("weigh.unmet", account=name, amount=held.available))


def _holds(on: BalanceCondition, held: int, bound: int) -> bool:
    match on.bound:
        case Bound.OVER:
            return held > bound
        case Bound.UNDER:
            return held < bound
        case Bound.MOST:
            return held <= bound
        case Bound.LEAST:
            return held >= bound
        case Bound.ENOUGH:
            return held >= 0


def _cost(task: Task, held: Account, facts: Facts) -> Money | None:
    """What the order takes."""
    if task.amounts:
        return money(task.amounts[0], held.available.currency, facts)
    due = bill(facts, task.bill)
    return None if due is None else bill_amount(task, due) or due.due


def _value(value: MoneyValue | None, held: Account, facts: Facts) -> Money | None:
    """A sum beside an account's balance, nought where none is told; None where it is in another currency."""
    currency = held.available.currency
    if value is None:
        return Money(0, currency)
    return money(value, currency, facts) if value.currency in {None, currency} else None


def _reckoned_of(task: Task, by: Reckoning, facts: Facts) -> Account | None:
    """The account whose balance an amount is reckoned from; None where it is not clear which."""
    named, pays = account(facts, by.account), _surely_pays(task, facts)
    if by.measure is not Measure.ABOVE or named is None:
        return named or pays
    return named if pays is None or pays.id == named.id else None


def _surely_pays(task: Task, facts: Facts) -> Account | None:
    """The account that pays, where it was named, or no other one can."""
    if task.source is not None:
        return account(facts, task.source)
    others = [each for each in facts.profile.accounts if each.id != task.target]
    return others[0] if len(others) == 1 else None


def _later(task: Task, facts: Facts) -> bool:
    """Whether it is for a day whose balances nobody knows."""
    return bool(task.date_heard) or (task.on is not None and task.on > facts.today)


def _only_one_called(payee: PayeeId, facts: Facts) -> bool:
    """Whether a history's name tells who was paid."""
    name = payee_name(facts, payee)
    return len([each for each in facts.payees.values() if each.name == name]) == 1
