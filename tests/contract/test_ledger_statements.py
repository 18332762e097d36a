"""How often a confirmation asks the database, and that what is remembered between questions is never trusted."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import sqlalchemy as sa

from schemas.banking import TransferState
from schemas.errors import ConfirmationInvalid, ConfirmationUsed, LimitExceeded
from schemas.ids import CallId
from services.act import bank_tables as t
from services.act.tables import transfers
from services.store import Store
from tests.harness.money import (
    ANN,
    BALANCE,
    CALL,
    CHECKING,
    OTHER_CALL,
    PER_DAY,
    House,
    build,
    change,
    held,
    order,
    spent,
    states,
)


@contextmanager
def asked(store: Store) -> Iterator[list[str]]:
    """Every statement about the ledger's own tables while the block runs."""
    seen: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if "ledger_" in statement:
            seen.append(statement.partition(" ")[0])

    engine = store._engine
    sa.event.listen(engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        sa.event.remove(engine, "before_cursor_execute", note)


async def test_a_confirmation_is_two_statements_where_the_database_can(house: House) -> None:
    """Round trips are what a confirmation costs: one to spend and count, one for the bank's answer."""
    proposal = await house.proposed(order())
    with asked(house.store) as statements:
        await house.ledger.confirm(ANN, CALL, proposal.id, proposal.seal)
    assert statements == (["UPDATE", "INSERT", "UPDATE"] if house.store.embedded else ["WITH", "UPDATE"])


async def test_another_process_reads_first(house: House) -> None:
    proposal = await house.proposed(order())
    other = build(house.store, house.clock)
    with asked(house.store) as statements:
        await other.ledger.confirm(ANN, CALL, proposal.id, proposal.seal)
    assert statements[0] == "SELECT"


async def test_proposals_that_nobody_took_are_forgotten_once_they_expire(house: House) -> None:
    for call in ("first", "second"):
        await house.proposed(order(), CallId(call))
    house.clock.advance(house.policy.proposal_life_s)
    proposal = await house.proposed(order())
    assert list(house.ledger._heard._entries) == [(ANN, proposal.id)]


async def test_what_another_process_voided_is_not_remembered_as_open(house: House) -> None:
    proposal = await house.proposed(order())
    await build(house.store, house.clock).ledger.void(ANN, CALL)
    with pytest.raises(ConfirmationUsed):
        await house.ledger.confirm(ANN, CALL, proposal.id, proposal.seal)
    assert (await held(house.store))[CHECKING] == BALANCE
    assert await spent(house.store) == 0


@pytest.mark.parametrize(
    "tampered",
    [
        {"amount_minor": 5_001}, {"currency": "CAD"}, {"payee_id": "power"}, {"payee_version": 2},
        {"source": "ann-savings"}, {"on_date": "2026-03-09"}, {"bill_id": "ann-power"}, {"nonce": "another"},
        {"expires_at": 1_900_000_000_000_000}, {"step_up_required": True}, {"seal": "0" * 64},
        {"payee_id": None, "to_account": "ann-savings"},
    ],
    ids="+".join,
)  # fmt: skip
async def test_a_row_that_is_no_longer_what_was_sealed_is_not_spent(house: House, tampered: dict[str, object]) -> None:
    proposal = await house.proposed(order())
    await change(house.store, transfers, **tampered)
    with pytest.raises(ConfirmationInvalid):
        await house.ledger.confirm(ANN, CALL, proposal.id, proposal.seal)
    assert (await held(house.store))[CHECKING] == BALANCE
    assert await spent(house.store) == 0


async def test_a_day_that_is_full_spends_nothing(house: House) -> None:
    """The yes and the day's count are one: neither is taken without the other."""
    await change(house.store, t.limits, step_up_above=PER_DAY)
    first = await house.proposed(order(PER_DAY // 2 + 1))
    second = await house.proposed(order(PER_DAY // 2 + 1), OTHER_CALL)
    receipt = await house.ledger.confirm(ANN, CALL, first.id, first.seal)
    assert receipt.state is TransferState.SUCCEEDED
    with pytest.raises(LimitExceeded):
        await house.ledger.confirm(ANN, OTHER_CALL, second.id, second.seal)
    assert await spent(house.store) == PER_DAY // 2 + 1
    assert sorted((await states(house.store)).values()) == ["cancelled", "succeeded"]
