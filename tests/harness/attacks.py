"""Attempts on the one door. Each takes a fresh database and raises AssertionError where the door gave way.

The same list serves twice: against the real code all must pass; with a fault planted at least one must notice.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import date, timedelta

import sqlalchemy as sa

from schemas.errors import MoneyRefused, StepUpRequired
from schemas.ids import CallId, ProposalId
from schemas.money import Money
from schemas.stepup import Challenge, CodeNotSent, card_purpose, proposal_purpose
from schemas.transfer import TransferReceipt
from services.banking import seal as seals
from services.banking.banks import tables as t
from services.banking.cards import BankCards
from services.banking.tables import transfers
from services.store import Store
from tests.harness.attack_tools import a_house, an_unreliable_house, refused, say_yes, unmoved
from tests.harness.bank_attacks import (
    a_bank_that_breaks,
    a_bank_that_forgot,
    a_bank_that_is_still_at_it,
    a_bank_that_says_no,
    a_caller_who_hangs_up,
    a_request_that_is_lost,
    a_row_changed_while_unsettled,
    an_answer_that_is_lost,
    answers_out_of_order,
    the_same_key_again,
)
from tests.harness.invariants import always
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
    held,
    order,
)
from tests.harness.rows import tamper
from tests.harness.store_attacks import (
    a_clock_that_is_set_back,
    a_yes_whose_fate_nobody_knows,
    an_outage_after_a_yes_was_spent,
    an_outage_before_a_yes_is_spent,
    an_outage_while_putting_on_record,
)

Attack = Callable[[Store], Awaitable[None]]


async def yes_before_the_read_back(store: Store) -> None:
    house = await a_house(store)
    await refused(say_yes(house, await house.ledger.propose(ANN, CALL, order())))
    await unmoved(store)


async def yes_twice(store: Store) -> None:
    house = await a_house(store)
    proposal = await house.proposed(order())
    await say_yes(house, proposal)
    await refused(say_yes(house, proposal))
    await always(store)
    assert (await held(store))[CHECKING] == BALANCE - 5_000


async def many_yeses_at_once(store: Store) -> None:
    house, bank = await an_unreliable_house(store)
    proposal = await house.proposed(order())
    outcomes = await asyncio.gather(*(say_yes(house, proposal) for _ in range(50)), return_exceptions=True)
    assert sum(isinstance(outcome, TransferReceipt) for outcome in outcomes) == 1, "the confirmation was spent twice"
    assert len(bank.sent) == 1, "the bank was asked twice"
    await always(store)


async def a_late_yes(store: Store) -> None:
    house = await a_house(store)
    proposal = await house.proposed(order())
    house.clock.advance(house.policy.proposal_life_s)
    await refused(say_yes(house, proposal))
    await unmoved(store)


async def a_yes_that_grows_late_while_the_bank_is_asked(store: Store) -> None:
    house, bank = await an_unreliable_house(store)
    proposal = await house.proposed(order())
    bank.probe = lambda point: house.clock.advance(600) if point == "bank.verify_payee:before" else None
    await refused(say_yes(house, proposal))
    await unmoved(store)


async def yes_after_a_correction(store: Store) -> None:
    house = await a_house(store)
    for attempt in (order(6_000), order(10**9)):
        first = await house.proposed(order())
        with contextlib.suppress(MoneyRefused):
            await house.ledger.propose(ANN, CALL, attempt)
        await refused(say_yes(house, first))
    first = await house.proposed(order())
    await house.ledger.void(ANN, CALL)
    await refused(say_yes(house, first))
    await unmoved(store)


async def yes_from_another_call_or_customer(store: Store) -> None:
    house = await a_house(store)
    proposal = await house.proposed(order())
    await refused(say_yes(house, proposal, call=OTHER_CALL))
    await refused(house.ledger.confirm(BOB, CALL, proposal.id, proposal.seal))
    await refused(house.ledger.delivered(BOB, CALL, proposal.id))
    await refused(house.ledger.delivered(ANN, OTHER_CALL, proposal.id))
    await unmoved(store)


async def yes_to_another_proposals_seal(store: Store) -> None:
    house = await a_house(store)
    first = await house.proposed(order())
    second = await house.proposed(order(6_000), OTHER_CALL)
    await refused(say_yes(house, first, seal=second.seal))
    await refused(say_yes(house, first, seal=""))
    await unmoved(store)


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
    house = await a_house(store)
    proposal = await house.proposed(order())
    await tamper(store, sa.update(transfers).values(amount_minor=50))
    await refused(say_yes(house, proposal))
    assert (await held(store))[CHECKING] == BALANCE, "money moved"


async def two_transfers_race_the_days_limit(store: Store) -> None:
    house = await a_house(store)
    await tamper(store, sa.update(t.limits).values(step_up_above=PER_DAY))
    each = PER_DAY // 2 + 1_000
    proposals = [await house.proposed(order(each), call) for call in (CALL, OTHER_CALL)]
    await asyncio.gather(*(say_yes(house, p) for p in proposals), return_exceptions=True)
    await always(store)
    assert (await held(store))[CHECKING] == BALANCE - each, "both passed the limit, or neither"


async def a_limit_lowered_after_the_read_back(store: Store) -> None:
    house = await a_house(store)
    proposal = await house.proposed(order())
    await tamper(store, sa.update(t.limits).values(per_transfer=4_999))
    await refused(say_yes(house, proposal))
    await unmoved(store)


async def a_payee_changed_after_the_read_back(store: Store) -> None:
    house = await a_house(store)
    proposal = await house.proposed(order())
    await tamper(store, sa.update(t.payees).values(version=2))
    await refused(say_yes(house, proposal))
    await unmoved(store)


async def no_second_factor(store: Store) -> None:
    house = await a_house(store)
    for wanted in (order(STEP_UP_ABOVE + 1), order(payee_id="new"), order(payee_id="strange")):
        proposal = await house.proposed(wanted)
        await refused(say_yes(house, proposal), StepUpRequired)
        await house.step_up.begin(ANN, proposal_purpose(proposal.id))
        await refused(say_yes(house, proposal), StepUpRequired)
    await refused(BankCards(house.bank, house.step_up).unlock(ANN, CARD), StepUpRequired)
    await unmoved(store)


async def a_second_factor_for_something_else_or_used_up(store: Store) -> None:
    house = await a_house(store)
    for purpose in (card_purpose(CARD), proposal_purpose(ProposalId("other"))):
        challenge = await house.step_up.begin(ANN, purpose)
        assert await house.step_up.verify(ANN, challenge, house.sender.codes[challenge.id])
    proposal = await house.proposed(order(STEP_UP_ABOVE + 1))
    await refused(say_yes(house, proposal), StepUpRequired)
    cards = BankCards(house.bank, house.step_up)
    await cards.unlock(ANN, CARD)
    await refused(cards.unlock(ANN, CARD), StepUpRequired)
    await unmoved(store)


async def guessing_codes(store: Store) -> None:
    house = await a_house(store)
    challenge = await house.step_up.begin(ANN, "card:x")
    for guess in ("000000", "", "999999"):
        assert not await house.step_up.verify(ANN, challenge, guess)
    assert not await house.step_up.verify(ANN, challenge, house.sender.codes[challenge.id]), "tries are not bounded"
    late = await house.step_up.begin(ANN, "card:x")
    house.clock.advance(house.policy.code_life_s)
    assert not await house.step_up.verify(ANN, late, house.sender.codes[late.id]), "a code outlived its time"
    assert not await house.step_up.passed(ANN, "card:x")


async def asking_for_codes_without_end(store: Store) -> None:
    """Each code is a chance to guess: so many an hour, also when all are asked for at once."""
    house = await a_house(store)
    most = house.policy.challenges_per_hour
    asked = (house.step_up.begin(ANN, f"card:{n}") for n in range(most + 10))
    outcomes = await asyncio.gather(*asked, return_exceptions=True)
    assert sum(isinstance(outcome, Challenge) for outcome in outcomes) == most, "codes without end"
    assert all(isinstance(outcome, Challenge | CodeNotSent) for outcome in outcomes)
    await refused(house.step_up.begin(ANN, "card:x"), CodeNotSent)
    await house.step_up.begin(BOB, "card:x")
    house.clock.advance(3600)
    await house.step_up.begin(ANN, "card:x")


async def a_call_that_was_resumed(store: Store) -> None:
    house = await a_house(store)
    old = await house.proposed(order())
    fresh = await house.ledger.resume(ANN, OTHER_CALL)
    assert fresh is not None
    await refused(say_yes(house, old))
    await refused(say_yes(house, fresh))
    await refused(say_yes(house, fresh, seal=old.seal))
    assert await house.ledger.resume(BOB, CallId("call-b")) is None, "another customer's proposal"
    await unmoved(store)
    house.clock.advance(house.policy.proposal_life_s)
    assert await house.ledger.resume(ANN, CallId("call-3")) is None, "an expired proposal was revived"


ATTACKS: tuple[Attack, ...] = (
    every_bound_fact_changes_the_seal, yes_before_the_read_back, yes_twice, a_late_yes,
    a_yes_that_grows_late_while_the_bank_is_asked, yes_after_a_correction, yes_from_another_call_or_customer,
    yes_to_another_proposals_seal, a_row_changed_behind_the_ledgers_back, a_row_changed_while_unsettled,
    two_transfers_race_the_days_limit, a_limit_lowered_after_the_read_back, a_payee_changed_after_the_read_back,
    no_second_factor, a_second_factor_for_something_else_or_used_up, guessing_codes, asking_for_codes_without_end,
    an_outage_before_a_yes_is_spent, an_outage_after_a_yes_was_spent, an_outage_while_putting_on_record,
    a_yes_whose_fate_nobody_knows, a_clock_that_is_set_back,
    an_answer_that_is_lost, a_request_that_is_lost, a_bank_that_is_still_at_it, a_bank_that_forgot,
    a_bank_that_breaks, answers_out_of_order, a_bank_that_says_no,
    a_call_that_was_resumed, the_same_key_again, many_yeses_at_once, a_caller_who_hangs_up,
)  # fmt: skip
