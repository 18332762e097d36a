"""Whether a service came through what was done to it: no complaint, nothing left behind, books and record in order."""

import asyncio
import gc
import logging
import os
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import sqlalchemy as sa

from app.logs import worth_a_line
from services.banking.banks import tables as t
from services.banking.banks.sandbox import books
from services.banking.tables import transfers
from services.record import tables as audit_tables
from tests.harness.rows import rows
from tests.harness.served import Served


class Faults(logging.Handler):
    """Keeps what the process itself calls an error; what a client causes at will is none."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.seen: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if worth_a_line(record):
            self.seen.append(f"{record.name}: {record.getMessage()} {record.exc_info and record.exc_info[1]!r}")


@asynccontextmanager
async def complaints() -> AsyncIterator[Faults]:
    """What the process complains of inside the block."""
    faults = Faults()
    logging.getLogger().addHandler(faults)
    try:
        yield faults
    finally:
        logging.getLogger().removeHandler(faults)


def held() -> tuple[int, int, float]:
    """Tasks, descriptors, and resident memory in MB of this process."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    descriptors = sum(1 for _ in Path("/proc/self/fd").iterdir())
    return len(asyncio.all_tasks()), descriptors, pages * os.sysconf("SC_PAGE_SIZE") / 2**20


async def left(running: Served, before: tuple[int, int, float], memory_mb: float) -> list[str]:
    """What calls that are over still hold, after a moment to let go."""
    async with asyncio.timeout(20):
        await running.gateway.admission.empty.wait()
    for _ in range(100):
        tasks, descriptors, memory = held()
        if tasks <= before[0] and descriptors <= before[1] + 2:
            break
        await asyncio.sleep(0.05)
    wrong = [] if tasks <= before[0] else [f"{tasks - before[0]} tasks"]
    wrong += [] if descriptors <= before[1] + 2 else [f"{descriptors - before[1]} descriptors"]
    return wrong if memory <= before[2] + memory_mb else [*wrong, f"{memory - before[2]:.0f} MB"]


async def books_are_in_order(running: Served) -> None:
    """Whatever was said to it, the bank made and lost no money, and moved none that was not read back."""
    store = running.gateway.callers.banking.bank._store  # type: ignore[attr-defined] # the sandbox
    assert await books(store) == {}
    assert (await rows(store, sa.select(sa.func.sum(t.entries.c.amount_minor))))[0][0] == 0
    moved = transfers.c.state.not_in(["proposed", "expired", "cancelled"])
    assert not await rows(store, sa.select(transfers.c.id).where(moved & transfers.c.delivered_at.is_(None)))


async def every_call_ended_on_record(running: Served) -> None:
    """However a connection died, the audit says of every call that began that it ended, once."""
    store, t = running.gateway.callers.banking.bank._store, audit_tables.records.c  # type: ignore[attr-defined] # the sandbox
    found = await rows(store, sa.select(t.call_id, t.event).where(t.event.in_(["call.started", "call.ended"])))
    started, ended = (Counter(r.call_id for r in found if r.event == f"call.{what}") for what in ("started", "ended"))
    assert started
    assert started == ended
