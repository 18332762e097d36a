"""Carries out what the dialogue decided, and reports back in the dialogue's own words. Never raises on a refusal."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from schemas.banking import TransferOrder
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
from schemas.errors import NotFound, StepUpRequired, TellerlineError
from schemas.ids import CallId, CustomerId
from schemas.stepup import Challenge, card_purpose, proposal_purpose
from schemas.transfer import Proposal
from services.decide import (
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
class Hands:
    """What actions are carried out with."""

    bank: CoreBank
    cards: CardDesk
    ledger: Ledger
    step_up: StepUp
    clock: Clock


class Performer:
    """The hands of one call. It remembers the proposal that was read back and the challenge that is open."""

    def __init__(self, hands: Hands, customer: CustomerId, call: CallId) -> None:
        self._hands = hands
        self._customer = customer
        self._call = call
        self._challenge: Challenge | None = None
        self._tries = 0
        self.proposal: Proposal | None = None

    async def propose(self, order: TransferOrder) -> Event:
        """Have the ledger seal an order."""
        return await self._reported(self._propose, order)

    async def perform(self, action: Action) -> Event:
        """Carry out an action."""
        return await self._reported(self._act, action)

    async def delivered(self) -> bool:
        """The read-back was heard in full; whether the ledger took note."""
        if self.proposal is None:
            return False
        try:
            await self._hands.ledger.delivered(self._customer, self._call, self.proposal.id)
        except TellerlineError:
            return False
        return True

    async def void(self) -> None:
        """What was read back holds no more."""
        self.proposal = None
        await self._hands.ledger.void(self._customer, self._call)

    async def _reported(self, work: Callable[[Any], Coroutine[Any, Any, Event]], given: object) -> Event:
        try:
            try:
                return await work(given)
            except StepUpRequired:
                return await self._challenge_for(given)
        except TellerlineError as error:
            return ActionFailed(error.code, error.spoken)

    async def _propose(self, order: TransferOrder) -> Event:
        self.proposal = await self._hands.ledger.propose(self._customer, self._call, order)
        return Proposed(self.proposal)

    async def _act(self, action: Action) -> Event:  # noqa: PLR0911 - one case an action
        hands, customer = self._hands, self._customer
        match action:
            case ReadBalance():
                return ActionDone(action, accounts=tuple(await hands.bank.accounts(customer)))
            case ReadTransactions():
                return ActionDone(action, transactions=tuple(await hands.bank.transactions(customer, action.filter)))
            case LockCard():
                return ActionDone(action, card=await hands.cards.lock(customer, action.card))
            case UnlockCard():
                return ActionDone(action, card=await hands.cards.unlock(customer, action.card))
            case ReadPayees():
                return ActionDone(action)
            case SubmitTransfer():
                return await self._submit(action)
            case VerifyStepUp():
                return await self._verify(action.response)

    async def _submit(self, action: SubmitTransfer) -> Event:
        proposal = self.proposal
        if proposal is None or proposal.id != action.proposal:
            raise NotFound("no such proposal in this call")
        return TransferSettled(await self._hands.ledger.confirm(self._customer, self._call, proposal.id, proposal.seal))

    async def _challenge_for(self, given: object) -> Event:
        """A second factor is due: begin it for exactly what was asked."""
        match given:
            case UnlockCard(card):
                purpose = card_purpose(card)
            case SubmitTransfer(proposal):
                purpose = proposal_purpose(proposal)
            case _:
                raise StepUpRequired
        self._challenge = await self._hands.step_up.begin(self._customer, purpose)
        self._tries = 0
        return StepUpStarted(self._challenge)

    async def _verify(self, response: str) -> Event:
        challenge = self._challenge
        if challenge is None:
            return StepUpFailed(final=True)
        if await self._hands.step_up.verify(self._customer, challenge, response):
            self._challenge = None
            return StepUpPassed()
        self._tries += 1
        return StepUpFailed(final=self._tries >= challenge.attempts or challenge.expires_at <= self._hands.clock.now())
