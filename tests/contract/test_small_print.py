"""What hardly ever happens, and holds all the same: words owed without end, a code for something else, old news."""

from dataclasses import replace
from datetime import date

import sqlalchemy as sa

from schemas.banking import TransferState
from schemas.ids import CustomerId, ProposalId
from services.banking.banks import directory
from services.banking.banks import tables as t
from services.banking.lifetimes import Lifetimes
from services.banking.tables import transfers
from tests.harness.money import ANN, CALL, KIM, PER_TRANSFER, House, change, order
from tests.harness.rows import rows, tamper


async def many(house: House, count: int) -> list[ProposalId]:
    """So many transfers, each a second after the one before."""
    await change(house.store, t.limits, step_up_above=PER_TRANSFER)
    made = []
    for _ in range(count):
        proposal = await house.proposed(order(1_000))
        await house.ledger.confirm(ANN, CALL, proposal.id, proposal.seal)
        house.clock.advance(1)
        made.append(proposal.id)
    return made


async def now_is(house: House, which: list[ProposalId], state: str) -> None:
    await tamper(house.store, sa.update(transfers).where(transfers.c.id.in_(which)).values(state=state))


async def test_what_has_no_end_yet_hides_no_end(house: House) -> None:
    made = await many(house, 19)
    await now_is(house, made[:9], "unknown")
    owed = await house.ledger.owed(ANN)
    assert [item.receipt.proposal for item in owed] == made[9:17] + made[:8]


async def test_a_later_end_than_was_told_is_owed_anew(house: House) -> None:
    (made,) = await many(house, 1)
    told = await house.ledger.receipt(ANN, made)
    await now_is(house, [made], "failed")
    await house.ledger.told(ANN, told)
    assert [item.receipt.state for item in await house.ledger.owed(ANN)] == [TransferState.FAILED]


async def test_a_code_serves_what_it_was_sent_for(house: House) -> None:
    challenge = await house.step_up.begin(ANN, "card:one")
    code = house.sender.codes[challenge.id]
    assert not await house.step_up.verify(ANN, replace(challenge, purpose="card:other"), code)
    assert await house.step_up.verify(ANN, challenge, code)


async def test_the_last_day_a_payee_was_paid_on_does_not_go_back(house: House) -> None:
    for day in (6, 4):
        await house.store.transact("t", lambda c, day=day: directory.note_paid(ANN, c, KIM, date(2026, 3, day)))
    mine = (t.payees.c.customer_id == ANN) & (t.payees.c.id == KIM)
    assert [row.last_paid for row in await rows(house.store, sa.select(t.payees.c.last_paid).where(mine))] == [
        "2026-03-06"
    ]


def test_lifetimes_are_remembered_of_so_many() -> None:
    lives = Lifetimes()
    for number in range(4_097):
        lives.note(CustomerId("c"), ProposalId(str(number)), 0.0)
    assert not lives.over(CustomerId("c"), ProposalId("0"), 1.0)
    assert lives.over(CustomerId("c"), ProposalId("1"), 1.0)
