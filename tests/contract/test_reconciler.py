"""One customer's transfer never keeps another's waiting: whatever its row holds, however silent the bank is on it."""

import asyncio
from datetime import date

import pytest
import sqlalchemy as sa

from app.composition import keys_needed
from schemas.banking import BankReceipt, TransferOrder, TransferState
from schemas.ids import CustomerId
from services.banking.banks.sandbox import SandboxBank
from services.banking.tables import transfers
from tests.harness.money import ANN, BOB, CALL, House, build, order
from tests.harness.rows import rows, tamper


async def confirmed(house: House) -> None:
    """Ann's and then Bob's transfer for Friday, which has begun."""
    for customer in (ANN, BOB):
        wanted = order(source=f"{customer}-checking", on=date(2026, 3, 6))
        proposal = await house.proposed(wanted, customer=customer)
        await house.ledger.confirm(customer, CALL, proposal.id, proposal.seal)
    house.clock.advance(38 * 3600)


async def test_a_row_that_can_not_be_read(house: House, caplog: pytest.LogCaptureFixture) -> None:
    await confirmed(house)
    await tamper(house.store, sa.update(transfers).where(transfers.c.customer_id == ANN).values(currency="ZZZ"))
    assert await house.reconciler.run_once() == 1
    assert "waits for a person" in caplog.text
    caplog.clear()
    assert await house.reconciler.run_once() == 0
    assert not caplog.text, "it was put off"
    states = {row.customer_id: row.state for row in await rows(house.store, sa.select(transfers))}
    assert states == {ANN: TransferState.CONFIRMED, BOB: TransferState.SUCCEEDED}
    house.clock.advance(house.policy.retry_most_s)
    await house.reconciler.run_once()
    assert "waits for a person" in caplog.text


class SilentBank(SandboxBank):
    """Says nothing to Ann before it has answered Bob."""

    heard: asyncio.Event

    async def transfer(self, customer: CustomerId, order: TransferOrder, key: str) -> BankReceipt:
        if customer == ANN:
            await self.heard.wait()
        receipt = await super().transfer(customer, order, key)
        self.heard.set()
        return receipt


async def test_a_bank_that_is_silent_on_one(house: House) -> None:
    await confirmed(house)
    bank = SilentBank(house.store, house.clock)
    bank.heard = asyncio.Event()
    assert await build(house.store, house.clock, bank).reconciler.run_once() == 2


async def test_a_key_is_needed_by_all_that_wait_under_it(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are; one that can't be read fits none."""
    monkeypatch.setattr(keys_needed, "PAGE", 1)
    await confirmed(house)
    new, old = b"n" * 32, b"s" * 32
    assert await keys_needed.seals_needed(house.store, [new, old]) == (0, [0, 2])
    await tamper(house.store, sa.update(transfers).where(transfers.c.customer_id == ANN).values(currency="ZZZ"))
    assert await keys_needed.seals_needed(house.store, [new, old]) == (1, [0, 1])
