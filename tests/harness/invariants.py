"""What must hold of ledger and bank together, whatever happened. Each check reads the database, never a model."""

from collections import Counter

import orjson
import sqlalchemy as sa

from schemas.banking import BankOutcome, TransferState
from services.banking.banks import tables as t
from services.banking.banks.sandbox import books
from services.banking.tables import spending, transfers
from services.record import tables as audit_tables
from services.record.chain import verify
from services.store import Store
from tests.harness.money import PER_DAY, states
from tests.harness.rows import rows

FINAL = {state.value for state in (
    TransferState.SUCCEEDED, TransferState.FAILED, TransferState.EXPIRED, TransferState.CANCELLED,
)}  # fmt: skip
COUNTED = {state.value for state in (
    TransferState.CONFIRMED, TransferState.SUBMITTING, TransferState.UNKNOWN, TransferState.SUCCEEDED,
)}  # fmt: skip
AFTER = {
    "proposed": {"confirmed", "submitting", "expired", "cancelled"},
    "confirmed": {"submitting"},
    "submitting": {"succeeded", "failed", "unknown"},
    "unknown": {"succeeded", "failed"},
}
"""The arrows of the ledger."""
SETTLED = ("succeeded", "failed")


def reachable(before: str, now: str) -> bool:
    """Whether `now` lies on a path of arrows from `before`."""
    return before == now or any(reachable(step, now) for step in AFTER.get(before, ()))


async def always(store: Store) -> None:
    """At every moment between two steps."""
    assert await books(store) == {}, "the books do not balance"
    booked = await rows(store, sa.select(transfers))
    posted = await rows(store, sa.select(t.postings).where(t.postings.c.outcome == BankOutcome.DONE))
    entries = await rows(store, sa.select(t.entries))
    counted = await rows(store, sa.select(spending))
    assert sum(entry.amount_minor for entry in entries) == 0, "money was made or lost"
    by_key = {row.bank_key: row for row in booked}
    lines = Counter(entry.posting_id for entry in entries)
    days: Counter[tuple[str, str, str]] = Counter()
    for posting in posted:
        row = by_key.get(posting.key)
        assert row is not None, "money moved under a key the ledger never gave out"
        assert row.state in {"submitting", "unknown", "succeeded"}, f"money moved, yet the ledger says {row.state}"
        assert lines[posting.id] == 2, "a posting without its two entries"
        moved = [e for e in entries if e.posting_id == posting.id and e.account_id == row.source]
        assert [e.amount_minor for e in moved] == [-row.amount_minor], "another amount moved than was agreed"
        assert row.delivered_at is not None, "money moved without a read-back that was heard"
        days[row.customer_id, row.currency, row.spend_day] += row.amount_minor
    assert all(amount <= PER_DAY for amount in days.values()), "more moved in a day than the limit"
    for row in booked:
        if row.state == "succeeded":
            assert any(p.key == row.bank_key for p in posted), "a success that moved nothing"
    expected: Counter[tuple[str, str, str]] = Counter()
    for row in booked:
        if row.state in COUNTED:
            expected[row.customer_id, row.currency, row.spend_day] += row.amount_minor
    kept = {(c.customer_id, c.currency, c.day): c.spent_minor for c in counted if c.spent_minor}
    assert kept == dict(expected), "the day's count is not what was confirmed"


async def recorded(store: Store) -> Counter[tuple[str, str]]:
    """How often each state of each transfer is in the audit, whose chain holds."""
    await verify(store)
    r = audit_tables.records.c
    found = await rows(store, sa.select(r.event, r.facts).where(r.event.like("transfer.%")))
    facts = [orjson.loads(row.facts) for row in found]
    assert [row.event for row in found] == [f"transfer.{fact['state']}" for fact in facts]
    return Counter((fact["proposal"], fact["state"]) for fact in facts)


async def never_recorded_wrongly(store: Store) -> None:
    """At every moment: no state is on record twice, and none that the transfer was not in."""
    now, times = await states(store), await recorded(store)
    assert all(count == 1 for count in times.values()), f"on record more than once: {times}"
    for transfer, state in times:
        assert reachable(state, now[transfer]), f"{state} is on record, yet the ledger says {now[transfer]}"


async def at_rest(store: Store) -> None:
    """Once the bank is well and neither the reconciler nor the outbox has anything left to do."""
    await always(store)
    await never_recorded_wrongly(store)
    found, times = await states(store), await recorded(store)
    unsettled = {transfer: state for transfer, state in found.items() if state not in FINAL | {"proposed"}}
    assert not unsettled, f"promises not kept: {unsettled}"
    for transfer, state in found.items():
        settlings = [times[transfer, settled] for settled in SETTLED]
        assert sum(settlings) == (state in SETTLED), f"{transfer} {state}: {sum(settlings)} records of its settling"
        assert times[transfer, state] == (state in SETTLED), f"{transfer}: another state is on record than {state}"
