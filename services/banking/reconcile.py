"""The reconciler keeps every promise that a crash, a timeout or a later day left open.

It asks the bank what became of a transfer, and sends again only what the bank never saw, under the same key. It also
submits what was confirmed for today, closes proposals nobody answered, and makes promises true (`promises.py`).

Any number of reconcilers may run: each attempt is leased by compare-and-set. Whatever is wrong with one transfer, or
its bank's silence, keeps no other customer's waiting.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

import sqlalchemy as sa

from rules.act import CLOCKS_APART
from schemas.banking import BankOutcome, BankReceipt, TransferState
from schemas.errors import StoreUnavailable
from schemas.ids import CustomerId, ProposalId
from schemas.transfer import TransferReceipt
from services.banking import transfers
from services.banking.entries import LedgerEntry
from services.banking.proposals import LedgerDeps, binding
from services.banking.submit import Submitter
from services.store import micros

log = logging.getLogger(__name__)

BATCH: Final = 100
"""Transfers looked at in one pass, at most."""
AT_ONCE: Final = 8
"""Customers whose transfers are looked at at a time: each customer's one after the other, as they were due."""


class Reconciler:
    """Settles what the ledger left unsettled, a pass at a time."""

    def __init__(self, deps: LedgerDeps, doubted: Callable[[], bool] = lambda: False) -> None:
        """While the clock is `doubted` no later day has come."""
        self._deps, self._doubted = deps, doubted
        self._store, self._clock, self._policy = deps.store, deps.clock, deps.policy
        self._submitter = Submitter(deps.store, deps.bank, deps.clock, deps.policy)

    async def run_once(self) -> int:
        """One pass over what is due; how many transfers were settled. Raises StoreUnavailable."""
        await self._deps.promises.settle()
        await transfers.expire(self._store, self._clock.now(), self._policy.longest_life)
        waiting, turns = defaultdict[CustomerId, list[ProposalId]](list), asyncio.Semaphore(AT_ONCE)
        wait, early = self._policy.longest_wait, self._doubted()
        for customer, proposal in await transfers.due(
            self._store, self._clock.now(), wait, BATCH, submitted_alone=early
        ):
            waiting[customer].append(proposal)
        settling = (self._settle(customer, proposals, turns) for customer, proposals in waiting.items())
        settled = 0
        for done in await asyncio.gather(*settling, return_exceptions=True):
            if isinstance(done, BaseException):
                raise done
            settled += done
        return settled

    async def _settle(self, customer: CustomerId, proposals: Sequence[ProposalId], turns: asyncio.Semaphore) -> int:
        """How many of a customer's transfers were settled. Raises StoreUnavailable."""
        settled = 0
        async with turns:
            for proposal in proposals:
                try:
                    receipt = await self._attempt(customer, proposal)
                except StoreUnavailable:
                    raise
                except Exception:
                    log.exception("a transfer can't be looked at; it waits for a person")
                    later = self._clock.now() + timedelta(seconds=self._policy.retry_most_s)
                    await transfers.put_off(customer, self._store, proposal, later)
                    continue
                settled += receipt is not None and receipt.state in {TransferState.SUCCEEDED, TransferState.FAILED}
        return settled

    async def _attempt(self, customer: CustomerId, proposal: ProposalId) -> TransferReceipt | None:
        entry = await self._lease(customer, proposal)
        if entry is None:
            return None
        if not self._deps.sealer.fits(binding(entry.proposal), entry.proposal.seal):
            log.error("a transfer's row no longer fits its seal; it waits for a person")
            return await self._submitter.settle(customer, entry, BankReceipt(BankOutcome.PENDING, reason="seal_broken"))
        if entry.state is TransferState.CONFIRMED:
            return await self._start(customer, entry)
        answer = await self._submitter.outcome(customer, entry)
        if answer.outcome is BankOutcome.NOT_FOUND:
            if self._may_resend(entry):
                return await self._submitter.submit(customer, entry)
            log.error("a transfer the bank never saw is too old to send again; it waits for a person")
            answer = replace(answer, reason="too_old_to_resend")
        return await self._submitter.settle(customer, entry, answer)

    async def _lease(self, customer: CustomerId, proposal: ProposalId) -> LedgerEntry | None:
        """Take a transfer for one attempt; None when another worker was faster."""
        now = self._clock.now()
        until = now + timedelta(seconds=self._policy.submit_timeout_s + self._policy.retry_first_s)

        def leasing(connection: sa.Connection) -> LedgerEntry | None:
            entry = transfers.find(customer, connection, proposal)
            if entry is None or entry.state not in transfers.UNSETTLED:
                return None
            if not transfers.lease(customer, connection, entry, until):
                return None
            return replace(entry, attempts=entry.attempts + 1)

        return await self._store.transact("reconcile.lease", leasing)

    async def _start(self, customer: CustomerId, entry: LedgerEntry) -> TransferReceipt | None:
        """The day of a confirmed transfer has come."""
        change = ((TransferState.CONFIRMED,), TransferState.SUBMITTING)
        now = self._clock.now()
        at = {"submitted_at": micros(now), "updated_at": micros(now)}
        if not await transfers.move_alone(customer, self._store, "reconcile.start", entry.proposal.id, change, at):
            return None
        return await self._submitter.submit(customer, replace(entry, state=TransferState.SUBMITTING, submitted_at=now))

    def _may_resend(self, entry: LedgerEntry) -> bool:
        """Only while the bank still remembers keys: later a repeat could move the money a second time."""
        if entry.submitted_at is None:
            return False
        since = self._clock.now() - entry.submitted_at  # of a later time where the clock was set back: nobody knows
        return -CLOCKS_APART <= since < timedelta(seconds=self._policy.resend_within_s)
