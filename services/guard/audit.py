"""The audit log: append-only, each record chained to the one before by SHA-256, the head handed outside.

A chain alone can't show that its end was cut off; the exported heads can. What is personal is encrypted with the
customer's own key of that day, derived from the master key and a seed: deleting seeds shreds a customer, or a day, and
the chain still verifies, since it is taken over the ciphertext.
"""

import asyncio
import hashlib
import hmac
import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from typing import Any, Final, Protocol

import orjson
import sqlalchemy as sa
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from schemas.audit import AuditRecord, AuditValue
from schemas.errors import AuditBroken, ConfigInvalid, NotFound, StoreUnavailable
from schemas.ids import CustomerId
from services.finish import finish
from services.guard import audit_tables as t
from services.guard.redact import open_facts
from services.store import Store, insert_new, instant, micros

GENESIS: Final = "0" * 64
MIN_KEY_BYTES: Final = 32
_SEED_BYTES, _NONCE_BYTES, _SUBJECT_DIGITS = 32, 12, 32
_BATCH: Final = 500
_HEAD: Final = 1
_PERSONAL: Final = b"tellerline.audit.personal.1"


@dataclass(frozen=True, slots=True)
class Head:
    """The chain's end at some moment: the record's number and hash (hex)."""

    seq: int
    hash: str


class HeadExport(Protocol):
    """Takes heads to a place the database's administrator can't rewrite."""

    def publish(self, head: Head, at: datetime) -> None:
        """Note a new head; older ones than the newest may come late and change nothing. May block: runs on a thread."""
        ...


Given = tuple[CustomerId, AuditRecord]
Work = Callable[[sa.Connection], Sequence[Given]]
"""Writes what the records it gives are about."""


class AuditKeys:
    """Derives what the audit needs from one master key: pseudonyms, and one encryption key a customer and day."""

    def __init__(self, master: bytes) -> None:
        if len(master) < MIN_KEY_BYTES:
            raise ConfigInvalid(f"an audit key needs {MIN_KEY_BYTES} bytes")
        self._master = master
        self._pseudonyms = _derive(master, b"", b"tellerline.audit.subject.1")

    def subject(self, customer: CustomerId) -> str:
        """The customer's pseudonym in the chain."""
        return hmac.new(self._pseudonyms, customer.encode(), hashlib.sha256).hexdigest()[:_SUBJECT_DIGITS]

    def cipher(self, subject: str, seed: bytes, purpose: bytes = _PERSONAL) -> AESGCM:
        """AES-256-GCM under the customer's key for this seed and purpose."""
        return AESGCM(_derive(self._master, seed, purpose + subject.encode()))


class ChainedAudit:
    """AuditLog over a Store."""

    def __init__(self, store: Store, keys: AuditKeys, export: HeadExport) -> None:
        self._store = store
        self._keys = keys
        self._export = export

    async def append(self, customer: CustomerId, record: AuditRecord) -> str:
        """Store a record, even if the caller is cancelled; the chain's new head (hex). Raises StoreUnavailable."""
        [head] = await finish(self._append("audit.append", lambda _: [(customer, record)]))
        return head.hash

    async def append_with(self, name: str, work: Work) -> int:
        """Store the records that `work` gives, in the transaction in which it runs; how many there were.

        What `work` writes and the records are durable together, or neither happened. Raises StoreUnavailable.
        """
        return len(await finish(self._append(name, work)))

    async def _append(self, name: str, work: Work) -> Sequence[Head]:
        def appending(connection: sa.Connection) -> tuple[Sequence[Given], Sequence[Head]]:
            given = work(connection)
            return given, self._chain(connection, given) if given else ()

        given, heads = await self._store.transact(name, appending)
        if heads:
            await asyncio.to_thread(self._export.publish, heads[-1], given[-1][1].at)
        return heads

    def _chain(self, connection: sa.Connection, given: Sequence[Given]) -> Sequence[Head]:
        """Within a transaction: add records to the chain; its end after each of them."""
        heads, rows = [_lock_head(connection)], []
        for customer, record in given:
            rows.append(self._row(customer, connection, heads[-1], record))
            heads.append(Head(rows[-1]["seq"], rows[-1]["hash"]))
        connection.execute(sa.insert(t.records), rows)
        last = {"seq": heads[-1].seq, "hash": heads[-1].hash}
        connection.execute(sa.update(t.head).where(t.head.c.id == _HEAD).values(last))
        return heads[1:]

    def _row(self, customer: CustomerId, connection: sa.Connection, last: Head, record: AuditRecord) -> dict[str, Any]:
        """A record as it is stored after `last`."""
        subject, seq = self._keys.subject(customer), last.seq + 1
        row: dict[str, Any] = {
            "seq": seq,
            "previous": last.hash,
            "at": micros(record.at),
            "event": record.event,
            "call_id": record.call or "",
            "subject": subject,
            "facts": orjson.dumps(open_facts(record.facts, record.personal), option=orjson.OPT_SORT_KEYS).decode(),
            "personal": self._sealed(connection, subject, seq, record),
        }
        return row | {"hash": chain_hash(row)}

    async def personal(self, customer: CustomerId, seq: int) -> dict[str, AuditValue]:
        """The personal part of one of the customer's records. Raises NotFound, also once it was shredded."""
        subject = self._keys.subject(customer)
        mine = (t.records.c.subject == subject) & (t.records.c.seq == seq)
        wanted = sa.select(t.records.c.personal, t.records.c.at).where(mine)

        def looking(connection: sa.Connection) -> tuple[sa.Row[Any] | None, bytes | None]:
            row = connection.execute(wanted).first()
            return row, _seed(connection, subject, instant(row.at)) if row else None

        row, seed = await self._store.look(looking)
        if row is None or row.personal is None or seed is None:
            raise NotFound("nothing personal is on record")
        stored = row.personal
        try:
            nonce, sealed = stored[:_NONCE_BYTES], stored[_NONCE_BYTES:]
            text = self._keys.cipher(subject, seed).decrypt(nonce, sealed, _bound(subject, seq))
        except InvalidTag as error:
            raise AuditBroken(f"record {seq}: its personal part does not decrypt") from error
        found: dict[str, AuditValue] = orjson.loads(text)
        return found

    async def shred(self, customer: CustomerId) -> bool:
        """Make everything personal of a customer unreadable for ever; whether there was anything."""
        gone = sa.delete(t.seeds).where(t.seeds.c.subject == self._keys.subject(customer))
        return await self._store.erase("audit.shred", gone) > 0

    async def forget(self, through: date) -> int:
        """Make everything personal said on the UTC day `through` or before unreadable for ever; customer days lost."""
        gone = sa.delete(t.seeds).where(t.seeds.c.day <= through.isoformat())
        return await self._store.erase("audit.forget", gone)

    def _sealed(self, connection: sa.Connection, subject: str, seq: int, record: AuditRecord) -> bytes | None:
        if not record.personal:
            return None
        fresh = {"subject": subject, "day": _day(record.at), "seed": secrets.token_bytes(_SEED_BYTES)}
        insert_new(connection, t.seeds, fresh)
        seed = _seed(connection, subject, record.at)
        if seed is None:
            raise StoreUnavailable("a key seed went missing")
        nonce, text = secrets.token_bytes(_NONCE_BYTES), orjson.dumps(record.personal)
        return nonce + self._keys.cipher(subject, seed).encrypt(nonce, text, _bound(subject, seq))


