"""Apache Fineract as the core bank: accounts and account transfers over its HTTP API.

Fineract replays a stored answer for an `Idempotency-Key` it has seen, says 425 while the first request is still being
worked on, and compares neither the payload nor whose the account is. So the key is bound to the order's fingerprint in
our own table before the first request leaves; the key also stands in the transfer's description, by which an outcome,
and whom it paid, is found again.
Payees, cards, bills and limits, which Fineract does not keep, come from the directory.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any, Final

import httpx
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
from schemas.directory import ids_in
from schemas.errors import BankGarbage, BankUnavailable, InFlight, KeyReused, NotFound
from schemas.ids import AccountId, BillId, CustomerId, PayeeId
from schemas.money import Money
from services.banking.banks import directory
from services.banking.banks import fineract_answers as answers
from services.banking.banks import tables as t
from services.banking.seal import fingerprint
from services.ports import Clock
from services.store import Store, insert_new, instant, micros

log = logging.getLogger(__name__)

MAX_BYTES: Final = 16 * 1024 * 1024
"""Of an answer; an account's history, which comes whole, may take a few."""
MAX_TRANSACTIONS: Final = 50
_MAY_BE_UNDER_WAY: Final = timedelta(hours=1)
"""How long after a request was sent first the core may still be carrying it out."""
_SAVINGS: Final = 2
"""Fineract's code for a savings account."""


@dataclass(frozen=True, slots=True)
class FineractSettings:
    """Where Fineract is and who we are to it. `timeout_s` bounds every request, its answer read to the end."""

    url: str
    user: str
    password: str
    tenant: str = "default"
    office: int = 1
    timeout_s: float = 5.0

    def client(self) -> httpx.AsyncClient:
        """A pooled client with the tenant's header and our credentials; close it when done."""
        return httpx.AsyncClient(
            base_url=self.url,
            auth=(self.user, self.password),
            headers={"Fineract-Platform-TenantId": self.tenant},
            timeout=self.timeout_s,
            follow_redirects=False,
            limits=httpx.Limits(max_connections=32),
        )


class _Unsendable(Exception):
    """The order can't be sent, for a reason that is a stable code."""


@dataclass(frozen=True, slots=True)
class _Way:
    """Whose account money goes to and on which day, as the core knows them.

    Read once: what was checked is what is sent, whatever is imported meanwhile.
    """

    client: str
    owner: str
    account: str
    name: str
    day: date


