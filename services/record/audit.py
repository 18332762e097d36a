"""The audit log: append-only, each record chained to the one before by SHA-256, the head handed outside.

A chain alone can't show that its end was cut off; the exported heads can. What is personal is encrypted with the
customer's own key of that day, derived from the master key and a seed: deleting seeds shreds a customer, or a day, and
the chain still verifies, since it is taken over the ciphertext.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from typing import Any, Final, Protocol

import orjson
import sqlalchemy as sa
from cryptography.exceptions import InvalidTag

from schemas.audit import AuditRecord, AuditValue
from schemas.errors import AuditBroken, NotFound, StoreUnavailable
from schemas.ids import CustomerId
from services.disk import on_disk
from services.guard import open_facts
from services.record import tables as t
from services.record.audit_keys import ID_BYTES, SEED_BYTES, AuditKeys
from services.record.chain import ChainHead, chain_hash, lock_head, move_head
from services.store import Store, insert_new, instant, micros
from services.timing import finish

log = logging.getLogger(__name__)

_EXPORT_S: Final = 0.3


class HeadExport(Protocol):
    """Takes heads to a place the database's administrator can't rewrite."""

    def publish(self, head: ChainHead, at: datetime) -> None:
        """Note a new head; older ones than the newest may come late and change nothing. May block: runs on a thread."""
        ...


Given = tuple[CustomerId, AuditRecord]
Work = Callable[[sa.Connection], Sequence[Given]]
"""Writes what the records it gives are about."""


class ChainedAudit:
    """AuditLog over a Store."""

    def __init__(self, store: Store, keys: AuditKeys, export: HeadExport) -> None:
        self._store = store
        self._keys = keys
        self._export = export
        self._publishing: asyncio.Future[None] | None = None
        """One that its disk holds up."""
        self._forgotten = date.min

    async def append(self, customer: CustomerId, record: AuditRecord) -> str:
        """Store a record, even if the caller is cancelled; the chain's new head (hex). Raises StoreUnavailable."""
        [head] = await finish(self._append("audit.append", lambda _: [(customer, record)]))
        return head.hash

    async def append_with(self, name: str, work: Work) -> int:
        """Store the records that `work` gives, in the transaction in which it runs; how many there were.

        What `work` writes and the records are durable together, or neither happened. Raises StoreUnavailable.
        """
        return len(await finish(self._append(name, work)))

    async def _append(self, name: str, work: Work) -> Sequence[ChainHead]:
        def appending(connection: sa.Connection) -> tuple[Sequence[Given], Sequence[ChainHead]]:
            given = work(connection)
            return given, self._chain(connection, given) if given else ()

        given, heads = await self._store.transact(name, appending)
        if heads:
            await self._publish(heads[-1], given[-1][1].at)
        return heads

    async def _publish(self, head: ChainHead, at: datetime) -> None:
        """The record itself is durable: a disk that falls silent keeps neither it nor the next one waiting."""
        if self._publishing is not None and not self._publishing.done():
            log.error("the audit's head is not exported: its disk does not answer")
            return
        publishing = asyncio.ensure_future(on_disk.run(None, self._export.publish, head, at))
        await asyncio.wait({publishing}, timeout=_EXPORT_S)
        if not publishing.done():
            self._publishing = publishing
        elif isinstance(error := publishing.exception(), StoreUnavailable):
            log.error("the audit's head is not exported: %s", error.message)
        else:
            publishing.result()

    def has(self, customer: CustomerId, connection: sa.Connection, record: AuditRecord) -> bool:
        """Within a transaction: whether a record is in the chain, whose end is locked by this."""
        lock_head(connection)
        r = t.records.c
        same = r.subject.in_(self._keys.subjects(customer)) & (r.at == micros(record.at)) & (r.event == record.event)
        found = connection.execute(sa.select(r.seq).where(same & (r.call_id == (record.call or ""))).limit(1))
        return found.first() is not None

    def _chain(self, connection: sa.Connection, given: Sequence[Given]) -> Sequence[ChainHead]:
        """Within a transaction: add records to the chain; its end after each of them."""
        heads, rows = [lock_head(connection)], []
        for customer, record in given:
            rows.append(self._row(customer, connection, heads[-1], record))
            heads.append(ChainHead(rows[-1]["seq"], rows[-1]["hash"]))
        connection.execute(sa.insert(t.records), rows)
        move_head(connection, heads[-1])
        return heads[1:]

    def _row(
        self, customer: CustomerId, connection: sa.Connection, last: ChainHead, record: AuditRecord
    ) -> dict[str, Any]:
        """A record as it is stored after `last`."""
        subjects, seq = self._keys.subjects(customer), last.seq + 1
        row: dict[str, Any] = {
            "seq": seq,
            "previous": last.hash,
            "at": micros(record.at),
            "event": record.event,
            "call_id": record.call or "",
            "subject": subjects[0],
            "facts": orjson.dumps(open_facts(record.facts, record.personal), option=orjson.OPT_SORT_KEYS).decode(),
            "personal": self._sealed(connection, subjects, seq, record),
        }
        return row | {"hash": chain_hash(row)}

    async def personal(self, customer: CustomerId, seq: int) -> dict[str, AuditValue]:
        """The personal part of a record of the customer's. Raises AuditBroken; NotFound, also once it was shredded."""
        mine = t.records.c.subject.in_(self._keys.subjects(customer)) & (t.records.c.seq == seq)
        wanted = sa.select(t.records.c.personal, t.records.c.at, t.records.c.subject).where(mine)

        def looking(connection: sa.Connection) -> tuple[sa.Row[Any] | None, bytes | None]:
            row = connection.execute(wanted).first()
            return row, _seed(connection, row.subject, instant(row.at)) if row else None

        row, seed = await self._store.look(looking)
        if row is None or row.personal is None or seed is None:
            raise NotFound("nothing personal is on record")
        try:
            text = self._keys.opened(row.subject, seed, row.personal, _bound(row.subject, seq))
        except InvalidTag as error:
            raise AuditBroken(f"record {seq}: its personal part does not decrypt") from error
        found: dict[str, AuditValue] = orjson.loads(text)
        return found

    async def erase(self, customer: CustomerId, record: AuditRecord) -> bool:
        """Make everything personal of a customer unreadable for ever, and put that on record, both or neither.

        Whether anything of the customer was on record: under another master key nothing is, and all of it stays.
        What was said before and is not on record yet, in whichever spool it waits, loses its words when it comes.
        """
        subjects, until = self._keys.subjects(customer), {"until": micros(record.at)}
        found = False

        def erasing(connection: sa.Connection) -> Sequence[Given]:
            nonlocal found
            lock_head(connection)  # what is being written now comes before it, and is shredded, or after it
            of_theirs = t.records.c.subject.in_(subjects) & (t.records.c.event != record.event)
            found = connection.execute(sa.select(t.records.c.seq).where(of_theirs).limit(1)).first() is not None
            connection.execute(sa.delete(t.seeds).where(t.seeds.c.subject.in_(subjects)))
            for subject in subjects:
                if not insert_new(connection, t.erased, {"subject": subject} | until):
                    connection.execute(sa.update(t.erased).where(t.erased.c.subject == subject).values(until))
            return ((customer, record),)

        await self.append_with("audit.erase", erasing)
        await self._store.erased("audit.erase")
        return found

    async def forget(self, through: date) -> int:
        """Make everything personal said on the UTC day `through` or before unreadable for ever; customer days lost.

        What was said then and comes later, out of a spool, comes without its words.
        """
        self._forgotten = through
        await self._store.transact("audit.forget", lock_head)  # what is being written now is there before it
        gone = sa.delete(t.seeds).where(t.seeds.c.day <= through.isoformat())
        return await self._store.erase("audit.forget", gone)

    async def days_by_key(self) -> Counter[bytes]:
        """How many customer days of words are under which key, by its id; of what tells none, nothing."""
        told, named = sa.func.length(t.seeds.c.seed) == SEED_BYTES, sa.func.substr(t.seeds.c.seed, 1, ID_BYTES)
        wanted = sa.select(named.label("key"), sa.func.count().label("days")).where(told).group_by(named)
        rows = await self._store.look(lambda connection: connection.execute(wanted).all())
        return Counter({bytes(row.key): row.days for row in rows})

    def _sealed(
        self, connection: sa.Connection, subjects: Sequence[str], seq: int, record: AuditRecord
    ) -> bytes | None:
        if not record.personal or _day(record.at) <= self._forgotten.isoformat():
            return None
        if _erased(connection, subjects, record.at):
            return None
        subject = subjects[0]
        fresh = {"subject": subject, "day": _day(record.at), "seed": self._keys.seed()}
        insert_new(connection, t.seeds, fresh)
        seed = _seed(connection, subject, record.at)
        if seed is None:
            raise StoreUnavailable("a key seed went missing")
        return self._keys.seal(subject, seed, orjson.dumps(record.personal), _bound(subject, seq))


def _erased(connection: sa.Connection, subjects: Sequence[str], at: datetime) -> bool:
    """Whether all that a customer said until then was to be forgotten."""
    since = sa.select(t.erased.c.until).where(t.erased.c.subject.in_(subjects) & (t.erased.c.until >= micros(at)))
    return connection.execute(since).first() is not None


def _seed(connection: sa.Connection, subject: str, at: datetime) -> bytes | None:
    """The seed of a customer's day, unless it was shredded."""
    mine = (t.seeds.c.subject == subject) & (t.seeds.c.day == _day(at))
    found: bytes | None = connection.execute(sa.select(t.seeds.c.seed).where(mine)).scalar()
    return found


def _day(at: datetime) -> str:
    return at.astimezone(UTC).date().isoformat()


def _bound(subject: str, seq: int) -> bytes:
    """What a ciphertext belongs to, so that it can't be moved to another record."""
    return f"{subject}:{seq}".encode()
