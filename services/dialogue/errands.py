"""What is read at once when a caller asks for it, and how it is said: balances, histories, bills due, payees."""

import heapq
import re
from dataclasses import replace
from datetime import date
from operator import attrgetter, itemgetter

from rules.locales import locale_rules
from schemas.banking import Account, Card, Transaction, TransactionFilter
from schemas.decision import (
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
from schemas.intent import MONEY_MOVING, Intent, Topic
from schemas.money import MAX_MINOR, Money, exponent
from schemas.payee import Payee
from schemas.span import MoneyValue
from services.dialogue.asked import history_name, none_of, short_day, sift_of, sifted, so_many, whether
from services.dialogue.events import ActionDone, Facts
from services.dialogue.names import (
    account,
    account_name,
    bill,
    both,
    by_reading,
    card,
    card_name,
    day_name,
    payee_at_bank,
    payee_told_apart,
    reply,
    said_name,
)
from services.dialogue.phases import Task
from services.dialogue.policy import currency_of, money, source_of
from services.dialogue.rules import dialogue_rules


def offer_of(task: Task, facts: Facts) -> Reply:
    """Whether this is wanted, with all that was said of it: the amount, for whom or what, the account and the day."""
    offer = _offer_of(task, facts)
    if task.intent not in MONEY_MOVING or offer.id == f"offer.{task.intent.value}":
        return offer
    if task.source is not None:
        offer = reply("offer.drawn", offer=offer, account=account_name(facts, task.source))
    return offer if task.on is None else reply("offer.dated", offer=offer, date=day_name(facts, task.on))


def _offer_of(task: Task, facts: Facts) -> Reply:
    """The same, without the account and the day."""
    due = bill(facts, task.bill)
    if task.intent is Intent.BILL_PAYMENT and due is not None:
        return reply("offer.bill_of", bill=dialogue_rules().without_its_kind(due.name))
    if task.intent is not Intent.TRANSFER_MONEY:
        return _offer_plainly(task, facts)
    currency = currency_of(source_of(task, facts), facts)
    amount = money(task.amounts[0], currency, facts) if len(task.amounts) == 1 else None
    whom = None if task.payee is None else said_name(facts, task.payee)
    if amount is None:
        return _offer_plainly(task, facts) if whom is None else reply("offer.transfer_to", payee=whom)
    if whom is not None:
        return reply("offer.transfer_of_to", amount=amount, payee=whom)
    if task.target is not None:
        return reply("offer.own_of_to", amount=amount, target=account_name(facts, task.target))
    return reply("offer.transfer_of", amount=amount)


def _offer_plainly(task: Task, facts: Facts) -> Reply:
    """Whether anything else is wanted; of a card to be stopped, which."""
    lost = card(facts, task.card)
    if task.intent in {Intent.CARD_LOCK, Intent.CARD_UNLOCK} and lost is not None:
        return reply(f"offer.{task.intent.value}_it", card=card_name(facts, lost))
    return reply(f"offer.{task.intent.value}")


def history(task: Task, facts: Facts) -> ReadTransactions:
    """What is asked of an account's history; more of it begins behind what was told."""
    listed, summed = so_many(task), task.total and not task.further
    sift = sift_of(task)
    merchant = "" if sift and sift.only else history_name(task, facts)
    wanted = TransactionFilter(
        account_id=task.account,
        since=None if task.period is None or task.period.start == date.min else task.period.start,
        until=None if task.period is None or task.period.end == date.max else task.period.end,
        merchant=merchant,
        at_least=_bounds(task.at_least, task, facts, up=True),
        at_most=_bounds(task.at_most, task, facts, up=False),
        limit=dialogue_rules().transactions_summed if summed or sift else task.further + listed,
        received=task.received,
        sent=task.sent,
    )
    return ReadTransactions(wanted, task.further, listed if summed else 0, sift)


def _bounds(said: MoneyValue | None, task: Task, facts: Facts, *, up: bool) -> tuple[Money, ...]:
    """A size in each currency of the account asked about, or of all; one with a currency bounds that alone."""
    if said is None:
        return ()
    if said.currency is not None:
        return (Money(said.amount_minor, said.currency),)
    asked, digits = account(facts, task.account), locale_rules(facts.locale).digits
    held = {each.balance.currency for each in ((asked,) if asked is not None else facts.profile.accounts)}
    bounds = []
    for currency in sorted(held) or [currency_of(None, facts)]:
        part = 10 ** max(0, digits - exponent(currency))  # over 50.99 is from 51 yen on
        even = (said.amount_minor + (part - 1 if up else 0)) // part * part
        bound = replace(said, amount_minor=even).within(currency, digits)
        bounds += [Money(min(bound.amount_minor, MAX_MINOR), currency)] if bound is not None else []
    return tuple(bounds)


def payees(task: Task, facts: Facts) -> Execute | Refuse:
    """Look for the payee who was named; without a name, for those who were paid last."""
    if task.payee is not None:
        return Execute(ReadPayees((task.payee,)))
    if task.payee_candidates:
        return Execute(ReadPayees(task.payee_candidates))
    if task.payee_heard:
        return Refuse(reply("payees.not_found", heard=task.payee_heard))
    return Execute(ReadPayees(_listed(facts)))


def _listed(facts: Facts) -> tuple[PayeeId, ...]:
    """Who is named where nobody is asked for."""
    return tuple(payee.id for payee in _recently_paid(facts, dialogue_rules().payees_listed))


def _recently_paid(facts: Facts, count: int) -> list[Payee]:
    """Those who were paid last, then others, by name; a book may have ten thousand."""
    paid = ((-p.last_paid.toordinal(), p.name, p) for p in facts.payees.values() if p.last_paid is not None)
    found = [payee for _, _, payee in heapq.nsmallest(count, paid, key=itemgetter(0, 1))]
    if len(found) < count:
        never = (p for p in facts.payees.values() if p.last_paid is None)
        found += heapq.nsmallest(count - len(found), never, key=attrgetter("name"))
    return found


def result(event: ActionDone, facts: Facts) -> Reply:
    """What was read or done, in a sentence."""
    match event.action:
        case ReadBalance(wanted, among, total, less, enough):
            asked = among or (() if wanted is None else (wanted,))
            rows = tuple(a for a in event.accounts if not asked or a.id in asked)
            return _balances(rows, facts, total=total) if less is None else _left(rows, less, facts, enough)
        case ReadTransactions():
            return _history(event.action, event.transactions, facts)
        case ReadPayees(found):
            names = tuple(payee_told_apart(facts, p, found) for p in found)
            if len(names) == 1:  # of one it may be asked where the account is
                names = (payee_at_bank(facts, found[0], names[0]),)
            if (more := len(facts.payees) - len(found)) > 0 and found == _listed(facts):
                return reply("payees.more", payees=names, count=more)
            return reply("payees.found", payees=names) if names else reply("payees.none")
        case LockCard():
            return _card("card.locked", event.card, facts)
        case UnlockCard():
            return _card("card.unlocked", event.card, facts)


def _history(read: ReadTransactions, rows: tuple[Transaction, ...], facts: Facts) -> Reply:
    """What is asked of it, and the sum where that is."""
    wanted, told, sift = read.filter, read.told, read.sift
    entries = sifted(rows, sift, facts)
    if sift is not None and sift.first is not None:
        last = [row for row in entries if re.search(sift.only, row.merchant, re.IGNORECASE)][:1]
        found = _transactions(tuple(last), facts, replace(wanted, limit=1), earlier=False) if last else None
        return both(sift.first, found) if found is not None else sift.first
    if sift is not None and (so := whether(entries, wanted, sift, facts)) is not None:
        return both(so, _transactions(entries[:1], facts, replace(wanted, limit=1), earlier=False))
    end = read.total or (told + sift.listed if sift is not None else wanted.limit)
    if sift is not None and sift.pick and entries:
        return _extreme(entries if read.total or wanted.since else entries[told:end], sift.pick, facts)
    alone = replace(wanted, limit=sift.listed) if sift is not None else wanted
    listed = _transactions(entries[told:end], facts, alone, earlier=told > 0)
    if (
        sift is not None
        and not sift.sought
        and entries
        and not re.search(sift.only, entries[0].merchant, re.IGNORECASE)
    ):
        listed = both(reply("transactions.none"), listed)  # of that kind: others came in
    summed = _summed(entries, facts, wanted) if read.total else None
    return both(listed, summed) if summed is not None else listed


def _extreme(rows: tuple[Transaction, ...], pick: str, facts: Facts) -> Reply:
    """The largest or smallest of them; all of them where they are not of one currency."""
    said = _by_reading({row.merchant for row in rows}, facts)
    if len({row.amount.currency for row in rows}) > 1:
        return reply("transactions.list", rows=tuple(_row(row, said, facts) for row in rows))
    one = (max if pick == Topic.LARGEST else min)(rows, key=lambda row: abs(row.amount.minor))
    return reply(f"transactions.{pick}", row=_row(one, said, facts))


def _card(said: str, card: Card | None, facts: Facts) -> Reply:
    return reply(said) if card is None else reply(f"{said}_it", card=card_name(facts, card))


def _left(rows: tuple[Account, ...], taken: Money, facts: Facts, enough: bool) -> Reply:
    """What an order that waits will leave of a balance; `enough`: first whether that is more than it takes."""
    had, told = rows[0].available if len(rows) == 1 else None, _balances(rows, facts, total=False)
    if had is None or had.currency != taken.currency:
        return told
    if had.minor < taken.minor:
        short = reply("balance.short", amount=replace(had, minor=taken.minor - had.minor))
        return both(reply("say.no"), both(told, short)) if enough else both(told, short)
    if enough:
        return both(reply("say.yes"), both(told, _left(rows, taken, facts, enough=False)))
    left = replace(had, minor=had.minor - taken.minor)
    return reply("balance.left", account=account_name(facts, rows[0].id), amount=left)


def _balances(rows: tuple[Account, ...], facts: Facts, *, total: bool) -> Reply:
    if not rows:
        return reply("balance.none")
    if len(rows) == 1:
        return reply("balance.one", account=account_name(facts, rows[0].id), amount=rows[0].available)
    parts: tuple[ReplyParam, ...] = tuple(
        reply("part.account_balance", account=account_name(facts, a.id), amount=a.available) for a in rows
    )
    said = reply("balance.all", accounts=parts)
    if not total or len({row.available.currency for row in rows}) > 1:
        return said
    summed = replace(rows[0].available, minor=sum(row.available.minor for row in rows))
    return both(said, reply("balance.total", total=summed))


def _transactions(rows: tuple[Transaction, ...], facts: Facts, wanted: TransactionFilter, *, earlier: bool) -> Reply:
    if not rows:
        return reply("transactions.no_more") if earlier else none_of(wanted, facts)
    said = _by_reading({row.merchant for row in rows}, facts)
    parts: tuple[ReplyParam, ...] = tuple(_row(row, said, facts) for row in rows)
    if earlier:
        return reply("transactions.earlier", rows=parts)
    if len(rows) == 1:
        return reply("transactions.latest" if wanted.limit == 1 else "transactions.one", row=parts[0])
    return reply("transactions.list", rows=parts)


def _summed(rows: tuple[Transaction, ...], facts: Facts, wanted: TransactionFilter) -> Reply | None:
    """What all of them come to, each currency by itself; None of one. What moves between own accounts is not spent."""
    own = {account.name for account in facts.profile.accounts}
    came_in = wanted.received or all(row.amount.minor > 0 for row in rows)
    moved = [row for row in rows if (row.amount.minor > 0) is came_in and row.merchant not in own]
    if len(rows) >= wanted.limit:
        return reply("transactions.too_many")
    if len(moved) < 2:  # noqa: PLR2004 - one is told itself
        return None
    currencies = dict.fromkeys(row.amount.currency for row in moved)
    totals: tuple[ReplyParam, ...] = tuple(
        Money(sum(abs(row.amount.minor) for row in moved if row.amount.currency == each), each) for each in currencies
    )
    first, last = (short_day(pick(row.booked_on for row in moved), facts) for pick in (min, max))
    stretch = reply("part.on_day", day=last) if first == last else reply("part.stretch", first=first, last=last)
    said = "transactions.came_in" if came_in else "transactions.went_out"
    return reply(said, totals=totals, count=len(moved), stretch=stretch)


def _by_reading(names: set[str], facts: Facts) -> dict[str, str]:
    """What payees among `names` are called aloud, where that is not as they are written."""
    return {p.name: p.kana for p in facts.payees.values() if p.kana and p.name in names} if by_reading(facts) else {}


def _row(row: Transaction, said: dict[str, str], facts: Facts) -> ReplyParam:
    """A transaction; its sign chooses the sentence."""
    amount = replace(row.amount, minor=abs(row.amount.minor))
    to = any(payee.name == row.merchant for payee in facts.payees.values())
    kind = "part.transaction_in" if row.amount.minor >= 0 else "part.transaction_to" if to else "part.transaction"
    return reply(
        kind, when=short_day(row.booked_on, facts), merchant=said.get(row.merchant, row.merchant), amount=amount
    )
