"""Brings a bank's customers, payees, cards, bills and limits into the directory; the same file twice changes nothing.

What is not in the file stays as it is. A payee whose account, name or holder changed gets a version that it never had,
also where it was removed meanwhile, so that no confirmation that was read back before still counts.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import partial
from typing import Any, Final

import sqlalchemy as sa

from schemas.directory import (
    BillRecord,
    CardRecord,
    CustomerRecord,
    DirectoryRecord,
    LimitsRecord,
    PayeeRecord,
    RemoveRecord,
)
from services.banking.banks import tables as t
from services.banking.banks.directory import MAX_PAYEES
from services.store import Store

Row = Mapping[str, Any]
Changes = Counter[tuple[str, str]]
"""How many of each kind were new, changed, removed or already so, by (kind, what)."""

_ACCOUNT: Final = ("name", "kana", "bank", "account_last4", "currency", "holder", "route")
"""What a payee's version stands for."""
BATCH_RECORDS: Final = 500
"""What is written at once takes a fraction of the time that any transaction is given."""
_TABLES: Final = {"payee": t.payees, "card": t.cards, "bill": t.bills}
_EVERY: Final = (t.customers, t.limits, *_TABLES.values(), t.gone_payees)
"""In the order in which rows are written."""


@dataclass(frozen=True, slots=True)
class LineFault:
    """What is wrong with one line, counted from 1."""

    line: int
    said: str


@dataclass(slots=True)
class Household:
    """All that a file says of one customer, by line."""

    customer: str
    records: list[tuple[int, DirectoryRecord]] = field(default_factory=list)


def households(records: Iterable[tuple[int, DirectoryRecord]]) -> tuple[list[Household], list[LineFault]]:
    """Records by customer in the order of their first line, and the lines that say something twice."""
    found: dict[str, Household] = {}
    seen: dict[tuple[str, ...], int] = {}
    faults: list[LineFault] = []
    for line, record in records:
        before = seen.setdefault(_identity(record), line)
        if before != line:
            faults.append(LineFault(line, f"says again what line {before} says"))
        found.setdefault(record.customer, Household(record.customer)).records.append((line, record))
    return list(found.values()), faults


def _identity(record: DirectoryRecord) -> tuple[str, ...]:
    match record:
        case CustomerRecord():
            return ("customer", record.customer)
        case LimitsRecord():
            return ("limits", record.customer, record.currency)
        case RemoveRecord():
            return (record.kind, record.customer, record.id)
        case _:
            return (record.type, record.customer, record.id)


def batches(families: Iterable[Household]) -> Iterator[list[Household]]:
    """Households that are looked at, and written, together: as many as have some hundred records, at least one."""
    batch: list[Household] = []
    size = 0
    for family in families:
        batch.append(family)
        size += len(family.records)
        if size >= BATCH_RECORDS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class DirectoryImport:
    """Writes households, a batch in a transaction, or only says what would change."""

    def __init__(self, store: Store, today: date) -> None:
        """`today` is UTC's; somewhere a day is begun already that it has not reached."""
        self._store = store
        self._latest = today + timedelta(days=1)

    async def check(self, batch: Sequence[Household]) -> tuple[list[LineFault], Changes]:
        """What is missing for households to be written, and what writing them would change."""
        early = [
            LineFault(line, f"last_paid: {record.last_paid} is still to come; leave it out where nothing was paid")
            for household in batch
            for line, record in household.records
            if isinstance(record, PayeeRecord) and record.last_paid is not None and record.last_paid > self._latest
        ]
        faults, changes = await self._store.look(partial(_check, batch))
        return early + faults, changes

    async def write(self, batch: Sequence[Household]) -> Changes:
        """Write them. Raises StoreUnavailable; a household is written whole or not at all."""
        return await self._store.transact("bank.import", partial(_write, batch))


Present = Mapping[tuple[str, str], Mapping[str, Row]]
"""The rows that are there, by table and customer, then by id or currency."""


def _present(batch: Sequence[Household], connection: sa.Connection) -> Present:
    customers = [household.customer for household in batch]
    found: dict[tuple[str, str], dict[str, Row]] = {}
    for table in _EVERY:
        owner, name = ("id" if table is t.customers else "customer_id"), ("currency" if table is t.limits else "id")
        for row in connection.execute(sa.select(table).where(table.c[owner].in_(customers))).mappings():
            found.setdefault((table.name, row[owner]), {})[row[name]] = dict(row)
    return found


def _check(batch: Sequence[Household], connection: sa.Connection) -> tuple[list[LineFault], Changes]:
    present, faults, changes = _present(batch, connection), list[LineFault](), Changes()
    for household in batch:
        plan = _plan(household, present)
        faults += _faults(household, plan)
        changes.update(plan.changes)
    return faults, changes


def _faults(household: Household, plan: "_Plan") -> list[LineFault]:
    records = household.records
    faults = []
    if not plan.customer_known and not any(isinstance(record, CustomerRecord) for _, record in records):
        faults.append(LineFault(records[0][0], f"no such customer: {household.customer}"))
    payees = {key for kind, key in plan.after if kind == "payee"}
    for line, record in records:
        if isinstance(record, BillRecord) and record.payee not in payees:
            faults.append(LineFault(line, f"the bill's payee is not there: {record.payee}"))
        if isinstance(record, BillRecord) and (record.minimum_minor or 0) > record.due_minor:
            faults.append(LineFault(line, "the least to be paid is more than what is due"))
        if isinstance(record, LimitsRecord) and not record.step_up_above <= record.per_transfer <= record.per_day:
            faults.append(LineFault(line, "of step_up_above, per_transfer and per_day none is above the next"))
    if len(payees) > MAX_PAYEES:
        faults.append(LineFault(records[-1][0], f"more than {MAX_PAYEES} payees"))
    return faults


