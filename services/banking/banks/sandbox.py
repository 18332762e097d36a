"""The sandbox bank: a core of its own with double entry, idempotent by key. Not a fake: it keeps books that balance.

A posting and both its entries, the balances, the bill and the payee's history change in one transaction.
"""

from collections.abc import Iterator, Sequence
from datetime import date
from functools import partial
from itertools import islice
from typing import Any, Final

import sqlalchemy as sa

from rules.act import zone
from schemas.banking import (
    Account,
    BankOutcome,
    BankReceipt,
    CustomerProfile,
    Transaction,
    TransactionFilter,
    TransferOrder,
)
from schemas.errors import KeyReused
from schemas.ids import AccountId, CustomerId
from schemas.money import Money
from services.banking.banks import directory
from services.banking.banks import tables as t
from services.banking.seal import fingerprint
from services.store import Store, changed, insert_new, micros

MAX_TRANSACTIONS: Final = 50
PAGE: Final = 500
"""Entries read at a time."""
CLEARING: Final = "@clearing."
"""The bank's own account of a currency, through which money leaves to other banks; its balance is its entries' sum."""


class _Declined(Exception):
    """The order can't be carried out; rolls the movement back."""


class SandboxBank(directory.Directory):
    """CoreBank over our own tables; whom a customer pays, and their cards and bills, are the directory's."""

    async def profile(self, customer: CustomerId) -> CustomerProfile:
        """Accounts, cards, bills and limits, as of now. Raises NotFound."""
        now = self._clock.now()
        return await self._store.look(
            lambda connection: directory.profile(customer, connection, _accounts(customer, connection), now)
        )

    async def accounts(self, customer: CustomerId) -> Sequence[Account]:
        """The customer's accounts with balances, in the bank's order."""
        return await self._store.look(partial(_accounts, customer))

    async def transactions(self, customer: CustomerId, wanted: TransactionFilter) -> Sequence[Transaction]:
        """Booked transactions of the customer's accounts, newest first."""
        e, a = t.entries, t.accounts
        query = sa.select(e).join(a, e.c.account_id == a.c.id).where(a.c.customer_id == customer)
        if wanted.account_id is not None:
            query = query.where(e.c.account_id == wanted.account_id)
        if wanted.since is not None:
            query = query.where(e.c.booked_on >= wanted.since.isoformat())
        if wanted.until is not None:
            query = query.where(e.c.booked_on <= wanted.until.isoformat())
        payees = sa.select(t.payees.c.name).where(t.payees.c.customer_id == customer)

        def looking(connection: sa.Connection) -> Sequence[Transaction]:
            names = set(connection.execute(payees).scalars()) if wanted.sent else set[str]()
            fitting = (moved for moved in _newest(connection, query) if wanted.fits(moved, names))
            return list(islice(fitting, min(wanted.limit, MAX_TRANSACTIONS)))

        return await self._store.look(looking)

    async def transfer(self, customer: CustomerId, order: TransferOrder, key: str) -> BankReceipt:
        """Move money once for `key`. Raises KeyReused when the key came with another order, StoreUnavailable."""
        now = self._clock.now()
        posting = {
            "id": self._clock.new_id(),
            "customer_id": customer,
            "key": key,
            "fingerprint": fingerprint(customer, order),
            "outcome": BankOutcome.DONE.value,
            "at": micros(now),
        }

        def transferring(connection: sa.Connection) -> BankReceipt:
            if not insert_new(connection, t.postings, posting):
                return _seen(customer, connection, key, posting["fingerprint"])
            own = directory.person(customer, connection)
            today = now.astimezone(zone(own.zone)).date()
            try:
                with connection.begin_nested():
                    _move(customer, connection, order, str(posting["id"]), today)
            except _Declined as declined:
                refused = {"outcome": BankOutcome.DECLINED.value, "reason": str(declined)}
                connection.execute(sa.update(t.postings).where(t.postings.c.key == key).values(**refused))
                return BankReceipt(BankOutcome.DECLINED, str(posting["id"]), str(declined))
            return BankReceipt(BankOutcome.DONE, str(posting["id"]))

        return await self._store.transact("bank.transfer", transferring)

    async def transfer_outcome(self, customer: CustomerId, key: str) -> BankReceipt:
        """What became of `key`; NOT_FOUND when it was never seen from this customer."""
        mine = (t.postings.c.key == key) & (t.postings.c.customer_id == customer)
        row = await self._store.look(lambda connection: connection.execute(sa.select(t.postings).where(mine)).first())
        return BankReceipt(BankOutcome.NOT_FOUND) if row is None else _receipt(row)


def _accounts(customer: CustomerId, connection: sa.Connection) -> Sequence[Account]:
    wanted = sa.select(t.accounts).where(t.accounts.c.customer_id == customer).order_by(t.accounts.c.position)
    return [_account(row) for row in connection.execute(wanted)]


