"""Carries out what the dialogue decided, and reports back in the dialogue's own words. Never raises on a refusal."""

import contextlib
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.banking import CustomerProfile, TransferOrder
from schemas.decision import (
    Action,
    LockCard,
    ReadBalance,
    ReadPayees,
    ReadTransactions,
    SubmitTransfer,
    UnlockCard,
    VerifyStepUp,
)
from schemas.errors import DependencyFailed, NotFound, StepUpRequired, TellerlineError
from schemas.ids import CallId, CustomerId, ProposalId
from schemas.stepup import Challenge, card_purpose, proposal_purpose
from schemas.transfer import Owed, Proposal, TransferReceipt
from services.dialogue import (
    ActionDone,
    ActionFailed,
    Event,
    Proposed,
    StepUpFailed,
    StepUpPassed,
    StepUpStarted,
    TransferSettled,
)
from services.ports import CardDesk, Clock, CoreBank, Ledger, StepUp


@dataclass(frozen=True, slots=True)
class Banking:
    """What actions are carried out with."""

    bank: CoreBank
    cards: CardDesk
    ledger: Ledger
    step_up: StepUp
    clock: Clock


class ActionExecutor:
    """Acts for one call. It remembers the proposal that was read back and the challenge that is open."""

    def __init__(self, banking: Banking, customer: CustomerId, call: CallId) -> None:
        self._banking = banking
        self._customer = customer
        self._call = call
        self._challenge: Challenge | None = None
        self._tries = 0
        self._proposal: Proposal | None = None
        self.proposed = False
        """Whether something of this call may be open in the ledger."""

    def take_up(self, proposal: Proposal) -> None:
        """What a dropped call left unanswered is now this call's."""
        self._proposal, self.proposed = proposal, True

    async def propose(self, order: TransferOrder) -> Event:
        """Have the ledger seal an order."""
        return await self._reported(self._propose, order)

    async def perform(self, action: Action) -> Event:
        """Carry out an action."""
        return await self._reported(self._act, action)

    async def delivered(self) -> bool:
        """The read-back was heard in full; whether the ledger took note."""
        if self._proposal is None:
            return False
        try:
            await self._banking.ledger.delivered(self._customer, self._call, self._proposal.id)
        except TellerlineError:
            return False
        return True

    async def profile(self) -> CustomerProfile:
        """Balances and locks as they are now. Raises BankUnavailable."""
        return await self._banking.bank.profile(self._customer)

    async def owed(self) -> Sequence[Owed]:
        """What the customer has yet to be told the end of. Raises StoreUnavailable."""
        return await self._banking.ledger.owed(self._customer)

    async def told(self, receipt: TransferReceipt) -> None:
        """The customer heard where a transfer stands; where that can't be noted, it is said once more."""
        with contextlib.suppress(TellerlineError):
            await self._banking.ledger.told(self._customer, receipt)

    async def follow_up(self, proposal: ProposalId) -> bool:
        """See to it that the customer is told what became of a yes; whether that is certain."""
        return await self._banking.ledger.follow_up(self._customer, proposal)

    async def void(self) -> None:
        """What was read back holds no more."""
        self._proposal = None
        await self._banking.ledger.void(self._customer, self._call)
        self.proposed = False

    async def _reported(
        self, work: Callable[[Any], Coroutine[Any, Any, Event]], given: Action | TransferOrder
    ) -> Event:
        try:
            try:
                return await work(given)
            except StepUpRequired:
                return await self._challenge_for(given)
        except TellerlineError as error:
            if isinstance(given, TransferOrder) and isinstance(error, DependencyFailed):
                with contextlib.suppress(TellerlineError):
                    await self.void()  # it may be sealed all the same
            return ActionFailed(error.code, error.spoken, None if isinstance(given, TransferOrder) else given)

    async def _propose(self, order: TransferOrder) -> Event:
        self.proposed = True
        self._proposal = await self._banking.ledger.propose(self._customer, self._call, order)
        return Proposed(self._proposal)

    async def _act(self, action: Action) -> Event:  # noqa: PLR0911 - one case an action
        banking, customer = self._banking, self._customer
        match action:
            case ReadBalance():
                return ActionDone(action, accounts=tuple(await banking.bank.accounts(customer)))
            case ReadTransactions():
                return ActionDone(action, transactions=tuple(await banking.bank.transactions(customer, action.filter)))
            case LockCard():
                return ActionDone(action, card=await banking.cards.lock(customer, action.card))
            case UnlockCard():
                return ActionDone(action, card=await banking.cards.unlock(customer, action.card))
            case ReadPayees():
                return ActionDone(action)
            case SubmitTransfer():
                return await self._submit(action)
            case VerifyStepUp():
                return await self._verify(action.response)

    async def _submit(self, action: SubmitTransfer) -> Event:
        proposal = self._proposal
        if proposal is None or proposal.id != action.proposal:
            raise NotFound("no such proposal in this call")
        receipt = await self._banking.ledger.confirm(self._customer, self._call, proposal.id, proposal.seal)
        self.proposed = False
        return TransferSettled(receipt)

    async def _challenge_for(self, given: Action | TransferOrder) -> Event:
        """A second factor is due: begin it for exactly what was asked."""
        match given:
            case UnlockCard(card):
                purpose = card_purpose(card)
            case SubmitTransfer(proposal):
                purpose = proposal_purpose(proposal)
            case _:
                raise StepUpRequired
        try:
            self._challenge = await self._banking.step_up.begin(self._customer, purpose)
        except TellerlineError:
            with contextlib.suppress(TellerlineError):
                await self.void()  # no later call may take it up
            raise
        self._tries = 0
        return StepUpStarted(self._challenge)

    async def _verify(self, response: str) -> Event:
        challenge = self._challenge
        if challenge is None:
            return StepUpFailed(final=True)
        if await self._banking.step_up.verify(self._customer, challenge, response):
            self._challenge = None
            return StepUpPassed()
        self._tries += 1
        return StepUpFailed(
            final=self._tries >= challenge.attempts or challenge.expires_at <= self._banking.clock.now()
        )
