"""What became of transfers goes on record, each state once and as its own customer's; on both databases."""

import asyncio
from datetime import date
from pathlib import Path
from typing import Any

import orjson
import pytest
import sqlalchemy as sa

from schemas.audit import AuditRecord
from schemas.banking import TransferState
from schemas.errors import StoreUnavailable
from services.banking import outbox
from services.banking.outbox import LATE, Outbox
from services.record import tables as audit_tables
from services.record.audit import ChainedAudit
from services.record.audit_keys import AuditKeys
from services.record.chain import verify
from services.record.heads import FileHead
from services.store import Store
from tests.harness.attack_tools import an_unreliable_house, say_yes
from tests.harness.invariants import at_rest, recorded
from tests.harness.money import ANN, BOB, CALL, OTHER_CALL, START, House, order, settle
from tests.harness.rows import rows

KEYS = AuditKeys(b"a" * 32)
_A_TURN = AuditRecord("turn", CALL, START)
BOBS = order(2_000, source="bob-savings", payee_id=None, to_account="bob-checking")


async def transferred(house: House, minor: int = 1_000) -> str:
    """One transfer of Ann's, through."""
    proposal = await house.proposed(order(minor))
    assert (await say_yes(house, proposal)).state is TransferState.SUCCEEDED
    return proposal.id


async def on_record(store: Store) -> list[dict[str, Any]]:
    """Every record of a transfer, in the chain's order, with its subject and call."""
    r = audit_tables.records.c
    found = await rows(store, sa.select(r.subject, r.call_id, r.facts).order_by(r.seq))
    return [orjson.loads(row.facts) | {"subject": row.subject, "call": row.call_id} for row in found]


async def test_a_settling_goes_on_record_with_what_was_agreed_to_sealed_and_nothing_of_it_in_the_open(
    house: House,
) -> None:
    proposal = await house.proposed(order(4_321))
    receipt = await say_yes(house, proposal)
    house.clock.advance(2)
    assert await house.outbox.drain() == 1
    (fact,) = await on_record(house.store)
    assert (fact["state"], fact["seal"], fact["reference"]) == ("succeeded", proposal.seal, receipt.reference)
    assert (fact["call"], fact["subject"], fact["recovered"]) == (CALL, KEYS.subject(ANN), False)
    assert fact["since"] == fact["submitted_at"] == "2026-03-04T15:00:00.000+00:00"
    assert "4321" not in repr(fact)
    assert "kim" not in repr(fact)
    assert await house.outbox.drain() == 0


async def test_what_a_crash_left_is_recorded_as_recovered(house: House) -> None:
    await transferred(house)
    house.clock.advance(LATE.total_seconds() + 1)
    await house.outbox.drain()
    assert [fact["recovered"] for fact in await on_record(house.store)] == [True]


async def test_every_state_in_which_a_transfer_rests_goes_on_record(store: Store) -> None:
    house, _ = await an_unreliable_house(store, "lost_answer")
    lost = await house.proposed(order())
    await say_yes(house, lost)
    await house.outbox.drain()
    later = await house.proposed(order(on=date(2026, 3, 5)))
    await say_yes(house, later)
    await settle(house, 1)
    house.clock.advance(14 * 3600)
    await settle(house, 1)
    seen = [(fact["proposal"], fact["state"]) for fact in await on_record(store)]
    assert seen == [
        (lost.id, "unknown"), (later.id, "confirmed"), (lost.id, "succeeded"), (later.id, "succeeded"),
    ]  # fmt: skip
    await at_rest(store)


async def test_a_batch_of_several_customers_keeps_them_apart(house: House) -> None:
    await transferred(house)
    proposal = await house.proposed(BOBS, OTHER_CALL, BOB)
    await house.ledger.confirm(BOB, OTHER_CALL, proposal.id, proposal.seal)
    assert await house.outbox.drain() == 2
    found = await on_record(house.store)
    assert {(fact["subject"], fact["call"]) for fact in found} == {
        (KEYS.subject(ANN), CALL),
        (KEYS.subject(BOB), OTHER_CALL),
    }


async def test_any_number_of_outboxes_record_each_settling_once(house: House, tmp_path: Path) -> None:
    made = [await transferred(house) for _ in range(12)]
    chain = ChainedAudit(house.store, KEYS, FileHead(tmp_path / "head.json"))
    others = [Outbox(chain, house.clock) for _ in range(4)]
    await asyncio.gather(*(each.drain() for each in others), *(chain.append(ANN, _A_TURN) for _ in range(4)))
    await house.outbox.drain()  # what was locked by one that then gave up
    assert await recorded(house.store) == {(transfer, "succeeded"): 1 for transfer in made}


async def test_a_pass_is_bounded_and_the_next_goes_on(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "BATCH", 2)
    monkeypatch.setattr(outbox, "MOST_BATCHES", 3)
    for _ in range(7):
        await transferred(house)
    assert [await house.outbox.drain() for _ in range(3)] == [6, 1, 0]
    assert (await verify(house.store)).seq == 7


async def test_what_waits_is_found_by_its_index_however_long_the_ledger(house: House) -> None:
    """It is looked for every second."""
    asked: list[tuple[str, Any]] = []

    def note(_connection: object, _cursor: object, statement: str, given: Any, *_: object) -> None:
        asked.append((statement, given))

    def plan(connection: sa.Connection) -> str:
        statement, given = next((text, given) for text, given in asked if "recorded" in text)
        if house.store.embedded:
            return repr(connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", given).all())
        connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
        return repr(connection.exec_driver_sql(f"EXPLAIN {statement}", given).all())

    sa.event.listen(house.store._engine, "before_cursor_execute", note)
    await house.outbox.drain()
    sa.event.remove(house.store._engine, "before_cursor_execute", note)
    assert "ix_ledger_transfers_unrecorded" in await house.store.transact("test.plan", plan)


async def test_what_waits_when_the_process_ends_is_recorded_if_the_database_lets_us(sqlite_store: Store) -> None:
    house, _ = await an_unreliable_house(sqlite_store)
    await transferred(house)
    await house.outbox.close()
    assert len(await on_record(sqlite_store)) == 1
    await sqlite_store.close()
    await house.outbox.close()
    with pytest.raises(StoreUnavailable):
        await house.outbox.drain()
