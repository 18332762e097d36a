"""Open the demo bank: put its customers into the sandbox's tables, each balance backed by double entry."""

from collections.abc import Sequence
from datetime import date, timedelta
from functools import partial
from typing import Any, Final

import sqlalchemy as sa

from rules.bank import DemoCustomer, DemoPayee
from schemas.banking import BankOutcome
from schemas.ids import CustomerId
from services.banking.banks import tables as t
from services.banking.banks.sandbox import CLEARING
from services.ports import Clock
from services.store import Store, insert_new, micros

EQUITY: Final = "@equity."
"""Where opening balances come from, a currency each."""


async def open_demo_bank(store: Store, clock: Clock, customers: Sequence[DemoCustomer]) -> int:
    """Add the customers that are not there yet, dates counted back from today; how many were added."""
    now = clock.now()
    added = 0
    for customer in customers:
        added += await store.transact("bank.seed", partial(_add, customer, now.date(), micros(now)))
    return added


def _add(customer: DemoCustomer, today: date, at: int, connection: sa.Connection) -> bool:
    own = CustomerId(customer.customer)
    row = {"id": own, "name": customer.name, "locale": customer.locale, "zone": customer.zone}
    if not insert_new(connection, t.customers, row):
        return False
    for table, rows in _rows(customer, today):
        if rows:
            connection.execute(sa.insert(table), [{"customer_id": own} | row for row in rows])
    _book(connection, customer, today, at)
    return True


def _rows(customer: DemoCustomer, today: date) -> list[tuple[sa.Table, list[dict[str, Any]]]]:
    closing = {account.id: account.opening for account in customer.accounts}
    for moved in customer.transactions:
        closing[moved.account] += moved.amount
    return [
        (
            t.accounts,
            [
                {"position": n, "balance_minor": closing[a.id], **a.model_dump(exclude={"opening"})}
                for n, a in enumerate(customer.accounts)
            ],
        ),
        (t.cards, [{"position": n, **card.model_dump()} for n, card in enumerate(customer.cards)]),
        (t.payees, [_payee(payee, today) for payee in customer.payees]),
        (
            t.bills,
            [
                {
                    "position": n,
                    "id": bill.id,
                    "name": bill.name,
                    "payee_id": bill.payee,
                    "due_minor": bill.due,
                    "minimum_minor": bill.minimum,
                    "currency": bill.currency,
                    "due_on": (today + timedelta(days=bill.due_in_days)).isoformat(),
                }
                for n, bill in enumerate(customer.bills)
            ],
        ),
        (t.limits, [limit.model_dump() for limit in customer.limits]),
    ]


def _payee(payee: DemoPayee, today: date) -> dict[str, Any]:
    plain = payee.model_dump(exclude={"last4", "last_paid_days_ago", "holder", "aliases"})
    paid = payee.last_paid_days_ago
    return plain | {
        "aliases": list(payee.aliases),
        "account_last4": payee.last4,
        "last_paid": None if paid is None else (today - timedelta(days=paid)).isoformat(),
        "holder": payee.name if payee.holder == "" else payee.holder,
    }


def _book(connection: sa.Connection, customer: DemoCustomer, today: date, at: int) -> None:
    """Opening balances against equity, then the recent months against clearing, each a posting of two entries."""
    currency = {account.id: account.currency for account in customer.accounts}
    oldest = max((moved.days_ago for moved in customer.transactions), default=0) + 1
    moves = [(a.id, oldest, a.opening, "opening balance", EQUITY) for a in customer.accounts if a.opening]
    moves += [
        (moved.account, moved.days_ago, moved.amount, moved.merchant, CLEARING)
        for moved in sorted(customer.transactions, key=lambda moved: -moved.days_ago)
    ]
    postings: list[dict[str, Any]] = []
    entries: list[dict[str, Any]] = []
    for n, (account, days_ago, amount, merchant, against) in enumerate(moves):
        posting = f"seed-{customer.customer}-{n}"
        common = {
            "posting_id": posting,
            "currency": currency[account],
            "booked_on": (today - timedelta(days=days_ago)).isoformat(),
            "merchant": merchant,
        }
        postings.append({"id": posting, "key": posting, "fingerprint": "", "outcome": BankOutcome.DONE.value, "at": at})
        entries.append({"account_id": account, "amount_minor": amount, **common})
        entries.append({"account_id": f"{against}{currency[account]}", "amount_minor": -amount, **common})
    connection.execute(sa.insert(t.postings), [{"customer_id": customer.customer} | row for row in postings])
    connection.execute(sa.insert(t.entries), entries)