def _seen(customer: CustomerId, connection: sa.Connection, key: str, wanted: object) -> BankReceipt:
    """The stored answer to a key that was here before."""
    row = connection.execute(sa.select(t.postings).where(t.postings.c.key == key)).one()
    if row.customer_id != customer or row.fingerprint != wanted:
        raise KeyReused
    return _receipt(row)


def _move(customer: CustomerId, connection: sa.Connection, order: TransferOrder, posting: str, today: date) -> None:
    """Debit, credit, and what hangs on them. Raises _Declined with a stable code."""
    credited, merchant = _target(customer, connection, order)
    balance = t.accounts.c.balance_minor
    mine = (t.accounts.c.customer_id == customer) & (t.accounts.c.currency == order.amount.currency)
    steps = [(order.source, -order.amount.minor, "insufficient_funds")]
    if not credited.startswith(CLEARING):
        steps.append((AccountId(credited), order.amount.minor, "no_such_account"))
    for account, amount, reason in sorted(steps):  # in the order of ids, so that opposite transfers can't deadlock
        enough = mine & (t.accounts.c.id == account) & (balance + amount >= 0)
        done = connection.execute(sa.update(t.accounts).where(enough).values(balance_minor=balance + amount))
        if changed(done) != 1:
            raise _Declined(reason)
    common = {"posting_id": posting, "currency": order.amount.currency, "booked_on": today.isoformat()}
    rows: list[dict[str, Any]] = [
        {"account_id": order.source, "amount_minor": -order.amount.minor, "merchant": merchant, **common},
        {"account_id": credited, "amount_minor": order.amount.minor, "merchant": merchant, **common},
    ]
    connection.execute(sa.insert(t.entries), rows)
    if order.bill_id and not directory.settle_bill(customer, connection, order.bill_id, order.amount):
        raise _Declined("bill_not_due")
    if order.payee_id:
        directory.note_paid(customer, connection, order.payee_id, today)


def _target(customer: CustomerId, connection: sa.Connection, order: TransferOrder) -> tuple[str, str]:
    """The account to credit and what the statement will call it."""
    if order.to_account is not None:
        if order.to_account == order.source:
            raise _Declined("same_account")
        mine = (t.accounts.c.customer_id == customer) & (t.accounts.c.id == order.to_account)
        name = connection.execute(sa.select(t.accounts.c.name).where(mine)).scalar()
        if name is None:
            raise _Declined("no_such_account")
        return order.to_account, name
    mine = (t.payees.c.customer_id == customer) & (t.payees.c.id == order.payee_id)
    row = connection.execute(sa.select(t.payees.c.name, t.payees.c.version).where(mine)).first()
    if row is None:
        raise _Declined("no_such_payee")
    if row.version != order.payee_version:
        raise _Declined("payee_changed")
    return f"{CLEARING}{order.amount.currency}", row.name


def _newest(connection: sa.Connection, query: sa.Select[Any]) -> Iterator[Transaction]:
    """The transactions of a query, newest first, read as far as somebody looks."""
    e, page = t.entries.c, query.order_by(t.entries.c.booked_on.desc(), t.entries.c.id.desc()).limit(PAGE)
    rows = connection.execute(page).all()
    while rows:
        yield from map(_transaction, rows)
        last = sa.tuple_(sa.literal(rows[-1].booked_on), sa.literal(rows[-1].id))
        rows = connection.execute(page.where(sa.tuple_(e.booked_on, e.id) < last)).all() if len(rows) == PAGE else []


def _account(row: sa.Row[Any]) -> Account:
    balance = Money(row.balance_minor, row.currency)
    return Account(AccountId(row.id), row.name, row.last4, balance, balance)


def _transaction(row: sa.Row[Any]) -> Transaction:
    booked = date.fromisoformat(row.booked_on)
    return Transaction(
        str(row.id), AccountId(row.account_id), booked, Money(row.amount_minor, row.currency), row.merchant
    )


def _receipt(row: sa.Row[Any]) -> BankReceipt:
    return BankReceipt(BankOutcome(row.outcome), row.id, row.reason)


async def books(store: Store) -> dict[str, str]:
    """What is wrong with the books, by account or posting; empty when every posting and balance adds up."""
    e, a = t.entries.c, t.accounts.c
    lopsided = sa.select(e.posting_id).group_by(e.posting_id, e.currency).having(sa.func.sum(e.amount_minor) != 0)
    summed = sa.select(sa.func.coalesce(sa.func.sum(e.amount_minor), 0)).where(e.account_id == a.id).scalar_subquery()

    def checking(connection: sa.Connection) -> dict[str, str]:
        wrong = {row.posting_id: "entries do not sum to zero" for row in connection.execute(lopsided)}
        for row in connection.execute(sa.select(a.id).where(a.balance_minor != summed)):
            wrong[row.id] = "balance is not the sum of its entries"
        return wrong

    return await store.look(checking)
