"""The table of faults: what happens to the database around a yes, and how it ends."""

import asyncio
import contextlib
import os
import shutil
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deploy.bench._faults.world import DATABASE, ROLE, FaultWorld

Act = Callable[[FaultWorld], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class InjectedFault:
    """`begin` is done `after_s` after the yeses were sent, before them where that is negative; `end` `for_s` later."""

    name: str
    begin: Act
    end: Act
    after_s: float = -0.3
    for_s: float = 5.0


async def _nothing(_: FaultWorld) -> None:
    """It ends by itself."""


def _sql(begin: str, end: str) -> tuple[Act, Act]:
    def running(statements: str) -> Act:
        async def run(world: FaultWorld) -> None:
            await world.admin(*filter(None, (statement.strip() for statement in statements.split(";;"))))

        return run

    return running(begin), running(end)


def _right(table: str, right: str) -> tuple[Act, Act]:
    return _sql(f"REVOKE {right} ON {table} FROM {ROLE}", f"GRANT {right} ON {table} TO {ROLE}")


def _raising(table: str, event: str, sqlstate: str, when: str = "BEFORE") -> tuple[Act, Act]:
    """PostgreSQL answers writes to a table with an error; `when` AFTER: at the commit alone."""
    constraint = "CONSTRAINT " if when == "AFTER" else ""
    deferred = "DEFERRABLE INITIALLY DEFERRED " if when == "AFTER" else ""
    return _sql(
        "CREATE FUNCTION faulty() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION 'a fault' USING ERRCODE = '{sqlstate}'; END $$;;"
        f"CREATE {constraint}TRIGGER faulty {when} {event} ON {table} {deferred}FOR EACH ROW EXECUTE FUNCTION faulty()",
        "DROP FUNCTION faulty CASCADE",
    )


def _refusing(table: str, event: str) -> tuple[Act, Act]:
    """SQLite answers writes to a table with an error."""
    return _sql(
        f"CREATE TRIGGER faulty BEFORE {event} ON {table} BEGIN SELECT RAISE(ABORT, 'a fault'); END",
        "DROP TRIGGER faulty",
    )


def _held(statement: str) -> tuple[Act, Act]:
    async def hold(world: FaultWorld) -> None:
        await world.hold(statement)

    return hold, FaultWorld.let_go


_CUT: Final = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'teller'"


async def _cut(world: FaultWorld) -> None:
    await world.admin(_CUT, database="postgres")


async def _cut_often(world: FaultWorld) -> None:
    for _ in range(30):
        await _cut(world)
        await asyncio.sleep(0.05)


def _only_reads() -> tuple[Act, Act]:
    alter = f"ALTER DATABASE {DATABASE} SET default_transaction_read_only"
    return _sql(f"{alter} = on;;{_CUT}", f"{alter} = off;;{_CUT}")


async def _close_doors(world: FaultWorld) -> None:
    await world.admin(f"ALTER DATABASE {DATABASE} ALLOW_CONNECTIONS false", _CUT, database="postgres")


async def _open_doors(world: FaultWorld) -> None:
    await world.admin(f"ALTER DATABASE {DATABASE} ALLOW_CONNECTIONS true", database="postgres")


async def _kill(world: FaultWorld) -> None:
    assert world.cluster is not None
    world.cluster.kill()


async def _start(world: FaultWorld) -> None:
    assert world.cluster is not None
    await asyncio.to_thread(world.cluster.start)


async def _pause(world: FaultWorld) -> None:
    assert world.cluster is not None
    world.cluster.signal(signal.SIGSTOP)


async def _go_on(world: FaultWorld) -> None:
    assert world.cluster is not None
    world.cluster.signal(signal.SIGCONT)


def _wire(*, requests: bool, answers: bool, disk_full: bool = False) -> tuple[Act, Act]:
    async def fall_silent(world: FaultWorld) -> None:
        assert world.wire is not None
        world.wire.swallows_requests, world.wire.swallows_answers = requests, answers
        if disk_full:
            world.gateway.limit_files(1)

    async def speak(world: FaultWorld) -> None:
        assert world.wire is not None
        world.wire.swallows_requests = world.wire.swallows_answers = False
        world.gateway.limit_files(-1)

    return fall_silent, speak


async def _kill_gateway(world: FaultWorld) -> None:
    world.gateway.kill()


async def _start_gateway(world: FaultWorld) -> None:
    await world.gateway.start()


async def _kill_twice(world: FaultWorld) -> None:
    """The second time while what the first left is being settled."""
    world.gateway.kill()
    await world.gateway.start()
    await asyncio.sleep(18.2)
    world.gateway.kill()


async def _fill(world: FaultWorld) -> None:
    filler = world.gateway.folder / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(1 << 14))
    with contextlib.suppress(OSError), filler.open("ab", buffering=0) as file:
        while True:
            file.write(bytes(1))


async def _empty(world: FaultWorld) -> None:
    (world.gateway.folder / "filler").unlink()


async def _no_growth(world: FaultWorld) -> None:
    world.gateway.limit_files(1)


async def _growth(world: FaultWorld) -> None:
    world.gateway.limit_files(-1)


async def _silent(world: FaultWorld) -> None:
    world.gateway.disk.fall_silent()


async def _hung(world: FaultWorld) -> None:
    world.gateway.disk.hang()


async def _durable(world: FaultWorld) -> None:
    world.gateway.disk.speak()


async def _pause_and_silent(world: FaultWorld) -> None:
    await _silent(world)
    await _pause(world)


async def _go_on_and_durable(world: FaultWorld) -> None:
    await _go_on(world)
    await _durable(world)


def _aside(path: Path) -> Path:
    return path.with_suffix(".aside")


