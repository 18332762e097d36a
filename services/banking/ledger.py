"""The one door for money: propose, read back, a bound yes, submit. What stays unsettled the reconciler settles."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Final

import sqlalchemy as sa

from schemas.banking import Limits, TransferOrder
from schemas.errors import LimitExceeded, NotFound, StoreUnavailable
from schemas.ids import CallId, CustomerId, ProposalId
from schemas.transfer import Owed, Proposal, TransferReceipt
from services.banking import checks, spending, transfers
from services.banking.confirmer import Confirmer
from services.banking.proposals import LedgerDeps, Proposals, new_entry
from services.store import micros

_OWED_FOR: Final = timedelta(days=30)
MOST_OWED: Final = 8
"""So many words are owed at once, of what has ended and of what is open each; what is newer waits for older ones."""


class SqlLedger:
    """Ledger over a Store. Every method may be called at once from any number of tasks and processes."""

    def __init__(self, deps: LedgerDeps) -> None:
        self._deps = deps
        self._store, self._clock, self._policy = deps.store, deps.clock, deps.policy
        self._proposals = Proposals(deps)
        self._confirmer = Confirmer(deps, self._proposals)

    async def propose(self, customer: CustomerId, call: CallId, order: TransferOrder) -> Proposal:
        """Void the call's open proposals, check, seal, store. Raises MoneyRefused, NotFound, BankUnavailable.

        The old proposals die first: even an order that is then refused takes back what was said before it.
        """
        await self.void(customer, call)
        self._proposals.admit()
        snapshot = await self._proposals.snapshot(customer, order)
        now = self._clock.now()
        limits, day = checks.allowed(order, snapshot, now, self._policy)
        await self._check_day(customer, order, limits, day)
        proposal = self._proposals.sealed(
            Proposal(
                id=ProposalId(self._clock.new_id()),
                customer=customer,
                call=call,
                order=order,
                nonce=self._clock.new_id(),
                seal="",
                expires_at=now + timedelta(seconds=self._policy.proposal_life_s),
                verification=snapshot.verification,
                step_up_required=checks.needs_step_up(order, snapshot, limits, self._policy),
            )
        )
        entry = new_entry(customer, proposal)

        def replacing(connection: sa.Connection) -> None:
            transfers.cancel_open(customer, connection, call, "replaced", now)
            transfers.insert(customer, connection, entry, now)

        await self._store.transact("ledger.propose", replacing)
        self._proposals.begin(proposal, self._policy.proposal_life_s)
        return proposal

    async def delivered(self, customer: CustomerId, call: CallId, proposal: ProposalId) -> None:
        """Note that the read-back was heard; again is harmless. Raises NotFound, ConfirmationExpired, -Used."""
        now = self._clock.now()
        if await transfers.deliver(customer, self._store, call, proposal, now):
            return
        entry = await self._proposals.find(customer, proposal)
        if entry.proposal.call != call:
            raise NotFound("no such proposal in this call")
        self._proposals.check_open(entry)

    async def void(self, customer: CustomerId, call: CallId) -> int:
        """Cancel the call's open proposals; how many there were. Where the database is away, as soon as it answers.

        Raises StoreUnavailable where that cannot even be noted: they live until they expire.
        """
        try:
            return await transfers.void(customer, self._store, call, self._clock.now())
        except StoreUnavailable:
            if await self._deps.promises.void(customer, call):
                return 0
            raise

    async def confirm(self, customer: CustomerId, call: CallId, proposal: ProposalId, seal: str) -> TransferReceipt:
        """Spend the confirmation and submit. Raises MoneyRefused, NotFound: nothing moves then, nor will anything."""
        return await self._confirmer.confirm(customer, call, proposal, seal)

    async def owed(self, customer: CustomerId) -> Sequence[Owed]:
        """What the customer has yet to be told the end of, oldest first; then what is still open."""
        return await transfers.owed(customer, self._store, self._clock.now() - _OWED_FOR, MOST_OWED)

    async def follow_up(self, customer: CustomerId, proposal: ProposalId) -> bool:
        """See to it that the customer is told what became of a yes of which nobody knows; whether that is certain."""
        return await self._deps.promises.follow_up(customer, proposal)

    async def told(self, customer: CustomerId, receipt: TransferReceipt) -> None:
        """Note that the customer heard how a transfer ended; a later end is owed anew."""
        await transfers.told(customer, self._store, receipt)

    async def open_proposal(self, customer: CustomerId) -> Proposal | None:
        """The customer's live proposal, of whichever call; None also when its row was tampered with."""
        if self._deps.promises.waiting:
            await self._deps.promises.settle()  # it may have been called off while the database was away
        now = self._clock.now()
        entry = await self._store.look(lambda connection: transfers.live(customer, connection, now))
        return entry.proposal if entry is not None and self._proposals.lives(entry) else None

    async def resume(self, customer: CustomerId, call: CallId) -> Proposal | None:
        """Move the live proposal to a new call, in one transaction; it must be read back and confirmed anew.

        Its idempotency key goes with it: were it booked before, in what this database has lost, the bank would know.
        None when there is none, or when another call took it first.
        """
        now = self._clock.now()

        def resuming(connection: sa.Connection) -> Proposal | None:
            entry = transfers.live(customer, connection, now)
            if entry is None or not self._proposals.lives(entry):
                return None
            old = entry.proposal
            if old.call == call:
                return old
            fresh = self._proposals.renewed(old, call)
            why = {"reason": "resumed", "bank_key": f"to-{fresh.id}", "updated_at": micros(now)}
            if not transfers.move(customer, connection, old.id, transfers.TO_CANCELLED, why):
                return None  # another call was faster
            transfers.cancel_open(customer, connection, call, "replaced", now)
            transfers.insert(customer, connection, replace(new_entry(customer, fresh), bank_key=entry.bank_key), now)
            return fresh

        taken = await self._store.transact("ledger.resume", resuming)
        if taken is not None:
            self._proposals.begin(taken, (taken.expires_at - now).total_seconds())
        return taken

    async def receipt(self, customer: CustomerId, proposal: ProposalId) -> TransferReceipt:
        """Where a transfer stands now. Raises NotFound."""
        return (await self._proposals.find(customer, proposal)).receipt

    async def close(self) -> None:
        """Wait for what is being submitted."""
        await self._confirmer.close()

    async def _check_day(self, customer: CustomerId, order: TransferOrder, limits: Limits, day: date) -> None:
        currency = order.amount.currency
        spent = await self._store.look(lambda connection: spending.spent(customer, connection, currency, day))
        if spent + order.amount.minor > limits.per_day:
            raise LimitExceeded("above the limit per day")