def _write(batch: Sequence[Household], connection: sa.Connection) -> Changes:
    present, changes = _present(batch, connection), Changes()
    written: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for household in batch:
        plan = _plan(household, present)
        for name, rows in (("insert", plan.inserts), ("update", plan.updates), ("delete", plan.deletes)):
            for table, row in rows:
                written[name, table.name].append({**row, **{f"its_{key}": value for key, value in row.items()}})
        changes.update(plan.changes)
    for table in _EVERY:
        same = sa.and_(*(column == sa.bindparam(f"its_{column.name}") for column in table.primary_key))
        statements = (sa.insert(table), sa.update(table).where(same), sa.delete(table).where(same))
        for name, statement in zip(("insert", "update", "delete"), statements, strict=True):
            if given := written[name, table.name]:
                connection.execute(statement, given)
    return changes


@dataclass(slots=True)
class _Plan:
    """What has to be written for one household, over what is there."""

    customer_known: bool
    after: set[tuple[str, str]] = field(default_factory=set)
    inserts: list[tuple[sa.Table, Row]] = field(default_factory=list)
    updates: list[tuple[sa.Table, Row]] = field(default_factory=list)
    deletes: list[tuple[sa.Table, Row]] = field(default_factory=list)
    changes: Changes = field(default_factory=Counter)

    def put(self, kind: str, table: sa.Table, before: Row | None, row: dict[str, Any]) -> None:
        """One row as it shall be."""
        if before is None:
            self.inserts.append((table, row))
            self.changes[kind, "new"] += 1
        elif any(before[name] != value for name, value in row.items()):
            self.updates.append((table, row))
            self.changes[kind, "changed"] += 1
        else:
            self.changes[kind, "as before"] += 1


def _plan(household: Household, present: Present) -> _Plan:
    customer = household.customer
    people, limits, payees, cards, bills, gone = (present.get((table.name, customer), {}) for table in _EVERY)
    known = dict(zip(_TABLES, (payees, cards, bills), strict=True))
    plan = _Plan(customer in people, {(kind, key) for kind, rows in known.items() for key in rows})
    places = Counter(
        {k: max((row.get("position", 0) for row in rows.values()), default=0) for k, rows in known.items()}
    )
    for _, record in household.records:
        match record:
            case CustomerRecord():
                row = record.model_dump(exclude={"type", "customer"}) | {"id": customer}
                plan.put("customer", t.customers, people.get(customer), row)
            case LimitsRecord():
                row = record.model_dump(exclude={"type", "customer"}) | {"customer_id": customer}
                plan.put("limits", t.limits, limits.get(record.currency), row)
            case RemoveRecord():
                _remove(plan, record, known[record.kind].get(record.id), gone.get(record.id))
            case _:
                before = known[record.type].get(record.id)
                plan.after.add((record.type, record.id))
                places[record.type] += before is None
                row = _row(record, before, places[record.type])
                if record.type == "payee":
                    row["version"] = _version(row, before, gone.get(record.id))
                plan.put(record.type, _TABLES[record.type], before, row)
    return plan


def _remove(plan: _Plan, record: RemoveRecord, before: Row | None, gone: Row | None) -> None:
    plan.after.discard((record.kind, record.id))
    if before is not None:
        plan.deletes.append((_TABLES[record.kind], before))
        if record.kind == "payee":
            last = {name: before[name] for name in t.gone_payees.c.keys()}  # noqa: SIM118 - columns, no dictionary
            (plan.inserts if gone is None else plan.updates).append((t.gone_payees, last))
    plan.changes[record.kind, "removed" if before is not None else "as before"] += 1


def _row(record: PayeeRecord | CardRecord | BillRecord, before: Row | None, place: int) -> dict[str, Any]:
    """The record as its table has it; what a file leaves open stays as it is."""
    row = record.model_dump(exclude={"type", "customer"}) | {"customer_id": record.customer}
    match record:
        case PayeeRecord():
            paid = record.last_paid.isoformat() if record.last_paid else None
            known = (before or {}).get("last_paid")  # also by us, since the file was written
            row |= {"aliases": list(record.aliases), "last_paid": max(filter(None, (paid, known)), default=None)}
        case CardRecord():
            row["locked"] = record.locked if record.locked is not None else bool((before or {}).get("locked", False))
            row["position"] = before["position"] if before else place
        case BillRecord():
            row["payee_id"] = row.pop("payee")
            row |= {"due_on": record.due_on.isoformat(), "position": before["position"] if before else place}
    return row


def _version(row: Row, before: Row | None, gone: Row | None) -> int:
    """`gone`: what is known of a payee of this name that was removed."""
    last = before or gone
    version: int = last["version"] if last else 0
    return version + (before is None or any(before[name] != row[name] for name in _ACCOUNT))


def told(changes: Changes) -> Sequence[str]:
    """One line a kind, for people."""
    kinds = sorted({kind for kind, _ in changes})
    order = ("new", "changed", "removed", "as before")
    return [
        f"{kind}: " + ", ".join(f"{changes[kind, what]} {what}" for what in order if changes[kind, what])
        for kind in kinds
    ]
