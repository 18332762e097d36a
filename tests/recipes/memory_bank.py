"""The smallest core bank there can be: accounts in memory, all else from the directory. What an adapter has to keep."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import partial

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
from schemas.errors import InFlight, KeyReused, NotFound
from schemas.ids import AccountId, CustomerId
from schemas.money import Money
from services.banking.banks import directory
from services.banking.seal import fingerprint
from services.ports import Clock
from services.store import Store


class MemoryBank(directory.Directory):
    """CoreBank. An answer is bound to its key and to the order's fingerprint; asked again it is the same answer."""

    def __init__(self, accounts: dict[CustomerId, list[Account]], store: Store, clock: Clock) -> None:
        super().__init__(store, clock)
        self._accounts = {customer: {account.id: account for account in held} for customer, held in accounts.items()}
        self._moved: defaultdict[CustomerId, list[Transaction]] = defaultdict(list)
        self._answers: dict[str, tuple[CustomerId, str, BankReceipt]] = {}

    async def profile(self, customer: CustomerId) -> CustomerProfile:
        accounts, now = await self.accounts(customer), self._clock.now()
        return await self._store.look(lambda connection: directory.profile(customer, connection, accounts, now))

    async def accounts(self, customer: CustomerId) -> Sequence[Account]:
        if customer not in self._accounts:
            raise NotFound("no such customer")
        return list(self._accounts[customer].values())

    async def transactions(self, customer: CustomerId, wanted: TransactionFilter) -> Sequence[Transaction]:
        payees = {payee.name for payee in await self.payees(customer)}
        return [moved for moved in reversed(self._moved[customer]) if wanted.fits(moved, payees)][: wanted.limit]

    async def transfer(self, customer: CustomerId, order: TransferOrder, key: str) -> BankReceipt:
        asked = customer, fingerprint(customer, order)
        if key in self._answers:
            *before, receipt = self._answers[key]
            if tuple(before) != asked:
                raise KeyReused
            if receipt.outcome is BankOutcome.PENDING:
                raise InFlight
            return receipt
        # Taken before anything is awaited, as a real core does by a unique key: whoever comes second finds it.
        self._answers[key] = (*asked, BankReceipt(BankOutcome.PENDING))
        reason, name = await self._refused(customer, order)
        receipt = BankReceipt(BankOutcome.DECLINED, reason=reason) if reason else self._book(customer, order, name, key)
        self._answers[key] = (*asked, receipt)
        if receipt.outcome is BankOutcome.DONE:
            await self._store.transact("bank.done", partial(self._note_done, customer, order))
        return receipt

    async def transfer_outcome(self, customer: CustomerId, key: str) -> BankReceipt:
        owner, _, receipt = self._answers.get(key, ("", "", BankReceipt(BankOutcome.NOT_FOUND)))
        return receipt if owner == customer else BankReceipt(BankOutcome.NOT_FOUND)

    async def _refused(self, customer: CustomerId, order: TransferOrder) -> tuple[str, str]:
        """Why an order can't be carried out (nothing: ""), and to whom it goes."""
        held = self._accounts[customer]
        if order.source not in held or (order.payee_id is None and order.to_account not in held):
            return "no_such_account", ""
        name = "own account"
        if order.payee_id is not None:
            try:
                payee = await self.payee(customer, order.payee_id)
            except NotFound:
                return "no_such_payee", ""
            if payee.version != order.payee_version:
                return "payee_changed", ""
            name = payee.name
        return ("insufficient_funds" if held[order.source].balance.minor < order.amount.minor else ""), name

    def _book(self, customer: CustomerId, order: TransferOrder, name: str, key: str) -> BankReceipt:
        self._post(customer, order.source, -order.amount.minor, name)
        if order.to_account is not None:
            self._post(customer, order.to_account, order.amount.minor, name)
        return BankReceipt(BankOutcome.DONE, f"memory-{len(self._answers)}-{key}"[:64])

    def _post(self, customer: CustomerId, account: AccountId, minor: int, name: str) -> None:
        held = self._accounts[customer][account]
        left = Money(held.balance.minor + minor, held.balance.currency)
        self._accounts[customer][account] = replace(held, balance=left, available=left)
        number, amount = str(len(self._moved[customer])), Money(minor, left.currency)
        moved = Transaction(number, account, self._today(), amount, name)
        self._moved[customer].append(moved)

    def _note_done(self, customer: CustomerId, order: TransferOrder, connection: sa.Connection) -> None:
        if order.bill_id is not None:
            directory.settle_bill(customer, connection, order.bill_id, order.amount)
        if order.payee_id is not None:
            directory.note_paid(customer, connection, order.payee_id, self._today())

    def _today(self) -> date:
        return self._clock.now().astimezone(zone("America/New_York")).date()
