"""Attempts on the one door. Each takes a fresh database and raises AssertionError where the door gave way.

The same list serves twice: against the real code all must pass; with a fault planted at least one must notice.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import date, timedelta

import sqlalchemy as sa

from schemas.banking import BankOutcome, BankReceipt, TransferState
from schemas.errors import MoneyRefused, NotFound, StepUpRequired, TellerlineError
from schemas.ids import CallId, CustomerId, ProposalId
from schemas.money import Money
from schemas.stepup import card_purpose, proposal_purpose
from schemas.transfer import Proposal, TransferReceipt
from services.act import bank_tables as t
from services.act import seal as seals
from services.act import transfers as rows
from services.act.bank_sandbox import SandboxBank
from services.act.cards import BankCards
from services.act.submit import Submitter
from services.act.tables import transfers
from services.store import Store
from tests.fakes.bank import UnreliableBank
from tests.harness.invariants import always, at_rest
from tests.harness.money import (
    ANN,
    BALANCE,
    BOB,
    CALL,
    CARD,
    CHECKING,
    OTHER_CALL,
    PER_DAY,
    SAVINGS,
    START,
    STEP_UP_ABOVE,
    House,
    RunClock,
    build,
    held,
    open_bank,
    order,
    settle,
)  # fmt: skip

Attack = Callable[[Store], Awaitable[None]]


async def _unreliable(store: Store, *faults: str, **policy: object) -> tuple[House, UnreliableBank]:
    await open_bank(store)
    clock = RunClock()
    bank = UnreliableBank(SandboxBank(store, clock), deque(faults))
    return build(store, clock, bank, **policy), bank


async def _house(store: Store, **policy: object) -> House:
    return (await _unreliable(store, **policy))[0]


async def _refused(attempt: Awaitable[object], *kinds: type[TellerlineError]) -> None:
    expected = kinds or (MoneyRefused, NotFound)
    try:
        outcome = await attempt
    except expected:
        return
    raise AssertionError(f"not refused: {outcome}")


async def _unmoved(store: Store) -> None:
    await always(store)
    assert (await held(store))[CHECKING] == BALANCE, "money moved"


async def _confirm(house: House, proposal: Proposal, **changes: str) -> TransferReceipt:
    call, seal = changes.get("call", proposal.call), changes.get("seal", proposal.seal)
    return await house.ledger.confirm(ANN, CallId(call), proposal.id, seal)


async def yes_before_the_read_back(store: Store) -> None:
    house = await _house(store)
    await _refused(_confirm(house, await house.ledger.propose(ANN, CALL, order())))
    await _unmoved(store)


async def yes_twice(store: Store) -> None:
    house = await _house(store)
    proposal = await house.proposed(order())
    await _confirm(house, proposal)
    await _refused(_confirm(house, proposal))
    await always(store)
    assert (await held(store))[CHECKING] == BALANCE - 5_000


async def many_yeses_at_once(store: Store) -> None:
    house, bank = await _unreliable(store)
    proposal = await house.proposed(order())
    outcomes = await asyncio.gather(*(_confirm(house, proposal) for _ in range(50)), return_exceptions=True)
    assert sum(isinstance(outcome, TransferReceipt) for outcome in outcomes) == 1, "the confirmation was spent twice"
    assert len(bank.sent) == 1, "the bank was asked twice"
    await always(store)


async def a_late_yes(store: Store) -> None:
    house = await _house(store)
    proposal = await house.proposed(order())
    house.clock.advance(house.policy.proposal_life_s)
    await _refused(_confirm(house, proposal))
    await _unmoved(store)


async def a_yes_that_grows_late_while_the_bank_is_asked(store: Store) -> None:
    house, bank = await _unreliable(store)
    proposal = await house.proposed(order())
    bank.probe = lambda point: house.clock.advance(600) if point == "bank.verify_payee:before" else None
    await _refused(_confirm(house, proposal))
    await _unmoved(store)


async def yes_after_a_correction(store: Store) -> None:
    house = await _house(store)
    for attempt in (order(6_000), order(10**9)):
        first = await house.proposed(order())
        with contextlib.suppress(MoneyRefused):
            await house.ledger.propose(ANN, CALL, attempt)
        await _refused(_confirm(house, first))
    first = await house.proposed(order())
    await house.ledger.void(ANN, CALL)
    await _refused(_confirm(house, first))
    await _unmoved(store)


async def yes_from_another_call_or_customer(store: Store) -> None:
    house = await _house(store)
    proposal = await house.proposed(order())
    await _refused(_confirm(house, proposal, call=OTHER_CALL))
    await _refused(house.ledger.confirm(BOB, CALL, proposal.id, proposal.seal))
    await _refused(house.ledger.delivered(BOB, CALL, proposal.id))
    await _refused(house.ledger.delivered(ANN, OTHER_CALL, proposal.id))
    await _unmoved(store)


async def yes_to_another_proposals_seal(store: Store) -> None:
    house = await _house(store)
    first = await house.proposed(order())
    second = await house.proposed(order(6_000), OTHER_CALL)
    await _refused(_confirm(house, first, seal=second.seal))
    await _refused(_confirm(house, first, seal=""))
    await _unmoved(store)


async def every_bound_fact_changes_the_seal(_: Store) -> None:
    """Also the fingerprint, for those facts that the bank is asked for."""
    good = seals.Binding(ProposalId("p"), ANN, CALL, order(), False, "n", START)
    sealer = seals.Sealer([b"s" * 32])
    for changes in (
        {"proposal": "q"}, {"customer": "bob"}, {"call": "call-2"}, {"nonce": "m"}, {"step_up_required": True},
        {"expires_at": START + timedelta(microseconds=1)},
    ):  # fmt: skip
        assert sealer.seal(replace(good, **changes)) != sealer.seal(good), f"{changes} does not change the seal"  # type: ignore[arg-type] # built loosely
    seen = {sealer.seal(good)}
    prints = {seals.fingerprint(ANN, good.order), seals.fingerprint(BOB, good.order)}
    assert len(prints) == 2, "the customer does not change the fingerprint"
    orders = [
        order(5_001), order(source=SAVINGS), order(payee_id="new"), order(payee_version=2), order(bill_id="ann-power"),
        order(amount=Money(5_000, "CAD")), order(on=date(2026, 3, 5)), order(payee_id=None, to_account=SAVINGS),
        order(payee_id=None, to_account="kim"), order(payee_id=None, to_account=CHECKING),
    ]  # fmt: skip
    for other in orders:
        seen.add(sealer.seal(replace(good, order=other)))
        prints.add(seals.fingerprint(ANN, other))
    assert len(seen) == len(orders) + 1, "two orders share a seal"
    assert len(prints) == len(orders) + 2, "two orders share a fingerprint"


async def a_row_changed_behind_the_ledgers_back(store: Store) -> None:
    house = await _house(store)
    proposal = await house.proposed(order())
    async with store.write("test.tamper") as connection:
        await connection.execute(sa.update(transfers).values(amount_minor=50))
    await _refused(_confirm(house, proposal))
    assert (await held(store))[CHECKING] == BALANCE, "money moved"


async def a_row_changed_while_unsettled(store: Store) -> None:
    house, bank = await _unreliable(store, "lost_request")
    await _confirm(house, await house.proposed(order()))
    async with store.write("test.tamper") as connection:
        await connection.execute(sa.update(transfers).values(amount_minor=50))
    await settle(house)
    assert len(bank.sent) == 1, "a row that no longer fits its seal was sent"


async def two_transfers_race_the_days_limit(store: Store) -> None:
    house = await _house(store)
    async with store.write("test.limits") as connection:
        await connection.execute(sa.update(t.limits).values(step_up_above=PER_DAY))
    each = PER_DAY // 2 + 1_000
    proposals = [await house.proposed(order(each), call) for call in (CALL, OTHER_CALL)]
    await asyncio.gather(*(_confirm(house, p) for p in proposals), return_exceptions=True)
    await always(store)
    assert (await held(store))[CHECKING] == BALANCE - each, "both passed the limit, or neither"


async def a_limit_lowered_after_the_read_back(store: Store) -> None:
    house = await _house(store)
    proposal = await house.proposed(order())
    async with store.write("test.limits") as connection:
        await connection.execute(sa.update(t.limits).values(per_transfer=4_999))
    await _refused(_confirm(house, proposal))
    await _unmoved(store)


async def a_payee_changed_after_the_read_back(store: Store) -> None:
    house = await _house(store)
    proposal = await house.proposed(order())
    async with store.write("test.payee") as connection:
        await connection.execute(sa.update(t.payees).values(version=2))
    await _refused(_confirm(house, proposal))
    await _unmoved(store)


async def no_second_factor(store: Store) -> None:
    house = await _house(store)
    for wanted in (order(STEP_UP_ABOVE + 1), order(payee_id="new"), order(payee_id="strange")):
        proposal = await house.proposed(wanted)
        await _refused(_confirm(house, proposal), StepUpRequired)
        await house.step_up.begin(ANN, proposal_purpose(proposal.id))
        await _refused(_confirm(house, proposal), StepUpRequired)
    await _refused(BankCards(house.bank, house.step_up).unlock(ANN, CARD), StepUpRequired)
    await _unmoved(store)


async def a_second_factor_for_something_else_or_used_up(store: Store) -> None:
    house = await _house(store)
    for purpose in (card_purpose(CARD), proposal_purpose(ProposalId("other"))):
        challenge = await house.step_up.begin(ANN, purpose)
        assert await house.step_up.verify(ANN, challenge, house.sender.codes[challenge.id])
    proposal = await house.proposed(order(STEP_UP_ABOVE + 1))
    await _refused(_confirm(house, proposal), StepUpRequired)
    cards = BankCards(house.bank, house.step_up)
    await cards.unlock(ANN, CARD)
    await _refused(cards.unlock(ANN, CARD), StepUpRequired)
    await _unmoved(store)


async def guessing_codes(store: Store) -> None:
    house = await _house(store)
    challenge = await house.step_up.begin(ANN, "card:x")
    for guess in ("000000", "", "999999"):
        assert not await house.step_up.verify(ANN, challenge, guess)
    assert not await house.step_up.verify(ANN, challenge, house.sender.codes[challenge.id]), "tries are not bounded"
    late = await house.step_up.begin(ANN, "card:x")
    house.clock.advance(house.policy.code_life_s)
    assert not await house.step_up.verify(ANN, late, house.sender.codes[late.id]), "a code outlived its time"
    assert not await house.step_up.passed(ANN, "card:x")


async def an_answer_that_is_lost(store: Store) -> None:
    """The bank moved the money and could not say so."""
    for fault in ("lost_answer", "garbage", "hang"):
        await _clear(store)
        house, bank = await _unreliable(store, fault, "ok", submit_timeout_s=1 if fault == "hang" else 60)
        proposal = await house.proposed(order())
        receipt = await _confirm(house, proposal)
        assert receipt.state is TransferState.UNKNOWN, f"{fault}: said {receipt.state}"
        await always(store)
        await settle(house)
        assert bank.sent == [f"tl-{proposal.id}"], f"{fault}: sent again without asking"
        assert (await house.ledger.receipt(ANN, proposal.id)).state is TransferState.SUCCEEDED
        await at_rest(store)


async def a_request_that_is_lost(store: Store) -> None:
    house, bank = await _unreliable(store, "lost_request", "ok", "lost_answer", "lost_answer", "pending")
    proposal = await house.proposed(order())
    assert (await _confirm(house, proposal)).state is TransferState.UNKNOWN
    await settle(house)
    assert (await house.ledger.receipt(ANN, proposal.id)).state is TransferState.SUCCEEDED
    assert set(bank.sent) == {f"tl-{proposal.id}"}, "another key was used"
    assert (await held(store))[CHECKING] == BALANCE - 5_000, "moved twice, or never"
    await at_rest(store)


async def a_bank_that_is_still_at_it(store: Store) -> None:
    house, bank = await _unreliable(store, "pending", "pending", "pending")
    await _confirm(house, await house.proposed(order()))
    for _ in range(2):
        house.clock.advance(3600)
        await house.reconciler.run_once()
    assert len(bank.sent) == 1, "sent again while the bank was still working"
    await always(store)


async def a_bank_that_forgot(store: Store) -> None:
    """Long after, a key the bank does not know may be one it no longer remembers."""
    house, bank = await _unreliable(store, "lost_request")
    await _confirm(house, await house.proposed(order()))
    house.clock.advance(house.policy.resend_within_s)
    await house.reconciler.run_once()
    assert len(bank.sent) == 1, "sent again after the bank may have forgotten the key"
    await always(store)


async def answers_out_of_order(store: Store) -> None:
    house, _ = await _unreliable(store)
    proposal = await house.proposed(order())
    await _confirm(house, proposal)
    entry = await store.look(lambda connection: rows.find(ANN, connection, proposal.id))
    assert entry is not None
    late = Submitter(store, house.bank, house.clock, house.policy)
    for outcome in (BankOutcome.PENDING, BankOutcome.DECLINED, BankOutcome.NOT_FOUND):
        await late.settle(ANN, entry, BankReceipt(outcome))
        assert (await house.ledger.receipt(ANN, proposal.id)).state is TransferState.SUCCEEDED, "a state went back"
    await always(store)


async def a_bank_that_says_no(store: Store) -> None:
    house = await _house(store)
    proposal = await house.proposed(order(on=date(2026, 3, 5)))
    await _confirm(house, proposal)
    async with store.write("test.payee") as connection:
        await connection.execute(sa.update(t.payees).values(version=2))
    house.clock.advance(24 * 3600)
    await house.reconciler.run_once()
    receipt = await house.ledger.receipt(ANN, proposal.id)
    assert (receipt.state, receipt.reason) == (TransferState.FAILED, "payee_changed")
    await _unmoved(store)


async def a_caller_who_hangs_up(store: Store) -> None:
    """Cancelling the confirmation at any point leaves it either untouched or carried through."""
    house, bank = await _unreliable(store)
    last = 0
    while True:
        proposal = await house.proposed(order(1_000))
        task = asyncio.ensure_future(_confirm(house, proposal))
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


async def a_call_that_was_resumed(store: Store) -> None:
    house = await _house(store)
    old = await house.proposed(order())
    fresh = await house.ledger.resume(ANN, OTHER_CALL)
    assert fresh is not None
    await _refused(_confirm(house, old))
    await _refused(_confirm(house, fresh))
    await _refused(_confirm(house, fresh, seal=old.seal))
    assert await house.ledger.resume(BOB, CallId("call-b")) is None, "another customer's proposal"
    await _unmoved(store)
    house.clock.advance(house.policy.proposal_life_s)
    assert await house.ledger.resume(ANN, CallId("call-3")) is None, "an expired proposal was revived"


async def the_same_key_again(store: Store) -> None:
    await open_bank(store)
    bank = SandboxBank(store, RunClock())
    first = await asyncio.gather(*(bank.transfer(ANN, order(), "key") for _ in range(10)))
    assert len({receipt.reference for receipt in first}) == 1
    assert (await held(store))[CHECKING] == BALANCE - 5_000, "a key moved money twice"
    for customer, wanted in ((ANN, order(5_001)), (BOB, order())):
        await _refused(bank.transfer(CustomerId(customer), wanted, "key"))


async def _clear(store: Store) -> None:
    async with store.write("test.clear") as connection:
        for table in reversed(t.customers.metadata.sorted_tables):
            await connection.execute(sa.delete(table))


ATTACKS: tuple[Attack, ...] = (
    every_bound_fact_changes_the_seal, yes_before_the_read_back, yes_twice, a_late_yes,
    a_yes_that_grows_late_while_the_bank_is_asked, yes_after_a_correction, yes_from_another_call_or_customer,
    yes_to_another_proposals_seal, a_row_changed_behind_the_ledgers_back, a_row_changed_while_unsettled,
    two_transfers_race_the_days_limit, a_limit_lowered_after_the_read_back, a_payee_changed_after_the_read_back,
    no_second_factor, a_second_factor_for_something_else_or_used_up, guessing_codes, an_answer_that_is_lost,
    a_request_that_is_lost, a_bank_that_is_still_at_it, a_bank_that_forgot, answers_out_of_order, a_bank_that_says_no,
    a_call_that_was_resumed, the_same_key_again, many_yeses_at_once, a_caller_who_hangs_up,
)  # fmt: skip
