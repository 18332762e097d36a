"""The audit chain on both databases: what it keeps, what it hides, and which tampering it notices."""

import asyncio
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import orjson
import pytest
import sqlalchemy as sa
from typer.testing import CliRunner

from app.cli import main
from schemas.audit import AuditRecord
from schemas.errors import AuditBroken, ConfigInvalid, NotFound, StoreUnavailable
from schemas.ids import CallId, CustomerId
from services.record import tables as t
from services.record.audit import ChainedAudit
from services.record.audit_keys import AuditKeys
from services.record.chain import ChainHead, chain_hash, verify
from services.record.heads import FileHead, read_heads
from services.store import Store
from tests.harness.rows import rows, tamper

AT = datetime(2026, 3, 4, 15, 0, tzinfo=UTC)
ANN, BOB = CustomerId("ann"), CustomerId("bob")
KEYS = AuditKeys(b"a" * 32)


def record(n: int = 0) -> AuditRecord:
    facts = {"rule": "intent.transfer@3", "score": 0.93, "turn": n, "said": "Catherine Nguyen please", "who": "nguyen"}
    personal = {"text": "send fifty to Catherine Nguyen", "payee": "Nguyen", "amount": 5_000}
    return AuditRecord("turn.decided", CallId("call-1"), AT, dict(facts), dict(personal))


def forgotten() -> AuditRecord:
    return AuditRecord("customer.erased", None, AT, {"recordings": 0})


@pytest.fixture
def log(store: Store, tmp_path: Path) -> ChainedAudit:
    return ChainedAudit(store, KEYS, FileHead(tmp_path / "head.json"))


async def forge(store: Store, *statements: sa.Executable) -> None:
    """Change the chain as an administrator could, who first takes away what keeps the database from it."""
    if store.embedded:
        gone = [sa.text(f"DROP TRIGGER IF EXISTS audit_records_no_{deed}") for deed in ("UPDATE", "DELETE")]
        await tamper(store, *gone, *statements)
    else:
        off, on = (sa.text(f"ALTER TABLE audit_records {switch} TRIGGER USER") for switch in ("DISABLE", "ENABLE"))
        await tamper(store, off, *statements, on)


async def fill(log: ChainedAudit, count: int = 6) -> None:
    for n in range(count):
        await log.append(ANN if n % 2 else BOB, record(n))


async def test_appends_make_a_chain_that_verifies(store: Store, log: ChainedAudit, tmp_path: Path) -> None:
    assert await verify(store) == ChainHead(0, "0" * 64)
    heads = [await log.append(ANN, record(n)) for n in range(5)]
    assert len(set(heads)) == 5
    assert await verify(store, read_heads(tmp_path / "head.json")) == ChainHead(5, heads[-1])


async def test_many_writers_make_one_chain(store: Store, tmp_path: Path) -> None:
    export = FileHead(tmp_path / "head.json")
    writers = [ChainedAudit(store, KEYS, export) for _ in range(4)]
    await asyncio.gather(*(writer.append(ANN, record(n)) for n in range(10) for writer in writers))
    assert (await verify(store, read_heads(tmp_path / "head.json"))).seq == 40


async def test_an_append_that_was_asked_for_is_made_though_its_caller_is_cancelled(
    store: Store, log: ChainedAudit, tmp_path: Path
) -> None:
    """Also one that still waits its turn; and the head that is handed out is the chain's."""
    appending = [asyncio.create_task(log.append(ANN, record(n))) for n in range(8)]
    await asyncio.sleep(0)
    for task in 2 * appending:
        task.cancel()
    outcomes = await asyncio.gather(*appending, return_exceptions=True)
    assert all(isinstance(outcome, asyncio.CancelledError) for outcome in outcomes)
    last = await verify(store)
    assert [last] == list(read_heads(tmp_path / "head.json"))
    assert last.seq == len(appending)


async def test_the_database_itself_refuses_to_change_or_drop_a_record(store: Store, log: ChainedAudit) -> None:
    await fill(log)
    for forbidden in (sa.update(t.records).values(facts="{}"), sa.delete(t.records)):
        with pytest.raises(StoreUnavailable):
            await tamper(store, forbidden)
    assert (await verify(store)).seq == 6


