"""Attempts by way of the bank: answers lost, late, repeated or changed, and callers who do not wait for one."""

import asyncio
from collections import deque
from datetime import date

import sqlalchemy as sa

from schemas.banking import BankOutcome, BankReceipt, TransferState
from schemas.ids import CustomerId
from schemas.transfer import TransferReceipt
from services.banking import transfers as rows
from services.banking.banks import tables as t
from services.banking.banks.sandbox import SandboxBank
from services.banking.submit import Submitter
from services.banking.tables import transfers
from services.store import Store
from tests.fakes.bank import UnreliableBank
from tests.harness.attack_tools import a_house, an_unreliable_house, refused, say_yes, unmoved
from tests.harness.invariants import always, at_rest
from tests.harness.money import (
    ANN,
    BALANCE,
    BOB,
    CALL,
    CHECKING,
    OTHER_CALL,
    RunClock,
    build,
    held,
    open_bank,
    order,
    settle,
)
from tests.harness.rows import tamper


async def an_answer_that_is_lost(store: Store) -> None:
    """The bank moved the money and could not say so."""
    await open_bank(store)
    clock = RunClock()
    for fault in ("lost_answer", "garbage", "hang"):
        bank = UnreliableBank(SandboxBank(store, clock), deque([fault, "ok"]))
        house = build(store, clock, bank, submit_timeout_s=1 if fault == "hang" else 60)
        proposal = await house.proposed(order())
        receipt = await say_yes(house, proposal)
        assert receipt.state is TransferState.UNKNOWN, f"{fault}: said {receipt.state}"
        await always(store)
        await settle(house)
        assert bank.sent == [f"tl-{proposal.id}"], f"{fault}: sent again without asking"
        assert (await house.ledger.receipt(ANN, proposal.id)).state is TransferState.SUCCEEDED
        await at_rest(store)


async def a_request_that_is_lost(store: Store) -> None:
    house, bank = await an_unreliable_house(store, "lost_request", "ok", "lost_answer", "lost_answer", "pending")
    proposal = await house.proposed(order())
    assert (await say_yes(house, proposal)).state is TransferState.UNKNOWN
    await settle(house)
    assert (await house.ledger.receipt(ANN, proposal.id)).state is TransferState.SUCCEEDED
    assert set(bank.sent) == {f"tl-{proposal.id}"}, "another key was used"
    assert (await held(store))[CHECKING] == BALANCE - 5_000, "moved twice, or never"
    await at_rest(store)


async def a_bank_that_is_still_at_it(store: Store) -> None:
    house, bank = await an_unreliable_house(store, "pending", "pending", "pending")
    await say_yes(house, await house.proposed(order()))
    for _ in range(2):
        house.clock.advance(3600)
        await house.reconciler.run_once()
    assert len(bank.sent) == 1, "sent again while the bank was still working"
    await always(store)


async def a_bank_that_breaks(store: Store) -> None:
    """A fault that nobody foresaw is no answer either, and holds up no other transfer."""
    house, _ = await an_unreliable_house(store, "broken", "broken", "broken")
    for call in (CALL, OTHER_CALL):
        receipt = await say_yes(house, await house.proposed(order(), call))
        assert receipt.state is TransferState.UNKNOWN, f"said {receipt.state}"
    house.clock.advance(3600)
    assert await house.reconciler.run_once() == 1, "one transfer's fault held up the other"
    await settle(house)
    await at_rest(store)


async def a_bank_that_forgot(store: Store) -> None:
    """Long after, a key the bank does not know may be one it no longer remembers."""
    house, bank = await an_unreliable_house(store, "lost_request")
    await say_yes(house, await house.proposed(order()))
    house.clock.advance(house.policy.resend_within_s)
    await house.reconciler.run_once()
    assert len(bank.sent) == 1, "sent again after the bank may have forgotten the key"
    await always(store)


async def answers_out_of_order(store: Store) -> None:
    house, _ = await an_unreliable_house(store)
    proposal = await house.proposed(order())
    await say_yes(house, proposal)
    entry = await store.look(lambda connection: rows.find(ANN, connection, proposal.id))
    assert entry is not None
    late = Submitter(store, house.bank, house.clock, house.policy)
    for outcome in (BankOutcome.PENDING, BankOutcome.DECLINED, BankOutcome.NOT_FOUND):
        await late.settle(ANN, entry, BankReceipt(outcome))
        assert (await house.ledger.receipt(ANN, proposal.id)).state is TransferState.SUCCEEDED, "a state went back"
    await always(store)


async def a_bank_that_says_no(store: Store) -> None:
    house = await a_house(store)
    proposal = await house.proposed(order(on=date(2026, 3, 5)))
    await say_yes(house, proposal)
    await tamper(store, sa.update(t.payees).values(version=2))
    house.clock.advance(24 * 3600)
    await house.reconciler.run_once()
    receipt = await house.ledger.receipt(ANN, proposal.id)
    assert (receipt.state, receipt.reason) == (TransferState.FAILED, "payee_changed")
    await unmoved(store)


async def the_same_key_again(store: Store) -> None:
    await open_bank(store)
    bank = SandboxBank(store, RunClock())
    first = await asyncio.gather(*(bank.transfer(ANN, order(), "key") for _ in range(10)))
    assert len({receipt.reference for receipt in first}) == 1
    assert (await held(store))[CHECKING] == BALANCE - 5_000, "a key moved money twice"
    for customer, wanted in ((ANN, order(5_001)), (BOB, order())):
        await refused(bank.transfer(CustomerId(customer), wanted, "key"))


async def a_caller_who_hangs_up(store: Store) -> None:
    """Cancelling the confirmation at any point leaves it either untouched or carried through."""
    house, bank = await an_unreliable_house(store)
    last = 0
    while True:
        proposal = await house.proposed(order(1_000))
        task = asyncio.ensure_future(say_yes(house, proposal))
        passed = 0

        def hang_up(_: str, task: asyncio.Task[TransferReceipt] = task, at: int = last) -> None:
            nonlocal passed
            passed += 1
            if passed > at:
                task.cancel()

        store.probe = bank.probe = hang_up
        await asyncio.gather(task, return_exceptions=True)
        await house.ledger.close()
        store.probe = bank.probe = lambda _: None
        state = (await house.ledger.receipt(ANN, proposal.id)).state
        assert state in {TransferState.PROPOSED, TransferState.SUCCEEDED}, f"hanging up left it {state}"
        await always(store)
        if not task.cancelled():
            break
        last += 1
    assert last >= len(("reads", "confirm", "transfer", "settle")), "nothing was tried"
    assert len(set(bank.sent)) == len(bank.sent)


async def a_row_changed_while_unsettled(store: Store) -> None:
    house, bank = await an_unreliable_house(store, "lost_request")
    await say_yes(house, await house.proposed(order()))
    await tamper(store, sa.update(transfers).values(amount_minor=50))
    await settle(house)
    assert len(bank.sent) == 1, "a row that no longer fits its seal was sent"
