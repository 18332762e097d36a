"""Records that wait on this machine: what reaches them there, what becomes of them, and what a silent disk costs."""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from schemas.audit import AuditRecord
from schemas.errors import NotFound, StoreUnavailable
from schemas.ids import CallId, CustomerId
from services.banking.promises import Promises
from services.record import spool as spools
from services.record import tables as t
from services.record.audit import ChainedAudit
from services.record.audit_keys import AuditKeys
from services.record.audit_spool import SpooledAudit
from services.record.chain import verify
from services.record.heads import FileHead, read_heads
from services.record.spool import own
from services.store import Store
from services.timing.clock import ManualClock
from tests.harness.money import ANN, BALANCE, CALL, CHECKING, build, held, open_bank, order
from tests.harness.rows import rows
from tests.harness.silence import Silence

AT = datetime(2026, 11, 25, 12, tzinfo=UTC)
BOB = CustomerId("bob")
KEYS, KEY, SIZE = AuditKeys(b"a" * 32), b"p" * 32, 1 << 16
ANSWER_S = 5.0


def turn(at: datetime = AT) -> AuditRecord:
    return AuditRecord("turn", CallId("c"), at, {"n": 1}, {"text": "send fifty to Catherine"})


class Waiting:
    """A log over a spool, whose database can be away."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store = store
        self.chain = ChainedAudit(store, KEYS, FileHead(folder / "head.json"))
        self.audit = SpooledAudit(self.chain, ManualClock(AT), own(folder, "audit", KEY, SIZE))

    async def while_away(self, *records: tuple[CustomerId, AuditRecord]) -> None:
        def gone(_point: str) -> None:
            raise OSError

        self.store.probe = gone
        for customer, record in records:
            await self.audit.append(customer, record)
        self.store.probe = lambda _: None
        assert self.audit.waiting


@pytest.fixture
def waiting(store: Store, tmp_path: Path) -> Waiting:
    return Waiting(store, tmp_path)


async def personal(chain: ChainedAudit, customer: CustomerId, seq: int) -> bool:
    try:
        await chain.personal(customer, seq)
    except NotFound:
        return False
    return True


async def test_forgetting_a_customer_reaches_what_waits_in_a_spool(waiting: Waiting) -> None:
    later = AT + timedelta(minutes=1)
    await waiting.while_away((ANN, turn()), (BOB, turn()), (ANN, turn(later + timedelta(minutes=1))))
    await waiting.chain.erase(ANN, AuditRecord("customer.erased", None, later, {}))
    assert await waiting.audit.drain() == 3
    assert not await personal(waiting.chain, ANN, 2), "said before"
    assert await personal(waiting.chain, BOB, 3), "another's"
    assert await personal(waiting.chain, ANN, 4), "said after they were forgotten"
    assert (await verify(waiting.store)).seq == 4


async def test_forgetting_again_reaches_what_was_said_between(waiting: Waiting) -> None:
    await waiting.chain.erase(ANN, AuditRecord("customer.erased", None, AT - timedelta(days=1), {}))
    await waiting.while_away((ANN, turn()))
    await waiting.chain.erase(ANN, AuditRecord("customer.erased", None, AT + timedelta(days=1), {}))
    await waiting.audit.drain()
    assert not await rows(waiting.store, sa.select(t.seeds))


async def test_words_that_waited_past_their_day_do_not_come_back(waiting: Waiting) -> None:
    await waiting.while_away((ANN, turn()), (BOB, turn(AT + timedelta(days=1))))
    assert await waiting.chain.forget(AT.date()) == 0, "none is on record yet"
    await waiting.audit.drain()
    assert not await personal(waiting.chain, ANN, 1)
    assert await personal(waiting.chain, BOB, 2), "said on a day that is kept"
    assert await waiting.chain.forget((AT + timedelta(days=1)).date()) == 1


async def test_what_is_lost_of_a_spool_is_on_record_as_lost(waiting: Waiting, tmp_path: Path) -> None:
    await waiting.while_away((ANN, turn()), (BOB, turn()))
    waiting.audit.release()
    _a_byte_changes(tmp_path)
    again = Waiting(waiting.store, tmp_path)
    await again.audit.drain()
    found = await rows(waiting.store, sa.select(t.records.c.event).order_by(t.records.c.seq))
    assert [row.event for row in found] == ["record.broken", "turn"]
    assert len(spools.broken(tmp_path)) == 1


def _a_byte_changes(folder: Path) -> None:
    (path,) = folder.glob("*.spool")
    whole = bytearray(path.read_bytes())
    whole[60] ^= 1
    path.write_bytes(whole)


@contextmanager
def silent_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever is to be made durable never is, until the end of the block."""
    again = threading.Event()
    monkeypatch.setattr(spools.os, "fdatasync", lambda _: again.wait(60))
    try:
        yield
    finally:
        again.set()


async def test_a_disk_that_falls_silent_costs_an_answer_no_more_than_its_bound(
    waiting: Waiting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    promises = Promises(waiting.store, ManualClock(AT), own(tmp_path, "promises", KEY, SIZE))
    with silent_disk(monkeypatch):
        began = time.monotonic()
        with pytest.raises(StoreUnavailable):
            await waiting.while_away((ANN, turn()))
        assert not await promises.void(ANN, CALL), "nobody is promised what is not kept"
        async with asyncio.timeout(1):
            assert await waiting.audit.drain() == 0, "the loop stands still"
        assert time.monotonic() - began < ANSWER_S


async def test_a_head_that_its_disk_does_not_take_keeps_no_record_waiting(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    again, export = threading.Event(), FileHead(tmp_path / "head.json")
    publish = export.publish

    def silent(*given: object) -> None:
        again.wait(60)
        publish(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(export, "publish", silent)
    chain = ChainedAudit(store, KEYS, export)
    began = time.monotonic()
    for _ in range(4):
        await chain.append(ANN, turn())
    assert time.monotonic() - began < ANSWER_S
    again.set()
    await asyncio.sleep(0.1)
    await chain.append(ANN, turn())
    assert (await verify(store, read_heads(tmp_path / "head.json"))).seq == 5


async def test_what_was_called_off_while_the_database_was_away_is_not_offered_again(store: Store) -> None:
    await open_bank(store)
    house = build(store)
    silence = Silence()
    silence.over(store)
    proposal = await house.proposed(order(1_000))
    silence.writes, silence.only = 99, {"ledger.void"}
    assert await house.ledger.void(ANN, CALL) == 0
    silence.writes = 0
    assert await house.ledger.open_proposal(ANN) is None, "the next call would offer it"
    house.clock.advance(1)
    later = await house.proposed(order(2_000))
    await house.reconciler.run_once()
    await house.ledger.confirm(ANN, CALL, later.id, later.seal)  # what came after it lives
    assert (await held(store))[CHECKING] == BALANCE - 2_000
    assert (await house.ledger.receipt(ANN, proposal.id)).state.value == "cancelled"