class FineractBank(directory.Directory):
    """CoreBank over Fineract and the directory. A customer's and a payee's `route` are their ids in Fineract."""

    def __init__(self, settings: FineractSettings, client: httpx.AsyncClient, store: Store, clock: Clock) -> None:
        super().__init__(store, clock)
        self._settings = settings
        self._client = client

    async def profile(self, customer: CustomerId) -> CustomerProfile:
        """Accounts, cards, bills and limits, as of now. Raises NotFound, BankUnavailable, BankGarbage."""
        accounts, now = await self.accounts(customer), self._clock.now()
        return await self._store.look(lambda connection: directory.profile(customer, connection, accounts, now))

    async def accounts(self, customer: CustomerId) -> Sequence[Account]:
        """The customer's active savings accounts with balances."""
        return await self._accounts((await self._store.look(partial(directory.person, customer))).route)

    async def _accounts(self, client: str) -> Sequence[Account]:
        """Those of a customer who is `client` in the core."""
        if not ids_in(client, 1):
            return []
        found = await self._get(f"/v1/clients/{client}/accounts")
        rows = answers.rows_of(found, "savingsAccounts")
        return [answers.account_of(row) for row in rows if answers.current(row)]

    async def transactions(self, customer: CustomerId, wanted: TransactionFilter) -> Sequence[Transaction]:
        """Booked transactions of the customer's accounts, newest first."""
        owned = [account.id for account in await self.accounts(customer)]
        if wanted.account_id is not None and wanted.account_id not in owned:
            return []
        chosen = owned if wanted.account_id is None else [wanted.account_id]
        details = await asyncio.gather(*(self._history(customer, account) for account in chosen))
        names = await self._names(customer)
        rows = ((account, row) for account, listed in zip(chosen, details, strict=True) for row in listed)
        moved = filter(None, (answers.transaction_of(account, row, names) for account, row in rows))
        payees = {payee.name for payee in await self.payees(customer)} if wanted.sent else ()
        fitting = sorted(
            (m for m in moved if wanted.fits(m, payees)), key=lambda m: (m.booked_on, int(m.id)), reverse=True
        )
        return fitting[: min(wanted.limit, MAX_TRANSACTIONS)]

    async def transfer(self, customer: CustomerId, order: TransferOrder, key: str) -> BankReceipt:
        """Move money once for `key`. Raises KeyReused, InFlight, BankUnavailable, BankGarbage (outcome unknown)."""
        try:
            way = await self._way(customer, order)
        except _Unsendable as refused:
            return await self._not_sent(customer, key, str(refused), await self._bind(customer, order, key, ""))
        await self._bind(customer, order, key, way.name)
        body, headers = self._request(order, way, key), {"Idempotency-Key": key}
        answer = await self._asked("POST", "/v1/accounttransfers", json=body, headers=headers)
        receipt = answers.receipt_of(key, *answer)
        if receipt.outcome is BankOutcome.DONE:
            await self._note_done(customer, key, way.day)
        return receipt

    async def _not_sent(
        self, customer: CustomerId, key: str, refused: str, first_sent_at: datetime | None
    ) -> BankReceipt:
        """What can't be sent is declined, unless it was sent while it could be. Raises InFlight while that may be."""
        if first_sent_at is not None:
            before = await self.transfer_outcome(customer, key)
            if before.outcome is BankOutcome.DONE:
                return before
            if self._clock.now() - first_sent_at < _MAY_BE_UNDER_WAY:
                raise InFlight
        return BankReceipt(BankOutcome.DECLINED, reason=refused)

    async def transfer_outcome(self, customer: CustomerId, key: str) -> BankReceipt:
        """What became of `key`: looked for in the source account's history; NOT_FOUND when it never was there."""
        mine = (t.wire_keys.c.key == key) & (t.wire_keys.c.customer_id == customer)
        sent = await self._store.look(lambda connection: connection.execute(sa.select(t.wire_keys).where(mine)).first())
        if sent is None:
            return BankReceipt(BankOutcome.NOT_FOUND)
        history = await self._history(customer, AccountId(sent.source))
        moved = [row for row in history if answers.sent_under(row) == key]
        for row in filter(answers.booked, moved):
            await self._note_done(customer, key, answers.day_of(row))
            return BankReceipt(BankOutcome.DONE, key)
        if moved:  # sent again under its key, it would be answered as it was before it was taken back
            return BankReceipt(BankOutcome.DECLINED, reason="taken_back")
        return BankReceipt(BankOutcome.NOT_FOUND)

    async def _bind(self, customer: CustomerId, order: TransferOrder, key: str, name: str) -> datetime | None:
        """Tie the key to the order, and to the `name` that its movement shall have, before anything is sent.

        Since when it has been, if it was. Raises KeyReused.
        """
        print_ = fingerprint(customer, order)
        row = {
            "customer_id": customer,
            "key": key,
            "fingerprint": print_,
            "source": order.source,
            "payee_id": order.payee_id,
            "bill_id": order.bill_id,
            "amount_minor": order.amount.minor,
            "currency": order.amount.currency,
            "merchant": name,
            "at": micros(self._clock.now()),
        }
        stored = sa.select(t.wire_keys).where(t.wire_keys.c.key == key)

        def binding(connection: sa.Connection) -> tuple[bool, sa.Row[Any]]:
            return insert_new(connection, t.wire_keys, row), connection.execute(stored).one()

        fresh, known = await self._store.transact("bank.bind", binding)
        if known.fingerprint != print_:  # which the customer is part of
            raise KeyReused
        return None if fresh else instant(known.at)

    async def _way(self, customer: CustomerId, order: TransferOrder) -> _Way:
        """Where the order's money goes. Raises _Unsendable for what Fineract itself would not notice."""
        if order.bill_id is not None and not await self._still_due(customer, order.bill_id, order.amount):
            raise _Unsendable("bill_not_due")
        try:
            own = await self._store.look(partial(directory.person, customer))
            payee = None if order.payee_id is None else await self.payee_row(customer, order.payee_id)
        except NotFound:
            raise _Unsendable("no_such_payee") from None
        if payee is not None and payee.version != order.payee_version:
            raise _Unsendable("payee_changed")
        owned = {a.id: a for a in await self._accounts(own.route) if a.balance.currency == order.amount.currency}
        to = payee or owned.get(order.to_account or AccountId(""))
        target = (own.route, order.to_account or "") if payee is None else ids_in(payee.route, 2)
        if to is None or not target or order.source not in owned or order.to_account == order.source:
            raise _Unsendable("no_such_account")
        owner, account = target
        return _Way(own.route, owner, account, to.name, self._clock.now().astimezone(zone(own.zone)).date())

    async def _still_due(self, customer: CustomerId, bill: BillId, amount: Money) -> bool:
        dues = [known.due for known in await self.bills(customer) if known.id == bill]
        return any(due.currency == amount.currency and due.minor >= amount.minor for due in dues)

    def _request(self, order: TransferOrder, way: _Way, key: str) -> answers.Json:
        """The body of an account transfer."""
        return {
            "fromOfficeId": self._settings.office,
            "fromClientId": way.client,
            "fromAccountType": _SAVINGS,
            "fromAccountId": order.source,
            "toOfficeId": self._settings.office,
            "toClientId": way.owner,
            "toAccountType": _SAVINGS,
            "toAccountId": way.account,
            "transferDate": way.day.isoformat(),
            "transferAmount": str(answers.major_units(order.amount)),
            "transferDescription": key,
            "dateFormat": "yyyy-MM-dd",
            "locale": "en",
        }

    async def _names(self, customer: CustomerId) -> Mapping[str, str]:
        """What the customer's own transfers are called, by key."""
        mine = sa.select(t.wire_keys.c.key, t.wire_keys.c.merchant).where(t.wire_keys.c.customer_id == customer)
        rows = await self._store.look(lambda connection: connection.execute(mine).all())
        return {row.key: row.merchant for row in rows}

    async def _note_done(self, customer: CustomerId, key: str, day: date) -> None:
        """Of a payment that went through: when its payee was paid, and once, as its note goes, that its bill was."""
        mine = (t.wire_keys.c.key == key) & (t.wire_keys.c.customer_id == customer)

        def noting(connection: sa.Connection) -> bool:
            sent = connection.execute(sa.select(t.wire_keys).where(mine).with_for_update()).one()
            if sent.payee_id is not None:
                directory.note_paid(customer, connection, PayeeId(sent.payee_id), day)
            if sent.bill_id is None:
                return True
            connection.execute(sa.update(t.wire_keys).where(mine).values(bill_id=None))
            paid = Money(sent.amount_minor, sent.currency)
            return directory.settle_bill(customer, connection, BillId(sent.bill_id), paid)

        if not await self._store.transact("bank.done", noting):
            log.error("a payment went through for a bill that was no longer due; it waits for a person")

    async def _history(self, customer: CustomerId, account: AccountId) -> Sequence[answers.Json]:
        """An account's transactions as Fineract has them, after checking that it is this customer's."""
        found = await self._get(f"/v1/savingsaccounts/{account}", {"associations": "transactions"})
        if str(found.get("clientId")) != (await self._store.look(partial(directory.person, customer))).route:
            raise NotFound("no such account")
        return answers.rows_of(found, "transactions")

    async def _get(self, path: str, parameters: Mapping[str, str] | None = None) -> answers.Json:
        """Read a resource. Raises NotFound, BankUnavailable, BankGarbage."""
        status, text = await self._asked("GET", path, params=parameters)
        if status == httpx.codes.NOT_FOUND:
            raise NotFound("the bank has no such thing")
        if status != httpx.codes.OK:
            raise BankUnavailable(f"the bank answered {status}")
        return await asyncio.to_thread(answers.body_of, text)

    async def _asked(self, method: str, path: str, **sent: Any) -> tuple[int, bytes]:
        """The status and text of the answer to a request. Raises BankUnavailable, BankGarbage past the bound."""
        text = bytearray()
        try:
            async with asyncio.timeout(self._settings.timeout_s), self._client.stream(method, path, **sent) as answer:
                async for part in answer.aiter_bytes():
                    text += part
                    if len(text) > MAX_BYTES:
                        raise BankGarbage("an answer beyond its bound")
                if answer.status_code == httpx.codes.UNAUTHORIZED or answer.is_server_error:
                    log.warning("the core answered %d", answer.status_code)
                return answer.status_code, bytes(text)
        except (httpx.HTTPError, TimeoutError) as error:
            log.warning("no answer of the core: %s", type(error).__name__)
            raise BankUnavailable(f"no answer: {type(error).__name__}") from error
