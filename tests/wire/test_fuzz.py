"""A crowd of hostile clients against the whole gateway: no fault, no hang, nothing left behind, the books in order."""

import asyncio
import gc
import logging
import os
import random  # noqa: TID251 - seeded where it is used
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from app.auth.principal import Scope
from app.logs import worth_a_line
from services.banking.banks import tables as t
from services.banking.banks.sandbox import books
from services.banking.tables import transfers
from services.record import tables as audit_tables
from tests.fakes.recognizer import FakeRecognizer
from tests.harness import realtime_fuzz
from tests.harness.fuzz import Tally, judge, one_call
from tests.harness.fuzz_events import WORDS, Says, valid
from tests.harness.rows import rows
from tests.harness.served import Served, served

AT_ONCE = 8
CUSTOMERS = ("alex-morgan", "imogen-hartley", "takahashi-misaki")


class Faults(logging.Handler):
    """Keeps what the process itself calls an error; what a client causes at will is none."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.seen: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if worth_a_line(record):
            self.seen.append(f"{record.name}: {record.getMessage()} {record.exc_info and record.exc_info[1]!r}")


@asynccontextmanager
async def watched(folder: Path) -> AsyncIterator[tuple[Served, Faults]]:
    """A gateway whose recogniser hears anything, and its own complaints."""
    rng, faults = random.Random(1), Faults()
    logging.getLogger().addHandler(faults)
    try:
        async with served(folder, FakeRecognizer(lambda _: rng.choice(WORDS)), max_calls=AT_ONCE * 8) as running:
            yield running, faults
    finally:
        logging.getLogger().removeHandler(faults)


async def crowd(running: Served, seed: int, messages: int, path: str, says: Says) -> Tally:
    """Calls, some at once, until so many messages were sent. Every sixth comes without any right to."""
    url = running.calls.replace("/v1/calls", path)
    tally, rng = Tally(), random.Random(seed)
    strangers = [{}, {"Authorization": "Bearer x.y.z"}, running.token("nobody"), running.token("qa", Scope.QA)]

    async def caller() -> None:
        while tally.messages < messages:
            who = running.token(rng.choice(CUSTOMERS))
            if tally.calls % 6 == 0:
                who = strangers[tally.calls // 6 % len(strangers)]
            await one_call(url, who, rng.randrange(2**32), rng.choice([3, 20, 60]), tally, says)

    await asyncio.gather(*(caller() for _ in range(AT_ONCE)))
    return tally


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


async def fuzz(
    folder: Path, seed: int, messages: int, memory_mb: float, path: str = "/v1/calls", says: Says = valid
) -> Tally:
    async with watched(folder) as (running, faults):
        await crowd(running, seed + 1, messages // 10, path, says)
        async with asyncio.timeout(20):
            await running.gateway.admission.empty.wait()
        before = held()
        tally = await crowd(running, seed, messages, path, says)
        assert judge(tally) == []
        assert await left(running, before, memory_mb) == []
        assert running.gateway.metrics.calls._value.get() == 0
        await books_are_in_order(running)
        await every_call_ended_on_record(running)
    assert faults.seen == []
    return tally


async def test_hostile_clients_do_no_harm(quick_folder: Path) -> None:
    tally = await fuzz(quick_folder, seed=7, messages=1_000, memory_mb=48)
    assert {"malformed_message", "unknown_event", "malformed_audio", "wrong_state"} <= tally.codes.keys()
    assert {1000, 1002, 1009} <= tally.closes.keys()  # 1007 has its cases in test_framing.py: here load may cut it
    assert {401, 403, 404} <= tally.denials.keys()


async def test_hostile_realtime_clients_do_no_harm(quick_folder: Path) -> None:
    tally = await fuzz(quick_folder, 11, 1_000, 48, "/v1/realtime", realtime_fuzz.valid)
    assert {"malformed_message", "malformed_audio", "response_cancel_not_active"} <= tally.codes.keys()
    assert {"item_retrieve_invalid_item_id", "item_create_duplicate_item_id"} <= tally.codes.keys()
    assert {401, 403, 404} <= tally.denials.keys()


@pytest.mark.slow
@pytest.mark.timeout(3600)
async def test_a_hundred_thousand_hostile_messages_do_no_harm(quick_folder: Path) -> None:
    tally = await fuzz(quick_folder, seed=2026, messages=100_000, memory_mb=64)
    print(tally)  # noqa: T201 - the figures of a long run