async def _remove(world: FaultWorld) -> None:
    os.link(world.path, _aside(world.path))
    world.path.unlink()


async def _put_back(world: FaultWorld) -> None:
    _aside(world.path).replace(world.path)


async def _replace(world: FaultWorld) -> None:
    os.link(world.path, _aside(world.path))
    copy = world.path.with_suffix(".copy")
    shutil.copyfile(world.path, copy)
    copy.replace(world.path)


_MOVED: Final = "UPDATE OF state"
POSTGRESQL: Final = (
    InjectedFault("nothing happens", _nothing, _nothing),
    InjectedFault("killed before the yes", _kill, _start, after_s=-0.05),
    InjectedFault("killed 20 ms after it", _kill, _start, after_s=0.02),
    InjectedFault("killed 60 ms after it", _kill, _start, after_s=0.06),
    InjectedFault("killed 100 ms after it", _kill, _start, after_s=0.1),
    InjectedFault("paused before the yes", _pause, _go_on, for_s=10),
    InjectedFault("paused 30 ms after it", _pause, _go_on, after_s=0.03, for_s=10),
    InjectedFault("connections cut while idle", _cut, _nothing, for_s=0.5),
    InjectedFault("connections cut again and again", _cut_often, _nothing, after_s=0.0, for_s=2),
    InjectedFault("no right to write transfers", *_right("ledger_transfers", "UPDATE, INSERT")),
    InjectedFault("no right to count the day", *_right("ledger_spending", "UPDATE, INSERT")),
    InjectedFault("no right to write postings", *_right("bank_postings", "INSERT")),
    InjectedFault("no right to write records", *_right("audit_records", "INSERT")),
    InjectedFault("no right to write records, at the yes", *_right("audit_records", "INSERT"), after_s=0.0),
    InjectedFault("no right to read customers", *_right("bank_customers", "SELECT")),
    InjectedFault("read-only", *_only_reads()),
    InjectedFault("no connection allowed", _close_doors, _open_doors),
    InjectedFault("transfers locked", *_held("LOCK TABLE ledger_transfers")),
    InjectedFault("records locked", *_held("LOCK TABLE audit_records")),
    InjectedFault("the chain's end locked", *_held("SELECT * FROM audit_head FOR UPDATE")),
    InjectedFault("postings locked", *_held("LOCK TABLE bank_postings")),
    InjectedFault("serialization failures", *_raising("ledger_transfers", _MOVED, "40001")),
    InjectedFault("deadlocks", *_raising("bank_accounts", "UPDATE", "40P01")),
    InjectedFault("disk full", *_raising("ledger_transfers", _MOVED, "53100")),
    InjectedFault("disk full at the commit", *_raising("ledger_transfers", _MOVED, "53100", "AFTER")),
    InjectedFault("a table renamed", *_sql("ALTER TABLE ledger_transfers RENAME TO gone",
                                   "ALTER TABLE gone RENAME TO ledger_transfers")),
    InjectedFault("answers lost 10 ms after it", *_wire(requests=False, answers=True), after_s=0.01),
    InjectedFault("answers lost before it", *_wire(requests=False, answers=True), after_s=-0.05),
    InjectedFault("the line silent", *_wire(requests=True, answers=True), after_s=0.02, for_s=10),
    InjectedFault(
        "answers lost, and our own disk full", *_wire(requests=False, answers=True, disk_full=True), after_s=0.02
    ),
    InjectedFault("our own disk silent", _silent, _durable, for_s=8),
    InjectedFault("paused, and our own disk silent", _pause_and_silent, _go_on_and_durable, for_s=8),
    InjectedFault("our own disk silent, hung whole", _hung, _durable, for_s=8),
    InjectedFault("gateway killed 40 ms after it", _kill_gateway, _start_gateway, after_s=0.04, for_s=0.5),
    InjectedFault("gateway killed, and again while it settles", _kill_twice, _start_gateway, after_s=0.08, for_s=0.5),
)  # fmt: skip
SQLITE: Final = (
    InjectedFault("nothing happens", _nothing, _nothing),
    InjectedFault("locked by another process", *_held("BEGIN EXCLUSIVE")),
    InjectedFault("locked 20 ms after it", *_held("BEGIN IMMEDIATE"), after_s=0.02),
    InjectedFault("transfers refuse writes", *_refusing("ledger_transfers", "UPDATE")),
    InjectedFault("records refuse writes", *_refusing("audit_records", "INSERT")),
    InjectedFault("postings refuse writes", *_refusing("bank_postings", "INSERT")),
    InjectedFault("a table renamed", *_sql("ALTER TABLE ledger_spending RENAME TO gone",
                                   "ALTER TABLE gone RENAME TO ledger_spending")),
    InjectedFault("disk full", _fill, _empty),
    InjectedFault("no file may grow", _no_growth, _growth),
    InjectedFault("disk silent before it", _silent, _durable, for_s=8),
    InjectedFault("disk silent 20 ms after it", _silent, _durable, after_s=0.02, for_s=8),
    InjectedFault("disk silent, hung whole", _hung, _durable, for_s=8),
    InjectedFault("disk silent, hung whole 20 ms after it", _hung, _durable, after_s=0.02, for_s=8),
    InjectedFault("file removed, then put back", _remove, _put_back),
    InjectedFault("file replaced by a copy, then put back", _replace, _put_back),
    InjectedFault("gateway killed 40 ms after it", _kill_gateway, _start_gateway, after_s=0.04, for_s=0.5),
    InjectedFault("gateway killed, and again while it settles", _kill_twice, _start_gateway, after_s=0.08, for_s=0.5),
)  # fmt: skip
