"""What of what is read is asked: whether it is there, the first or the others of it, what is enough for it. Pure."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

from schemas.banking import Bill, Transaction, TransactionFilter
from schemas.decision import ReadTransactions, Reply, Sift
from schemas.ids import PayeeId
from schemas.intent import Intent, Topic, Understood
from schemas.money import Money
from services.dialogue.events import Facts
from services.dialogue.names import bill, both, day_name, open_bills, payee_name, reply
from services.dialogue.phases import Task
from services.dialogue.policy import money, source_of
from services.dialogue.rules import dialogue_rules
from services.dialogue.state import DialogueState

EXTREMES = frozenset({Topic.LARGEST, Topic.SMALLEST})
_JUST_NOW = timedelta(days=7)
"""What came in so many days ago has come in, though the month before."""


def so_many(task: Task) -> int:
    """How many entries of a history are told."""
    return min(task.listed, dialogue_rules().transactions_most) or dialogue_rules().transactions_listed


def sift_of(task: Task) -> Sift | None:
    """What of a history the bank does not select; None where it selects all that is asked for."""
    only = dialogue_rules().income(task.merchant) if task.received and task.merchant else ""
    if task.sought is not None:
        sums = [str(each.amount_minor) for each in task.amounts]
        only = "|".join(rf"\b{re.escape(word)}\b" for word in (*task.merchant.split(), *sums))
    named = task.merchant or task.payee or task.payee_heard or task.bill
    spent, asks = task.spent and not named, task.asked == Topic.WHETHER
    pick = task.asked if task.asked in EXTREMES else ""
    first = reply("transactions.next_unknown") if task.asked == Topic.NEXT else None
    sift = Sift(so_many(task), only, task.besides, spent, asks, pick, task.sought is not None, first=first)
    return sift if sift != Sift(so_many(task)) else None


def sifted(rows: tuple[Transaction, ...], sift: Sift | None, facts: Facts) -> tuple[Transaction, ...]:
    """What of it is asked for."""
    if sift is None:
        return rows
    own, but = {account.name for account in facts.profile.accounts}, sift.but.casefold()
    rows = tuple(row for row in rows if not but or but not in row.merchant.casefold())
    if sift.parts:
        kinds, payees = {kept for _, kept in dialogue_rules().shop_kinds}, {p.name for p in facts.payees.values()}
        shops = tuple(row for row in rows if row.merchant not in payees)  # 花 is no kind of shop in 花子
        parts = ((it, shops if it in kinds else rows) for it in sift.parts)
        found = (tuple(row for row in of if re.search(it, row.merchant, re.IGNORECASE)) for it, of in parts)
        return next(filter(None, found), ())
    if sift.spent:
        rows = tuple(row for row in rows if row.amount.minor < 0 and row.merchant not in own)
    if sift.sought:  # by a word of its name, or the sum
        named = ((row, f"{row.merchant} {abs(row.amount.minor)}") for row in rows)
        return tuple(row for row, name in named if re.search(sift.only, name, re.IGNORECASE))
    return tuple(row for row in rows if re.search(sift.only, row.merchant, re.IGNORECASE)) or rows


def looked_wider(read: ReadTransactions, rows: Sequence[Transaction], facts: Facts) -> ReadTransactions | None:
    """What to look for where that finds none: a shop by a part of its name, or the last of what has not come in yet."""
    wanted, sift, rules = read.filter, read.sift or Sift(read.total or read.filter.limit), dialogue_rules()
    if read.told or sift.sought or sift.parts or sift.first is not None:
        return None
    rows = [row for row in rows if re.search(sift.only, row.merchant, re.IGNORECASE)] if sift.only else rows
    payee = wanted.merchant in {payee.name for payee in facts.payees.values()}
    if rows or not (sift.only or wanted.merchant):
        return None
    if (sift.only or payee) and (first := _not_in_these_days(wanted, facts)) is not None:
        return replace(read, filter=replace(wanted, since=None, until=None), sift=replace(sift, first=first))
    parts = () if sift.only or payee else rules.parts_of(wanted.merchant)
    anyone = replace(wanted, merchant="", limit=rules.transactions_summed)
    return replace(read, filter=anyone, sift=replace(sift, parts=parts)) if parts else None


def _not_in_these_days(wanted: TransactionFilter, facts: Facts) -> Reply | None:
    """That there are none in the stretch asked for, up to now, or on the day; None where the last is not asked."""
    since, until, today = wanted.since, wanted.until, facts.today
    if since is None or until is None or since > today or (until < today and until != since):
        return None
    month = since.day == 1 and until >= today and (since.year, since.month) == (today.year, today.month)
    return reply("transactions.not_this_month") if month else none_of(wanted, facts)


def none_of(wanted: TransactionFilter, facts: Facts) -> Reply:
    """That a history has none, and of which days."""
    if wanted.since is None or wanted.until is None:
        return reply("transactions.none")
    first, last = wanted.since, min(wanted.until, max(wanted.since, facts.today))
    if first == last:
        return reply("transactions.none_on", day=short_day(first, facts))
    return reply("transactions.none_then", first=short_day(first, facts), last=short_day(last, facts))


def short_day(day: date, facts: Facts) -> Reply:
    """A day; one of this year is said without the year."""
    return reply("date.short", day=day) if day.year == facts.today.year else reply("date.full", date=day)


def history_name(task: Task, facts: Facts) -> str:
    """Who is asked about as a history names them: a merchant, a payee, or whoever sends the bill."""
    return _known_as(task.merchant, facts) or _paid_to(task, facts)


def _known_as(merchant: str, facts: Facts) -> str:
    """A merchant as the history names them: a payee where one alone is called so: 大家, "landlord"."""
    merchant = re.sub(dialogue_rules().shops, "", merchant, flags=re.IGNORECASE)
    said, book = merchant.casefold(), facts.payees.values() if merchant else ()
    called = [one for one in book if said in map(str.casefold, (one.relationship, *one.aliases))]
    return called[0].name if len(called) == 1 else merchant


def _paid_to(task: Task, facts: Facts) -> str:
    """Who was paid, as the account's history names them: the payee, or whoever sends the bill."""
    due = bill(facts, task.bill)
    payee = (task.payee or owed_to(task.bill_heard, facts)) if due is None else due.payee_id
    if payee is None and len(names := {payee_name(facts, each) for each in task.payee_candidates}) == 1:
        return names.pop()  # two of one name
    return task.payee_heard or task.bill_heard if payee is None else payee_name(facts, payee)