def bytes_of(store: Store) -> bytes:
    """All that SQLite keeps of a database: the file and its write-ahead log."""
    file = Path(str(store._engine.url.database))
    return b"".join(path.read_bytes() for path in file.parent.glob(f"{file.name}*"))


async def test_a_shredded_key_is_gone_from_the_files(sqlite_store: Store, tmp_path: Path) -> None:
    log = ChainedAudit(sqlite_store, KEYS, FileHead(tmp_path / "head.json"))
    await fill(log)
    seeds = {row.subject: row.seed for row in await rows(sqlite_store, sa.select(t.seeds))}
    assert all(seed in bytes_of(sqlite_store) for seed in seeds.values())
    await log.erase(BOB, forgotten())
    assert seeds[KEYS.subject(BOB)] not in bytes_of(sqlite_store)
    assert seeds[KEYS.subject(ANN)] in bytes_of(sqlite_store)


async def test_nothing_personal_stands_in_the_open(store: Store, log: ChainedAudit) -> None:
    await fill(log)
    records = await rows(store, sa.select(t.records))
    stored = re.sub(r"[0-9a-f]{32,}", "", repr([tuple(row) for row in records]))  # digits occur in any hash
    for canary in ("Catherine", "Nguyen", "nguyen", "fifty", "5000", "ann", "bob"):
        assert canary not in stored
    facts = orjson.loads(records[0].facts)
    assert (facts["rule"], facts["score"]) == ("intent.transfer@3", 0.93)
    assert facts["said"] == facts["who"] == "[withheld]"


async def test_the_personal_part_opens_for_its_customer_until_it_is_shredded(store: Store, log: ChainedAudit) -> None:
    await fill(log)
    assert (await log.personal(BOB, 1))["payee"] == "Nguyen"
    for customer, seq in ((ANN, 1), (BOB, 99)):
        with pytest.raises(NotFound):
            await log.personal(customer, seq)
    await log.erase(BOB, forgotten())
    await log.erase(BOB, forgotten())
    with pytest.raises(NotFound):
        await log.personal(BOB, 1)
    assert (await log.personal(ANN, 2))["payee"] == "Nguyen"
    assert (await verify(store)).seq == 8


async def test_a_ciphertext_can_not_be_moved_or_read_with_another_key(store: Store, log: ChainedAudit) -> None:
    await fill(log)
    third = sa.select(t.records.c.personal).where(t.records.c.seq == 3).scalar_subquery()
    await forge(store, sa.update(t.records).where(t.records.c.seq == 1).values(personal=third))
    with pytest.raises(AuditBroken):
        await log.personal(BOB, 1)
    stranger = ChainedAudit(store, AuditKeys(b"b" * 32), log._export)
    with pytest.raises(NotFound):
        await stranger.personal(BOB, 1)


async def test_a_new_key_reads_and_erases_what_the_one_before_sealed(store: Store, log: ChainedAudit) -> None:
    await fill(log)
    keys = AuditKeys(b"n" * 32, b"a" * 32)
    rotated = ChainedAudit(store, keys, log._export)
    said = AuditRecord("turn", CallId("call-9"), AT, {}, {"payee": "Okafor"})
    await rotated.append(BOB, said)
    for seq, payee in ((1, "Nguyen"), (7, "Okafor")):
        assert (await rotated.personal(BOB, seq))["payee"] == payee
    with pytest.raises(NotFound):
        await log.personal(BOB, 7)
    assert dict(await rotated.days_by_key()) == {KEYS.ids[0]: 2, keys.ids[0]: 1}
    found = await store.look(lambda connection: rotated.has(BOB, connection, said))
    assert found
    assert await rotated.erase(BOB, forgotten())
    for seq in (1, 7):
        with pytest.raises(NotFound):
            await rotated.personal(BOB, seq)
    await log.append(BOB, said)
    with pytest.raises(NotFound):
        await log.personal(BOB, 9)
    assert (await rotated.personal(ANN, 2))["payee"] == "Nguyen"
    assert dict(await rotated.days_by_key()) == {KEYS.ids[0]: 1}
    assert (await verify(store)).seq == 9


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("facts", '{"turn":9}'), ("event", "turn.other"), ("call_id", "call-9"), ("at", 5), ("subject", "0" * 32),
        ("personal", b"x" * 40), ("personal", None), ("hash", "f" * 64), ("previous", "f" * 64),
    ],
)  # fmt: skip
@pytest.mark.parametrize("seq", [1, 4, 6])
async def test_a_flipped_record_is_found(
    sqlite_store: Store, tmp_path: Path, seq: int, column: str, value: object
) -> None:
    await fill(ChainedAudit(sqlite_store, KEYS, FileHead(tmp_path / "head.json")))
    await forge(sqlite_store, sa.update(t.records).where(t.records.c.seq == seq).values({column: value}))
    with pytest.raises(AuditBroken, match=str(seq)):
        await verify(sqlite_store)