def chain_hash(row: dict[str, Any]) -> str:
    """SHA-256 (hex) over a record's every field and the hash before it; fields are preceded by their length."""
    personal = b"" if row["personal"] is None else b"\x01" + row["personal"]
    names = ("seq", "previous", "at", "event", "call_id", "subject", "facts")
    fields = [str(row[name]).encode() for name in names] + [personal]
    return hashlib.sha256(b"".join(b"%d:%b" % (len(field), field) for field in fields)).hexdigest()


async def verify(store: Store, exported: Iterable[Head] = ()) -> Head:
    """Walk the whole chain; returns its head. Raises AuditBroken naming the first record that does not fit.

    A flipped byte breaks its record's hash, a dropped or reordered record the numbering or the link, and a cut-off end
    the head in the database or one of those `exported`.
    """
    anchors = _anchors(exported)
    last, before = Head(0, GENESIS), await _stored_head(store)
    async for row in _records(store):
        if row["seq"] != last.seq + 1:
            raise AuditBroken(f"record {last.seq + 1} is missing")
        if row["previous"] != last.hash:
            raise AuditBroken(f"record {row['seq']} does not follow the one before")
        if row["hash"] != chain_hash(row):
            raise AuditBroken(f"record {row['seq']} was changed")
        last = Head(row["seq"], row["hash"])
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


def _anchors(exported: Iterable[Head]) -> dict[int, str]:
    """What records' hashes have to be, by number. Raises AuditBroken where one was exported with two."""
    anchors: dict[int, str] = {}
    for head in exported:
        if anchors.setdefault(head.seq, head.hash) != head.hash:
            raise AuditBroken(f"record {head.seq} was exported with two hashes")
    return anchors


async def _stored_head(store: Store) -> Head:
    """The chain's end as the database notes it."""
    row = await store.look(lambda connection: connection.execute(sa.select(t.head.c.seq, t.head.c.hash)).first())
    return Head(0, GENESIS) if row is None else Head(row.seq, row.hash)


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


def _lock_head(connection: sa.Connection) -> Head:
    """The chain's end, locked until the transaction ends, so that appends follow one another."""
    wanted = sa.select(t.head.c.seq, t.head.c.hash).where(t.head.c.id == _HEAD).with_for_update()
    row = connection.execute(wanted).first()
    if row is None:
        insert_new(connection, t.head, {"id": _HEAD, "seq": 0, "hash": GENESIS})
        row = connection.execute(wanted).one()
    return Head(row.seq, row.hash)


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


def _derive(key: bytes, salt: bytes, purpose: bytes) -> bytes:
    return HKDF(SHA256(), 32, salt or None, purpose).derive(key)
