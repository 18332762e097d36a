"""A bank's core in no time: what is measured before it is all ours."""

from typing import Any

from schemas.banking import BankOutcome, BankReceipt, CustomerProfile, PayeeVerification, TransferOrder
from schemas.ids import CustomerId, PayeeId
from schemas.payee import Payee
from services.ports import CoreBank


class InstantBank:
    """A core that answers at once and books nothing: what is left is the ledger's own cost."""

    def __init__(self, bank: CoreBank) -> None:
        self._bank = bank
        self._profiles: dict[CustomerId, CustomerProfile] = {}
        self._payees: dict[CustomerId, Payee] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bank, name)

    async def profile(self, customer: CustomerId) -> CustomerProfile:
        """As it was when first asked."""
        if customer not in self._profiles:
            self._profiles[customer] = await self._bank.profile(customer)
        return self._profiles[customer]

    async def payee(self, customer: CustomerId, payee: PayeeId) -> Payee:
        """As it was when first asked."""
        if customer not in self._payees:
            self._payees[customer] = await self._bank.payee(customer, payee)
        return self._payees[customer]

    async def verify_payee(self, _customer: CustomerId, _payee: PayeeId) -> PayeeVerification:
        """A match."""
        return PayeeVerification.MATCH

    async def transfer(self, _customer: CustomerId, _order: TransferOrder, key: str) -> BankReceipt:
        """Done."""
        return BankReceipt(BankOutcome.DONE, key)
