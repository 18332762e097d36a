"""The one door for money: propose, read back, a bound yes, submit. What stays unsettled the reconciler settles."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Any, Final

import sqlalchemy as sa

from rules.act import MoneyPolicy, zone
from schemas.banking import Limits, PayeeVerification, TransferOrder, TransferState
from schemas.errors import (
    ConfirmationExpired,
    ConfirmationInvalid,
    ConfirmationUsed,
    LimitExceeded,
    MoneyRefused,
    NotDelivered,
    NotFound,
    StepUpRequired,
    StoreUnavailable,
)
from schemas.ids import CallId, CustomerId, ProposalId
from schemas.stepup import proposal_purpose
from schemas.transfer import Proposal, TransferReceipt
from services.act import checks, spending, transfers
from services.act.checks import Standing
from services.act.heard import Heard
from services.act.seal import Binding, Sealer, fingerprint
from services.act.submit import Submitter
from services.act.transfers import Entry, Spending
from services.ports import Clock, CoreBank, StepUp
from services.store import Store, micros

log = logging.getLogger(__name__)

_TO_CANCELLED: Final = ((TransferState.PROPOSED,), TransferState.CANCELLED)


@dataclass(frozen=True, slots=True)
class Parts:
    """What the ledger stands on."""

    store: Store
    bank: CoreBank
    step_up: StepUp
    sealer: Sealer
    clock: Clock
    policy: MoneyPolicy


class SqlLedger:
    """Ledger over a Store. Every method may be called at once from any number of tasks and processes."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._store, self._clock, self._policy = parts.store, parts.clock, parts.policy
        self._submitter = Submitter(parts.store, parts.bank, parts.clock, parts.policy)
        self._heard = Heard()
        self._running: set[asyncio.Task[TransferReceipt]] = set()

    async def propose(self, customer: CustomerId, call: CallId, order: TransferOrder) -> Proposal:
        """Void the call's open proposals, check, seal, store. Raises MoneyRefused, NotFound, BankUnavailable.

        The old proposals die first: even an order that is then refused takes back what was said before it.
        """
        await self.void(customer, call)
        standing = await self._standing(customer, order)
        now = self._clock.now()
        checks.check_order(order, standing)
        limits = checks.check_limits(order, standing.profile)
        day = checks.day_of(order, standing.profile, now, self._policy)
        await self._check_day(customer, order, limits, day)
        proposal = self._sealed(
            Proposal(
                id=ProposalId(self._clock.new_id()),
                customer=customer,
                call=call,
                order=order,
                nonce=self._clock.new_id(),
                seal="",
                expires_at=now + timedelta(seconds=self._policy.proposal_life_s),
                verification=standing.verification,
                step_up_required=checks.needs_step_up(order, standing, self._policy),
            )
        )

        entry = _new_entry(customer, proposal)

        def replacing(connection: sa.Connection) -> None:
            transfers.cancel_open(customer, connection, call, "replaced", now)
            transfers.insert(customer, connection, entry, now)

        await self._store.transact("ledger.propose", replacing)
        self._heard.proposed(customer, entry, now)
        return proposal

    async def delivered(self, customer: CustomerId, call: CallId, proposal: ProposalId) -> None:
        """Note that the read-back was heard; again is harmless. Raises NotFound, ConfirmationExpired, -Used."""
        now = self._clock.now()
        if await transfers.deliver(customer, self._store, call, proposal, now):
            self._heard.delivered(customer, proposal, now)
            return
        entry = await self._entry(customer, proposal)
        if entry.proposal.call != call:
            raise NotFound("no such proposal in this call")
        _check_open(entry, now)

    async def void(self, customer: CustomerId, call: CallId) -> int:
        """Cancel the call's open proposals; how many there were."""
        return await transfers.void(customer, self._store, call, self._clock.now())

    async def confirm(self, customer: CustomerId, call: CallId, proposal: ProposalId, seal: str) -> TransferReceipt:
        """Spend the confirmation and submit. Raises MoneyRefused, NotFound, DependencyFailed: nothing moves then.

        Where the database does not say whether the yes was spent, the receipt says UNKNOWN. Once it is spent, nothing
        the caller does stops it: the rest runs to its end even when this call is cancelled.
        """
        entry = self._heard.take(customer, proposal) or await self._entry(customer, proposal)
        self._check_confirmation(entry, call, seal)
        async with self._voiding(customer, proposal):
            standing = await self._standing(customer, entry.proposal.order)
            checks.check_order(entry.proposal.order, standing)
            limits = checks.check_limits(entry.proposal.order, standing.profile)
            day = checks.day_of(entry.proposal.order, standing.profile, self._clock.now(), self._policy)
            await self._check_step_up(customer, entry, standing)
            return await self._to_the_end(self._act(customer, entry, limits, day, standing.profile.zone))

    async def open_proposal(self, customer: CustomerId) -> Proposal | None:
        """The customer's live proposal, of whichever call; None also when its row was tampered with."""
        now = self._clock.now()
        entry = await self._store.look(lambda connection: transfers.live(customer, connection, now))
        return entry.proposal if entry is not None and self._intact(entry) else None

    async def resume(self, customer: CustomerId, call: CallId) -> Proposal | None:
        """Move the live proposal to a new call, in one transaction; it must be read back and confirmed anew.

        None when there is none, or when another call took it first.
        """
        now = self._clock.now()

        def resuming(connection: sa.Connection) -> Proposal | None:
            entry = transfers.live(customer, connection, now)
            if entry is None or not self._intact(entry):
                return None
            old = entry.proposal
            if old.call == call:
                return old
            why = {"reason": "resumed", "updated_at": micros(now)}
            if not transfers.move(customer, connection, old.id, _TO_CANCELLED, why):
                return None  # another call was faster
            fresh = self._renewed(old, call)
            transfers.cancel_open(customer, connection, call, "replaced", now)
            transfers.insert(customer, connection, _new_entry(customer, fresh), now)
            return fresh

        return await self._store.transact("ledger.resume", resuming)

    async def receipt(self, customer: CustomerId, proposal: ProposalId) -> TransferReceipt:
        """Where a transfer stands now. Raises NotFound."""
        return (await self._entry(customer, proposal)).receipt

    async def close(self) -> None:
        """Wait for what is being submitted."""
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _act(
        self, customer: CustomerId, entry: Entry, limits: Limits, day: date, zone_name: str
    ) -> TransferReceipt:
        """Count against the day, spend the confirmation, and submit unless the order is for a later day."""
        now = self._clock.now()
        later = day > now.astimezone(zone(zone_name)).date()
        into = TransferState.CONFIRMED if later else TransferState.SUBMITTING
        grace = timedelta(seconds=self._policy.submit_timeout_s + self._policy.retry_first_s)
        next_try = datetime.combine(day, time(), zone(zone_name)) if later else now + grace
        spent = replace(entry, state=into, spend_day=day)
        yes = Spending(spent, day, next_try, now, limits.per_day)
        try:
            if not await spending.confirm_at_once(customer, self._store, yes):
                await self._store.transact("ledger.confirm", lambda connection: self._spend(customer, connection, yes))
        except StoreUnavailable:
            if await self._taken_back(customer, entry.proposal.id):
                raise
            log.exception("whether a yes was spent is not known; the reconciler carries through what was")
            return TransferReceipt(entry.proposal.id, TransferState.UNKNOWN, reason=StoreUnavailable.code)
        return spent.receipt if later else await self._submitter.submit(customer, spent)

    async def _taken_back(self, customer: CustomerId, proposal: ProposalId) -> bool:
        """Close a proposal whose yes may have been spent by a write that failed; whether it certainly was not.

        A write may be durable though its answer never came. It and this one exclude each other, in whichever order.
        """
        why = {"reason": StoreUnavailable.code, "updated_at": micros(self._clock.now())}
        with contextlib.suppress(StoreUnavailable):
            return await transfers.move_alone(customer, self._store, "ledger.take_back", proposal, _TO_CANCELLED, why)
        return False

    def _spend(self, customer: CustomerId, connection: sa.Connection, yes: Spending) -> None:
        """Within a transaction: make the yes count, or say why it does not."""
        if not spending.confirm(customer, connection, yes):
            current = transfers.find(customer, connection, yes.entry.proposal.id)
            _check_open(current or yes.entry, yes.now)
            raise ConfirmationInvalid

    async def _standing(self, customer: CustomerId, order: TransferOrder) -> Standing:
        bank = self._parts.bank
        if order.payee_id is None:
            return Standing(await bank.profile(customer), None, PayeeVerification.MATCH)
        return Standing(
            *await asyncio.gather(
                bank.profile(customer),
                bank.payee(customer, order.payee_id),
                bank.verify_payee(customer, order.payee_id),
            )
        )

    async def _entry(self, customer: CustomerId, proposal: ProposalId) -> Entry:
        entry = await self._store.look(lambda connection: transfers.find(customer, connection, proposal))
        if entry is None:
            raise NotFound("no such proposal")
        return entry

    async def _check_day(self, customer: CustomerId, order: TransferOrder, limits: Limits, day: date) -> None:
        currency = order.amount.currency
        spent = await self._store.look(lambda connection: spending.spent(customer, connection, currency, day))
        if spent + order.amount.minor > limits.per_day:
            raise LimitExceeded("above the limit per day")

    def _check_confirmation(self, entry: Entry, call: CallId, seal: str) -> None:
        """Whether this yes, from this call, is to this proposal, heard and live."""
        if entry.proposal.call != call or not self._parts.sealer.fits(binding(entry.proposal), seal):
            raise ConfirmationInvalid
        _check_open(entry, self._clock.now())
        if entry.proposal.delivered_at is None:
            raise NotDelivered

    async def _check_step_up(self, customer: CustomerId, entry: Entry, standing: Standing) -> None:
        proposal = entry.proposal
        due = proposal.step_up_required or checks.needs_step_up(proposal.order, standing, self._policy)
        if due and not await self._parts.step_up.passed(customer, proposal_purpose(proposal.id)):
            raise StepUpRequired

    @contextlib.asynccontextmanager
    async def _voiding(self, customer: CustomerId, proposal: ProposalId) -> AsyncIterator[None]:
        """A refusal while acting closes the proposal; a missing second factor leaves it open for another try."""
        try:
            yield
        except StepUpRequired:
            raise
        except (MoneyRefused, NotFound) as refusal:
            why = {"reason": refusal.code, "updated_at": micros(self._clock.now())}
            await transfers.move_alone(customer, self._store, "ledger.refused", proposal, _TO_CANCELLED, why)
            raise

    async def _to_the_end(self, work: Coroutine[Any, Any, TransferReceipt]) -> TransferReceipt:
        task = asyncio.ensure_future(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return await asyncio.shield(task)

    def _renewed(self, old: Proposal, call: CallId) -> Proposal:
        """The same promise for another call: a nonce and seal of its own, and to be heard again."""
        new, nonce = ProposalId(self._clock.new_id()), self._clock.new_id()
        return self._sealed(replace(old, id=new, call=call, nonce=nonce, delivered_at=None))

    def _sealed(self, proposal: Proposal) -> Proposal:
        return replace(proposal, seal=self._parts.sealer.seal(binding(proposal)))

    def _intact(self, entry: Entry) -> bool:
        return self._parts.sealer.fits(binding(entry.proposal), entry.proposal.seal)


def binding(proposal: Proposal) -> Binding:
    """All that a proposal's confirmation is bound to."""
    p = proposal
    return Binding(p.id, p.customer, p.call, p.order, p.step_up_required, p.nonce, p.expires_at)


def _new_entry(customer: CustomerId, proposal: Proposal) -> Entry:
    """With the one idempotency key a proposal can ever be submitted under, and what that key stands for."""
    return transfers.new_entry(proposal, f"tl-{proposal.id}", fingerprint(customer, proposal.order))


def _check_open(entry: Entry, now: datetime) -> None:
    if entry.state is TransferState.EXPIRED or (
        entry.state is TransferState.PROPOSED and entry.proposal.expires_at <= now
    ):
        raise ConfirmationExpired
    if entry.state is not TransferState.PROPOSED:
        raise ConfirmationUsed
