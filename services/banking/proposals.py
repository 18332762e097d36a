"""What makes an order a proposal, and a proposal one that a yes may still be spent on: seal, state and time."""

import asyncio
from dataclasses import dataclass, replace
from typing import Final

from rules.act import MoneyPolicy
from schemas.banking import PayeeVerification, TransferOrder, TransferState
from schemas.errors import ConfirmationExpired, ConfirmationUsed, MoneyWaits, NotFound
from schemas.ids import CallId, CustomerId, ProposalId
from schemas.transfer import Proposal
from services.banking import transfers
from services.banking.checks import BankSnapshot
from services.banking.entries import OPEN, LedgerEntry
from services.banking.lifetimes import Lifetimes
from services.banking.promises import Promises
from services.banking.seal import Binding, Sealer, fingerprint
from services.ports import Clock, CoreBank, Records, StepUp
from services.store import Store

_RECORDS_AGAIN_S: Final = 60.0
"""After this it is worth asking for a transfer again."""


@dataclass(frozen=True, slots=True)
class LedgerDeps:
    """What the ledger stands on."""

    store: Store
    bank: CoreBank
    step_up: StepUp
    sealer: Sealer
    clock: Clock
    policy: MoneyPolicy
    promises: Promises
    records: Records


class Proposals:
    """Proposals over a Store, as one process sees them."""

    def __init__(self, deps: LedgerDeps) -> None:
        self._deps = deps
        self._store, self._clock, self._policy = deps.store, deps.clock, deps.policy
        self._lifetimes = Lifetimes()

    def begin(self, proposal: Proposal, life_s: float) -> None:
        """Note that it was stored, and lives so long from now, in seconds."""
        self._lifetimes.note(proposal.customer, proposal.id, self._clock.monotonic() + life_s)

    def admit(self) -> None:
        """Money moves only while what was done before is on record. Raises MoneyWaits."""
        if self._deps.records.waiting:
            raise MoneyWaits("what was done waits to be put on record", retry_after_s=_RECORDS_AGAIN_S)

    async def snapshot(self, customer: CustomerId, order: TransferOrder) -> BankSnapshot:
        """What the bank says now of all that an order touches. Raises NotFound, BankUnavailable."""
        bank = self._deps.bank
        if order.payee_id is None:
            return BankSnapshot(await bank.profile(customer), None, PayeeVerification.MATCH)
        return BankSnapshot(
            *await asyncio.gather(
                bank.profile(customer),
                bank.payee(customer, order.payee_id),
                bank.verify_payee(customer, order.payee_id),
            )
        )

    async def find(self, customer: CustomerId, proposal: ProposalId) -> LedgerEntry:
        """One of the customer's. Raises NotFound."""
        entry = await self._store.look(lambda connection: transfers.find(customer, connection, proposal))
        if entry is None:
            raise NotFound("no such proposal")
        return entry

    def sealed(self, proposal: Proposal) -> Proposal:
        """With its seal."""
        return replace(proposal, seal=self._deps.sealer.seal(binding(proposal)))

    def renewed(self, old: Proposal, call: CallId) -> Proposal:
        """The same promise for another call: a nonce and seal of its own, and to be heard again."""
        new, nonce = ProposalId(self._clock.new_id()), self._clock.new_id()
        return self.sealed(replace(old, id=new, call=call, nonce=nonce, delivered_at=None))

    def check_open(self, entry: LedgerEntry) -> None:
        """That a yes is still awaited. Raises ConfirmationExpired, ConfirmationUsed."""
        if entry.state is TransferState.EXPIRED or (entry.state is TransferState.PROPOSED and not self._timely(entry)):
            raise ConfirmationExpired
        if entry.state is not TransferState.PROPOSED:
            raise ConfirmationUsed

    def lives(self, entry: LedgerEntry) -> bool:
        """Whether it is in time, and to the letter what was sealed."""
        return self._timely(entry) and self.intact(entry)

    def _timely(self, entry: LedgerEntry) -> bool:
        """Whether a proposal's time has begun and is not over, also by a clock that nobody can set back."""
        now, proposal = self._clock.now(), entry.proposal
        in_time = now < proposal.expires_at <= now + self._policy.longest_life
        return in_time and not self._lifetimes.over(proposal.customer, proposal.id, self._clock.monotonic())

    def intact(self, entry: LedgerEntry) -> bool:
        """Whether its row is to the letter what was sealed."""
        return self._deps.sealer.fits(binding(entry.proposal), entry.proposal.seal)


def binding(proposal: Proposal) -> Binding:
    """All that a proposal's confirmation is bound to."""
    p = proposal
    return Binding(p.id, p.customer, p.call, p.order, p.step_up_required, p.nonce, p.expires_at)


def new_entry(customer: CustomerId, proposal: Proposal) -> LedgerEntry:
    """With the one idempotency key a proposal can ever be submitted under, and what that key stands for."""
    key, stands_for = f"tl-{proposal.id}", fingerprint(customer, proposal.order)
    return LedgerEntry(proposal, OPEN, key, stands_for)