def owed_to(heard: str, facts: Facts) -> PayeeId | None:
    """The one payee to whom what is no bill of the caller's is owed: the rent, to the landlord."""
    kind = dialogue_rules().owed_to.get(heard.casefold())
    owed = [payee.id for payee in facts.payees.values() if payee.relationship == kind] if kind else []
    return owed[0] if len(owed) == 1 else None


def whether(rows: Sequence[Transaction], wanted: TransactionFilter, sift: Sift, facts: Facts) -> Reply | None:
    """A yes or a no to what was asked; None where that was not asked, or nothing tells it surely."""
    if not sift.whether or (rows and not re.search(sift.only, rows[0].merchant, re.IGNORECASE)):
        return None
    if not rows:
        return reply("say.no")
    day, today = rows[0].booked_on, facts.today
    if wanted.since is None and (day.year, day.month) != (today.year, today.month) and day < today - _JUST_NOW:
        return reply("transactions.not_this_month")
    return reply("say.yes")


def followed(  # noqa: PLR0911 - one return a question
    task: Task, recent: Task, heard: Understood, facts: Facts
) -> Task | None:
    """The history that was told, as a few words behind it ask for it; None where they do not."""
    rules = dialogue_rules()
    if heard.by(*rules.last_time) and recent.received:  # the last, where none has come in yet
        return replace(recent, listed=2, further=0, period=None, total=False, asked="")
    if heard.by(*rules.earlier) and recent.total and recent.period is not None and recent.period.start > date.min:
        before = replace(recent.period, start=date.min, end=recent.period.start - timedelta(days=1))
        return replace(recent, period=before, further=0, listed=task.listed, total=False, asked="")
    if heard.by(*rules.earlier):
        told = 1 if recent.asked == Topic.WHETHER else so_many(recent)
        return replace(recent, further=recent.further + told, listed=task.listed or recent.listed, asked="")
    if heard.by(*rules.others):
        return _besides(recent, task, facts)
    if heard.by(*rules.stretch_before):
        return _stretch_before(recent, task.portion)
    if heard.by(*rules.come_in_then) and recent.received:
        past = task.period if task.period is not None and task.period.end < facts.today else None
        return replace(recent, period=past, asked=task.asked, listed=0, further=0, total=False)
    if heard.by(*rules.last_of_it):
        return replace(recent, listed=1, further=0, total=False, asked="")
    if heard.by(*rules.that_history) and not recent.total:
        return replace(recent, listed=task.listed or recent.listed, asked="")
    return replace(recent, asked=task.asked) if heard.by(*rules.of_all_told) else None


