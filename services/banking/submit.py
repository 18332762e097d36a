"""Hand a confirmed transfer to the bank and write down what came of it; the ledger and the reconciler share this.

No answer is no failure: whatever is not a clear yes or no from the bank is UNKNOWN until it is.
"""

import asyncio
import logging
from collections.abc import Awaitable, Mapping
from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from rules.act import MoneyPolicy
from schemas.banking import BankOutcome, BankReceipt, TransferState
from schemas.errors import StoreUnavailable, TellerlineError
from schemas.ids import CustomerId
from schemas.transfer import TransferReceipt
from services.banking import spending, transfers
from services.banking.entries import LedgerEntry
from services.ports import Clock, CoreBank
from services.store import Store, micros

log = logging.getLogger(__name__)

_PENDING = (TransferState.SUBMITTING, TransferState.UNKNOWN)
_FINAL = {BankOutcome.DONE: TransferState.SUCCEEDED, BankOutcome.DECLINED: TransferState.FAILED}


class Submitter:
    """Submits and settles. A transfer is only ever sent under the one key it was proposed with."""

    def __init__(self, store: Store, bank: CoreBank, clock: Clock, policy: MoneyPolicy) -> None:
        self._store = store
        self._bank = bank
        self._clock = clock
        self._policy = policy

    async def submit(self, customer: CustomerId, entry: LedgerEntry) -> TransferReceipt:
        """Ask the bank to move the money, once for the entry's key, and settle."""
        asking = self._bank.transfer(customer, entry.proposal.order, entry.bank_key)
        return await self.settle(customer, entry, await self._answer(asking))

    async def outcome(self, customer: CustomerId, entry: LedgerEntry) -> BankReceipt:
        """What the bank says became of a transfer that was submitted before; it moves nothing."""
        return await self._answer(self._bank.transfer_outcome(customer, entry.bank_key))

    async def _answer(self, asking: Awaitable[BankReceipt]) -> BankReceipt:
        """The bank's answer; PENDING where there was none, in time or at all."""
        try:
            async with asyncio.timeout(self._policy.submit_timeout_s):
                return await asking
        except TimeoutError:
            return BankReceipt(BankOutcome.PENDING, reason="no_answer")
        except TellerlineError as error:
            return BankReceipt(BankOutcome.PENDING, reason=error.code)
        except Exception as error:
            log.exception("the bank failed in an unforeseen way")
            return BankReceipt(BankOutcome.PENDING, reason=type(error).__name__[:64])

    async def settle(self, customer: CustomerId, entry: LedgerEntry, answer: BankReceipt) -> TransferReceipt:
        """Write down the bank's answer. Where that fails the transfer stays unsettled, and the receipt says UNKNOWN."""
        state = _FINAL.get(answer.outcome, TransferState.UNKNOWN)
        unknown = TransferReceipt(entry.proposal.id, TransferState.UNKNOWN, reason=answer.reason)
        now = self._clock.now()
        wait = timedelta(seconds=self._policy.retry_after_s(entry.attempts + 1))
        values: dict[str, Any] = {
            "reference": answer.reference,
            "reason": answer.reason,
            "next_try_at": micros(now + wait) if state is TransferState.UNKNOWN else None,
            "updated_at": micros(now),
        }
        if state is TransferState.FAILED:
            values["owed_at"] = micros(now)  # also of what was said to be sent on a later day
        try:
            if await self._move(customer, entry, state, values):
                return TransferReceipt(entry.proposal.id, state, answer.reference, answer.reason)
            found = await self._store.look(lambda connection: transfers.find(customer, connection, entry.proposal.id))
        except StoreUnavailable:
            log.exception("the bank's answer could not be stored; the reconciler will ask again")
            return unknown
        return unknown if found is None else found.receipt

    async def _move(
        self, customer: CustomerId, entry: LedgerEntry, state: TransferState, values: Mapping[str, Any]
    ) -> bool:
        """Into the state the bank's answer means; whether the transfer still waited for one."""
        proposal, change = entry.proposal, (_PENDING, state)
        if state is not TransferState.FAILED or entry.spend_day is None:
            return await transfers.move_alone(customer, self._store, "ledger.settle", proposal.id, change, values)
        day = entry.spend_day

        def failing(connection: sa.Connection) -> bool:
            """What did not move takes no place in its day's limit."""
            moved = transfers.move(customer, connection, proposal.id, change, values)
            if moved:
                spending.release(customer, connection, proposal.order.amount, day)
            return moved

        return await self._store.transact("ledger.settle", failing)