@pytest.mark.parametrize("seq", [1, 4, 6])
async def test_a_dropped_record_is_found(store: Store, log: ChainedAudit, seq: int) -> None:
    await fill(log)
    await forge(store, sa.delete(t.records).where(t.records.c.seq == seq))
    with pytest.raises(AuditBroken):
        await verify(store)


async def test_reordered_records_are_found(store: Store, log: ChainedAudit) -> None:
    await fill(log)
    of = t.records.c.seq
    for seq, target in ((2, 90), (3, 2), (90, 3)):
        await forge(store, sa.update(t.records).where(of == seq).values(seq=target))
    with pytest.raises(AuditBroken):
        await verify(store)


async def test_an_end_cut_off_with_its_head_is_found_by_the_exported_head(
    store: Store, log: ChainedAudit, tmp_path: Path
) -> None:
    await fill(log)
    exported = read_heads(tmp_path / "head.json")
    ((fourth,),) = await rows(store, sa.select(t.records.c.hash).where(t.records.c.seq == 4))
    await forge(store, sa.delete(t.records).where(t.records.c.seq > 4), sa.update(t.head).values(seq=4, hash=fourth))
    assert (await verify(store)).seq == 4
    with pytest.raises(AuditBroken, match="record 6 was exported"):
        await verify(store, exported)


async def test_a_chain_rewritten_from_the_start_is_found_by_the_exported_head(
    store: Store, log: ChainedAudit, tmp_path: Path
) -> None:
    await fill(log)
    exported = read_heads(tmp_path / "head.json")
    forged = [dict(row._mapping) for row in await rows(store, sa.select(t.records).order_by(t.records.c.seq))]
    previous = "0" * 64
    forged[0]["facts"] = "{}"
    for row in forged:
        row["previous"] = previous
        row["hash"] = previous = chain_hash(row)
    await forge(
        store, sa.delete(t.records), sa.insert(t.records).values(forged), sa.update(t.head).values(hash=previous)
    )
    assert (await verify(store)).seq == 6
    with pytest.raises(AuditBroken):
        await verify(store, exported)