def _besides(recent: Task, task: Task, facts: Facts) -> Task:
    """The rest of a history, in or out as it is asked for; where nobody was named in it, what came before."""
    at = recent.merchant or (payee_name(facts, recent.payee) if recent.payee is not None else "")
    ways = (task.received, task.spent) if task.received or task.spent else (recent.received, recent.spent)
    if not at and task.period is None and ways == (recent.received, recent.spent):
        return replace(recent, further=recent.further + so_many(recent), listed=0, total=False, asked="")
    nobody = replace(recent, merchant="", payee=None, payee_candidates=(), payee_heard="", bill=None, sought=None)
    nobody = replace(nobody, received=ways[0], spent=ways[1], sent=False, period=task.period or recent.period)
    return replace(nobody, besides=at, further=0, listed=0, total=False, asked="")


def _stretch_before(recent: Task, unit: str) -> Task:
    """The day, week or month before; of what has no days the entry before."""
    days = recent.period
    if days is None:
        return replace(recent, further=recent.further + so_many(recent), listed=1, asked="")
    end = days.start - timedelta(days=1)
    start = end.replace(day=1) if unit == "month" else end - (timedelta(days=6) if unit == "week" else timedelta())
    return replace(recent, period=replace(days, start=start, end=end), further=0)


def measured(state: DialogueState, task: Task, facts: Facts) -> Task:
    """An inquiry about a balance with what is to be taken of it."""
    asked = task.intent is Intent.BALANCE_INQUIRY and task.asked in {Topic.ENOUGH, Topic.LEFT}
    if not asked or task.accounts:
        return task
    waiting = state.task or state.memory.recent
    order = state.read_back.order if state.read_back is not None else None
    about = replace(task, bill=task.bills[0]) if task.bills else task if task.amounts else waiting or task
    pays = task.account or (order.source if order is not None else None)
    held = source_of(replace(about, source=pays or about.source), facts)
    if held is None:
        return task
    less = order.amount if order is not None and about is waiting else _cost(about, held.available.currency, facts)
    return task if less is None else replace(task, account=held.id, less=less)


def _cost(task: Task, currency: str, facts: Facts) -> Money | None:
    """What is to be paid: the bills that are asked about, or an amount; None where nobody told."""
    named = (bill(facts, each) for each in task.bills or (task.bill,))
    due = [each for each in named if each is not None and each.id not in facts.paid]
    if task.amounts:
        return money(task.amounts[0], currency, facts) if len(task.amounts) == 1 else None
    alike = due and {each.due.currency for each in due} == {currency}
    return Money(sum(each.due.minor for each in due), currency) if alike else None


def by_day(facts: Facts) -> list[Bill]:
    """The bills, in the order in which they fall due."""
    return sorted(open_bills(facts), key=lambda each: each.due_on)


def first_due(recent: Task | None, facts: Facts) -> Bill | None:
    """The bill that was told to be the first, or stood first in what was told; None where that was not asked."""
    if recent is None or recent.intent is not Intent.BILL_INQUIRY or recent.period is not None:
        return None
    if recent.bill is not None:
        return bill(facts, recent.bill) if recent.asked == Topic.FIRST else None
    return next(iter(by_day(facts)), None)


def asked_of_bills(task: Task, facts: Facts) -> Reply | None:
    """What is asked of one bill or of several; None where no more is than what is due, and when."""
    due, days = bill(facts, task.bill), task.period
    if task.asked == Topic.OTHERS:
        others = [each for each in by_day(facts) if each.id != task.bill]
        return _listed(others) if others else reply("bill.none_open" if due is None else "bill.no_others")
    if task.total and len(task.bills) > 1:
        several = [each for each in by_day(facts) if each.id in task.bills]
        unpaid = replace(task, bills=tuple(each.id for each in several))
        total = _cost(unpaid, several[0].due.currency, facts) if several else None
        return None if total is None else both(_listed(several), reply("balance.total", total=total))
    if due is None:
        return None
    told = reply("bill.due", bill=due.name, due=due.due, date=day_name(facts, due.due_on))
    if task.asked == Topic.FIRST:
        return both(reply("bill.first", bill=due.name), told)
    if task.asked == Topic.WHETHER:  # due then; or paid by now
        return both(reply("say.yes" if days is not None and days.start <= due.due_on <= days.end else "say.no"), told)
    return None


def _listed(bills: Sequence[Bill]) -> Reply:
    return reply("bill.list", bills=tuple(reply("part.bill", bill=b.name, due=b.due, day=b.due_on) for b in bills))
