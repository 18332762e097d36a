"""A bank behind a bad line: the real sandbox, whose requests or answers get lost on demand, and which keeps a log."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from schemas.banking import BankOutcome, BankReceipt, TransferOrder
from schemas.errors import BankGarbage, BankUnavailable
from schemas.ids import CustomerId
from services.ports import CoreBank

FAULTS = ("ok", "lost_request", "lost_answer", "garbage", "hang", "pending", "broken")


@dataclass
class UnreliableBank:
    """CoreBank. `line` says what happens to the coming transfers and queries, in order; past its end all is well.

    `probe` is told the name of each call before and after it happened.
    """

    bank: CoreBank
    line: deque[str] = field(default_factory=deque)
    sent: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    probe: Callable[[str], None] = lambda _point: None

    def __getattr__(self, name: str) -> Any:
        real = getattr(self.bank, name)

        async def probed(*args: Any, **named: Any) -> Any:
            self.probe(f"bank.{name}:before")
            answer = await real(*args, **named)
            self.probe(f"bank.{name}:after")
            return answer

        return probed

    async def transfer(self, customer: CustomerId, order: TransferOrder, key: str) -> BankReceipt:
        self.sent.append(key)
        return await self._through("transfer", lambda: self.bank.transfer(customer, order, key))

    async def transfer_outcome(self, customer: CustomerId, key: str) -> BankReceipt:
        self.asked.append(key)
        return await self._through("transfer_outcome", lambda: self.bank.transfer_outcome(customer, key))

    async def _through(self, name: str, act: Callable[[], Any]) -> BankReceipt:
        fault = self.line.popleft() if self.line else "ok"
        if fault == "lost_request":
            raise BankUnavailable("the request was lost")
        if fault == "broken":
            raise ArithmeticError("a fault of the adapter's own")
        if fault == "pending":
            return BankReceipt(BankOutcome.PENDING)
        self.probe(f"bank.{name}:before")
        answer: BankReceipt = await act()
        self.probe(f"bank.{name}:after")
        if fault == "lost_answer":
            raise BankUnavailable("the answer was lost")
        if fault == "garbage":
            raise BankGarbage("unreadable")
        if fault == "hang":
            await asyncio.sleep(3600)
        return answer
