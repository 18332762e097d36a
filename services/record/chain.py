"""The chain that records stand in, and the walk over it that shows whether it is whole.

A chain alone can't show that its end was cut off; heads that were exported can.
"""

import hashlib
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final

import sqlalchemy as sa

from schemas.errors import AuditBroken
from services.record import tables as t
from services.store import Store, insert_new, instant

GENESIS: Final = "0" * 64
_BATCH: Final = 500
_HEAD: Final = 1


@dataclass(frozen=True, slots=True)
class ChainHead:
    """The chain's end at some moment: the record's number and hash (hex)."""

    seq: int
    hash: str


def chain_hash(row: dict[str, Any]) -> str:
    """SHA-256 (hex) over a record's every field and the hash before it; fields are preceded by their length."""
    personal = b"" if row["personal"] is None else b"\x01" + row["personal"]
    names = ("seq", "previous", "at", "event", "call_id", "subject", "facts")
    fields = [str(row[name]).encode() for name in names] + [personal]
    return hashlib.sha256(b"".join(b"%d:%b" % (len(field), field) for field in fields)).hexdigest()


async def verify(store: Store, exported: Iterable[ChainHead] = ()) -> ChainHead:
    """Walk the whole chain; returns its head. Raises AuditBroken naming the first record that does not fit.

    A flipped byte breaks its record's hash, a dropped or reordered record the numbering or the link, and a cut-off end
    the head in the database or one of those `exported`.
    """
    anchors = _anchors(exported)
    last, before = ChainHead(0, GENESIS), await _stored_head(store)
    async for row in _records(store):
        if row["seq"] != last.seq + 1:
            raise AuditBroken(f"record {last.seq + 1} is missing")
        if row["previous"] != last.hash:
            raise AuditBroken(f"record {row['seq']} does not follow the one before")
        if row["hash"] != chain_hash(row):
            raise AuditBroken(f"record {row['seq']} was changed")
        last = ChainHead(row["seq"], row["hash"])
        if anchors.pop(last.seq, last.hash) != last.hash:
            raise AuditBroken(f"record {last.seq} is not the one whose hash was exported")
        if last.seq == before.seq and last.hash != before.hash:
            raise AuditBroken(f"record {last.seq} is not the one that was the chain's head")
    anchors.pop(0, None)
    if anchors:
        raise AuditBroken(f"the chain ends at record {last.seq}, but record {max(anchors)} was exported")
    after = await _stored_head(store)
    if not before.seq <= last.seq <= after.seq:  # records may be added while the chain is walked
        raise AuditBroken(f"the chain ends at record {last.seq}, but its head is record {after.seq}")
    return last


async def told_time(store: Store, now: datetime) -> datetime:
    """What another clock than that which says `now` tells: the database's; of a file, its last record, if it is later.

    Raises StoreUnavailable.
    """
    last = sa.select(t.records.c.at).order_by(t.records.c.seq.desc()).limit(1)
    by_database = await store.clock()
    if by_database is not None:
        return by_database
    written = await store.look(lambda connection: connection.execute(last).scalar())
    return now if written is None else max(now, instant(written))


def _anchors(exported: Iterable[ChainHead]) -> dict[int, str]:
    """What records' hashes have to be, by number. Raises AuditBroken where one was exported with two."""
    anchors: dict[int, str] = {}
    for head in exported:
        if anchors.setdefault(head.seq, head.hash) != head.hash:
            raise AuditBroken(f"record {head.seq} was exported with two hashes")
    return anchors


async def _stored_head(store: Store) -> ChainHead:
    """The chain's end as the database notes it."""
    row = await store.look(lambda connection: connection.execute(sa.select(t.head.c.seq, t.head.c.hash)).first())
    return ChainHead(0, GENESIS) if row is None else ChainHead(row.seq, row.hash)


async def _records(store: Store) -> AsyncIterator[dict[str, Any]]:
    """Every record in order, a batch at a time."""
    after = 0
    while True:
        rows = await store.look(partial(_batch, after))
        for row in rows:
            yield dict(row._mapping)  # noqa: SLF001 - SQLAlchemy's public name for a row's mapping
            after = row.seq
        if not rows:
            return


def _batch(after: int, connection: sa.Connection) -> Sequence[sa.Row[Any]]:
    wanted = sa.select(t.records).where(t.records.c.seq > after).order_by(t.records.c.seq).limit(_BATCH)
    return connection.execute(wanted).all()


def lock_head(connection: sa.Connection) -> ChainHead:
    """The chain's end, locked until the transaction ends, so that appends follow one another."""
    wanted = sa.select(t.head.c.seq, t.head.c.hash).where(t.head.c.id == _HEAD).with_for_update()
    row = connection.execute(wanted).first()
    if row is None:
        insert_new(connection, t.head, {"id": _HEAD, "seq": 0, "hash": GENESIS})
        row = connection.execute(wanted).one()
    return ChainHead(row.seq, row.hash)


def move_head(connection: sa.Connection, head: ChainHead) -> None:
    """Within the transaction that locked it: the chain ends here now."""
    connection.execute(sa.update(t.head).where(t.head.c.id == _HEAD).values(seq=head.seq, hash=head.hash))
