"""A yes on its way: checked, spent and counted in one transaction, submitted; or closed, so that it is certain."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from rules.act import zone
from schemas.banking import Limits, TransferState
from schemas.errors import (
    ConfirmationInvalid,
    DependencyFailed,
    MoneyRefused,
    NotCarriedOut,
    NotDelivered,
    NotFound,
    StepUpRequired,
    StoreRefused,
    StoreUnavailable,
)
from schemas.ids import CallId, CustomerId, ProposalId
from schemas.stepup import proposal_purpose
from schemas.transfer import UNPROMISED, TransferReceipt
from services.banking import checks, spending, transfers
from services.banking.checks import BankSnapshot
from services.banking.entries import LedgerEntry, Spending
from services.banking.proposals import LedgerDeps, Proposals, binding
from services.banking.submit import Submitter
from services.store import micros
from services.timing import ANSWER_S, left, unbounded, within

log = logging.getLogger(__name__)

_CHECKS_S: Final = 1.3
"""For all that is asked before a yes is spent."""
_CLOSE_S: Final = 0.7
"""For closing a proposal whose yes came to nothing."""
_SPEND_S: Final = 0.5
"""The least for a yes to be spent, also where it had to wait: a database that is well needs a part of it."""
_LAST_S: Final = 0.3
"""For a promise to be noted, and for the words."""


@dataclass(frozen=True, slots=True)
class _Allowed:
    """What a yes may do now: the limits it keeps, the day of the transfer, and where such a day begins."""

    limits: Limits
    day: date
    zone: ZoneInfo


class Confirmer:
    """Spends confirmations.

    A yes has an answer within a time that is shared out among its steps: checked, spent, submitted. What the database
    refused, or was never asked to commit, is NotCarriedOut for certain. Where it fell silent halfway, and where the
    bank did, the receipt says UNKNOWN: a promise that the reconciler keeps, and whose end the customer will be told.
    """

    def __init__(self, deps: LedgerDeps, proposals: Proposals) -> None:
        self._deps = deps
        self._store, self._clock, self._policy = deps.store, deps.clock, deps.policy
        self._proposals = proposals
        self._submitter = Submitter(deps.store, deps.bank, deps.clock, deps.policy)
        self._running: set[asyncio.Task[Any]] = set()

    async def confirm(self, customer: CustomerId, call: CallId, proposal: ProposalId, seal: str) -> TransferReceipt:
        """Spend the confirmation and submit. Raises MoneyRefused, NotFound: nothing moves then, nor will anything.

        Once the yes is spent, nothing the caller does stops it: the rest runs to its end even when this call is
        cancelled.
        """
        with within(ANSWER_S):
            async with self._certain(customer, proposal):
                with within(_CHECKS_S):
                    entry = await self._proposals.find(customer, proposal)
            self._check_confirmation(entry, call, seal)
            async with self._voiding(customer, proposal):
                allowed = await self._checked(customer, entry)
            return await self._to_the_end(self._act(customer, entry, allowed))

    async def _checked(self, customer: CustomerId, entry: LedgerEntry) -> _Allowed:
        """That this yes may count now. Raises MoneyRefused, NotFound."""
        self._proposals.admit()
        with within(_CHECKS_S):
            async with asyncio.timeout(left(_CHECKS_S)):
                snapshot = await self._proposals.snapshot(customer, entry.proposal.order)
                limits, day = checks.allowed(entry.proposal.order, snapshot, self._clock.now(), self._policy)
                await self._check_step_up(customer, entry, snapshot, limits)
        return _Allowed(limits, day, zone(snapshot.profile.zone))

    def _check_confirmation(self, entry: LedgerEntry, call: CallId, seal: str) -> None:
        """Whether this yes, from this call, is to this proposal, heard and live."""
        if entry.proposal.call != call or not self._deps.sealer.fits(binding(entry.proposal), seal):
            raise ConfirmationInvalid
        if not self._proposals.intact(entry):
            raise ConfirmationInvalid
        self._proposals.check_open(entry)
        if entry.proposal.delivered_at is None:
            raise NotDelivered

    async def _check_step_up(
        self, customer: CustomerId, entry: LedgerEntry, snapshot: BankSnapshot, limits: Limits
    ) -> None:
        proposal = entry.proposal
        due = proposal.step_up_required or checks.needs_step_up(proposal.order, snapshot, limits, self._policy)
        if due and not await self._deps.step_up.passed(customer, proposal_purpose(proposal.id)):
            raise StepUpRequired

    async def _act(self, customer: CustomerId, entry: LedgerEntry, allowed: _Allowed) -> TransferReceipt:
        """Count against the day, spend the confirmation, and submit unless the order is for a later day."""
        now, proposal = self._clock.now(), entry.proposal.id
        day, later = allowed.day, allowed.day > now.astimezone(allowed.zone).date()
        into = TransferState.CONFIRMED if later else TransferState.SUBMITTING
        grace = timedelta(seconds=self._policy.submit_timeout_s + self._policy.retry_first_s)
        next_try = datetime.combine(day, time(), allowed.zone) if later else now + grace
        spent = replace(entry, state=into, spend_day=day)
        async with self._voiding(customer, proposal):
            if not await self._spent(customer, Spending(spent, day, next_try, now, allowed.limits.per_day)):
                kept = await self._deps.promises.follow_up(customer, proposal)
                reason = StoreUnavailable.code if kept else UNPROMISED
                return TransferReceipt(proposal, TransferState.UNKNOWN, reason=reason)
        return spent.receipt if later else await self._submitted(customer, spent)

    async def _spent(self, customer: CustomerId, yes: Spending) -> bool:
        """Spend a confirmation; False where nobody knows whether it was. Raises MoneyRefused, StoreRefused."""
        try:
            with within(max(_SPEND_S, left(ANSWER_S) - _CLOSE_S - _LAST_S)):
                await self._store.transact("ledger.confirm", lambda c: self._spend(customer, c, yes))
        except StoreRefused:
            raise
        except StoreUnavailable as silence:
            if await self._closed(customer, yes.entry.proposal.id):
                raise NotCarriedOut("the database fell silent before the yes was spent") from silence
            log.exception("whether a yes was spent is not known; the reconciler carries through what was")
            return False
        return True

    def _spend(self, customer: CustomerId, connection: sa.Connection, yes: Spending) -> None:
        """Within a transaction: make the yes count, or say why it does not."""
        if not spending.confirm(customer, connection, yes):
            current = transfers.find(customer, connection, yes.entry.proposal.id)
            if current is not None and self._proposals.intact(current):
                self._proposals.check_open(current)
            raise ConfirmationInvalid

    async def _submitted(self, customer: CustomerId, spent: LedgerEntry) -> TransferReceipt:
        """Hand it over. What the bank does not answer in time is open: the row says so, whatever becomes of us."""
        with unbounded():
            submitting = self._kept(self._submitter.submit(customer, spent))
        await asyncio.wait({submitting}, timeout=max(0.0, left(ANSWER_S) - _LAST_S))
        if submitting.done():
            return submitting.result()
        return TransferReceipt(spent.proposal.id, TransferState.UNKNOWN, reason="no_answer")

    @contextlib.asynccontextmanager
    async def _voiding(self, customer: CustomerId, proposal: ProposalId) -> AsyncIterator[None]:
        """A refusal while acting closes the proposal; a missing second factor leaves it open for another try."""
        async with self._certain(customer, proposal):
            try:
                yield
            except (StepUpRequired, NotCarriedOut):
                raise
            except (MoneyRefused, NotFound) as refusal:
                await self._close(customer, proposal, refusal.code)
                raise

    @contextlib.asynccontextmanager
    async def _certain(self, customer: CustomerId, proposal: ProposalId) -> AsyncIterator[None]:
        """A failure of ours before the yes was spent closes the proposal too: it is certain that nothing moved."""
        try:
            yield
        except (DependencyFailed, TimeoutError) as failed:
            await self._close(customer, proposal, NotCarriedOut.code)
            raise NotCarriedOut(f"before a yes was spent: {type(failed).__name__}") from failed

    async def _close(self, customer: CustomerId, proposal: ProposalId, reason: str) -> None:
        """Now, or else once the database answers."""
        if await self._closed(customer, proposal, reason) is None:
            await self._deps.promises.withdraw(customer, proposal)

    async def _closed(
        self, customer: CustomerId, proposal: ProposalId, reason: str = NotCarriedOut.code
    ) -> bool | None:
        """Close a proposal; False where it is no longer open, None where nobody knows.

        A write that failed may be durable though its answer never came. It and this one exclude each other, in
        whichever order.
        """
        why = {"reason": reason, "updated_at": micros(self._clock.now())}
        with contextlib.suppress(StoreUnavailable), unbounded(), within(_CLOSE_S):
            return await transfers.move_alone(
                customer, self._store, "ledger.take_back", proposal, transfers.TO_CANCELLED, why
            )
        return None

    async def _to_the_end(self, work: Coroutine[Any, Any, TransferReceipt]) -> TransferReceipt:
        return await asyncio.shield(self._kept(work))

    def _kept(self, work: Coroutine[Any, Any, TransferReceipt]) -> asyncio.Task[TransferReceipt]:
        task = asyncio.ensure_future(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    async def close(self) -> None:
        """Wait for what is being submitted."""
        await asyncio.gather(*self._running, return_exceptions=True)