async def test_a_record_added_while_the_chain_is_walked_breaks_nothing(
    store: Store, log: ChainedAudit, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(log)
    look = store.look

    async def adding_at_the_end(work: Any) -> Any:
        found = await look(work)
        if found == []:
            await log.append(ANN, record())
        return found

    monkeypatch.setattr(store, "look", adding_at_the_end)
    assert (await verify(store)).seq == 6


@pytest.mark.parametrize("forged", [sa.delete(t.head), sa.update(t.head).values(seq=5)])
async def test_a_head_that_was_taken_away_or_set_back_is_found(
    sqlite_store: Store, tmp_path: Path, forged: sa.Executable
) -> None:
    await fill(ChainedAudit(sqlite_store, KEYS, FileHead(tmp_path / "head.json")))
    await forge(sqlite_store, forged)
    with pytest.raises(AuditBroken):
        await verify(sqlite_store)


async def test_heads_that_contradict_each_other_are_found(sqlite_store: Store, tmp_path: Path) -> None:
    await fill(ChainedAudit(sqlite_store, KEYS, FileHead(tmp_path / "head.json")))
    (true,) = read_heads(tmp_path / "head.json")
    with pytest.raises(AuditBroken, match="two hashes"):
        await verify(sqlite_store, [ChainHead(6, "f" * 64), true])


async def test_a_disk_that_takes_no_head_stops_no_record(
    sqlite_store: Store, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "heads"
    log = ChainedAudit(sqlite_store, KEYS, FileHead(folder / "head.json"))
    await fill(log, 2)
    assert "could not be exported" in caplog.text
    folder.mkdir()
    await fill(log, 1)
    assert list(read_heads(folder / "head.json")) == [await verify(sqlite_store)]


def test_of_many_heads_the_last_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.record.heads._MAX_LINES", 2)
    path = tmp_path / "heads"
    path.write_text("".join(f'{{"seq": {seq}, "hash": "{seq}"}}\n' for seq in range(1, 6)))
    assert [head.seq for head in read_heads(path)] == [4, 5]


def test_a_head_reaches_the_log_however_many_records_a_write_has(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "tellerline.audit.head")
    export = FileHead(tmp_path / "head.json")
    for seq in (99, 195, 196, 301):
        export.publish(ChainHead(seq, "0"), AT)
    assert [log.getMessage().split()[2] for log in caplog.records] == ["195", "301"]


def test_heads_only_go_forward(tmp_path: Path) -> None:
    path = tmp_path / "head.json"
    export = FileHead(path)
    for seq in (2, 1, 3):
        export.publish(ChainHead(seq, f"{seq}" * 64), AT)
    assert read_heads(path) == [ChainHead(3, "3" * 64)]
    FileHead(path).publish(ChainHead(2, "2" * 64), AT)
    assert read_heads(path) == [ChainHead(3, "3" * 64)]
    for torn in ("{", "", "\n"):
        path.write_text(torn)
        with pytest.raises(AuditBroken):
            read_heads(path)
        with pytest.raises(AuditBroken):
            FileHead(path)


def test_a_head_takes_the_place_of_another_only_once_it_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut behind the new name would leave a file of nothing."""
    export = FileHead(tmp_path / "head.json")
    export.publish(ChainHead(1, "1"), AT)
    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", Mock(side_effect=OSError))
        export.publish(ChainHead(2, "2"), AT)
    assert read_heads(tmp_path / "head.json") == [ChainHead(1, "1")]
    assert {path.name for path in tmp_path.iterdir()} == {"head.json", "head.lock"}
    export.publish(ChainHead(1, "1"), AT)
    assert read_heads(tmp_path / "head.json") == [ChainHead(2, "2")], "the newest that was asked for"


def test_the_command(sqlite_template: Path, tmp_path: Path) -> None:
    database, heads = tmp_path / "audit.db", tmp_path / "head.json"
    database.write_bytes(sqlite_template.read_bytes())
    url = f"sqlite:///{database}"

    async def write(*statements: sa.Executable) -> None:
        store = Store(url)
        if not statements:
            await fill(ChainedAudit(store, KEYS, FileHead(heads)))
        await forge(store, *statements)
        await store.close()

    asyncio.run(write())
    wanted = ["audit", "verify", "--database", url, "--heads", str(heads)]
    good = CliRunner().invoke(main, wanted)
    assert (good.exit_code, good.output.split()[0]) == (0, "6")
    asyncio.run(write(sa.update(t.records).where(t.records.c.seq == 2).values(facts="{}")))
    bad = CliRunner().invoke(main, wanted)
    assert bad.exit_code == 1
    assert "record 2 was changed" in bad.output


def test_a_weak_key_is_refused() -> None:
    with pytest.raises(ConfigInvalid):
        AuditKeys(b"short")


def test_writers_that_share_a_file_never_take_it_back(tmp_path: Path) -> None:
    """Two gateways of one state folder, in containers where each is process 1."""
    at = datetime(2026, 3, 4, tzinfo=UTC)
    one, other = FileHead(tmp_path / "audit.head"), FileHead(tmp_path / "audit.head")
    one.publish(ChainHead(5, "e"), at)
    other.publish(ChainHead(3, "c"), at)
    assert [head.seq for head in read_heads(tmp_path / "audit.head")] == [5]
    other.publish(ChainHead(6, "f"), at)
    one.publish(ChainHead(6, "f"), at)
    assert [head.seq for head in read_heads(tmp_path / "audit.head")] == [6]
