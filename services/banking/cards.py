"""Card locks: anyone on the call may lock the caller's card at once; unlocking takes a second factor."""

from schemas.banking import Card
from schemas.errors import StepUpRequired
from schemas.ids import CardId, CustomerId
from schemas.stepup import card_purpose
from services.ports import CoreBank, StepUp


class BankCards:
    """CardDesk over the core bank."""

    def __init__(self, bank: CoreBank, step_up: StepUp) -> None:
        self._bank = bank
        self._step_up = step_up

    async def lock(self, customer: CustomerId, card: CardId) -> Card:
        """Lock a card; idempotent. Raises NotFound, BankUnavailable."""
        return await self._bank.set_card_lock(customer, card, locked=True)

    async def unlock(self, customer: CustomerId, card: CardId) -> Card:
        """Unlock a card, spending the step-up. Raises StepUpRequired, NotFound, BankUnavailable."""
        if not await self._step_up.passed(customer, card_purpose(card)):
            raise StepUpRequired("unlocking a card takes a second factor")
        return await self._bank.set_card_lock(customer, card, locked=False)
