"""How often a confirmation asks the database, and that what was read is never trusted: the write compares it all."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import sqlalchemy as sa

from schemas.banking import CustomerProfile, TransferState
from schemas.errors import ConfirmationInvalid, ConfirmationUsed, LimitExceeded
from schemas.ids import CustomerId
from services.banking.banks import tables as t
from services.banking.tables import transfers
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


async def test_a_confirmation_asks_no_more_than_it_must(house: House) -> None:
    """Read, spend, count, and the bank's answer; the first of a day makes the day's row as well."""
    spend_and_count = ["UPDATE", "UPDATE"]
    for call, counting in ((CALL, [*spend_and_count, "INSERT", "UPDATE"]), (OTHER_CALL, spend_and_count)):
        proposal = await house.proposed(order(), call)
        with asked(house.store) as statements:
            await house.ledger.confirm(ANN, call, proposal.id, proposal.seal)
        assert statements == ["SELECT", *counting, "UPDATE"]


async def test_what_another_process_voided_is_not_open(house: House) -> None:
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
@pytest.mark.parametrize("meanwhile", [False, True], ids=["before it is read", "after it was read"])
async def test_a_row_that_is_no_longer_what_was_sealed_is_not_spent(
    house: House, tampered: dict[str, object], meanwhile: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposal = await house.proposed(order())
    ask = house.bank.profile

    async def asked_late(customer: CustomerId) -> CustomerProfile:
        """Asked between the read and the write."""
        await change(house.store, transfers, **tampered)
        return await ask(customer)

    if meanwhile:
        monkeypatch.setattr(house.bank, "profile", asked_late)
    else:
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
