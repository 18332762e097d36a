"""What the store promises: a write is whole or never was, whoever is cancelled, and an outage is said in time."""

import asyncio
import random  # noqa: TID251 - seeded where it is used
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest
import sqlalchemy as sa

from schemas.errors import StoreUnavailable
from services.store import Store
from services.timing.finish import finish
from tests.harness.rows import rows
from tests.harness.stores import emptied

pairs = sa.Table("pairs", sa.MetaData(), sa.Column("id", sa.Integer), sa.Column("half", sa.Integer))
HALVES = (1, 2)
AT_ONCE_S = 1.0
"""Far below what a writer waits for another's lock (5 s), far above what a write takes."""


@pytest.fixture
async def paired(store: Store) -> AsyncIterator[Store]:
    """A store with a table of pairs, of which no half may ever stand alone."""
    await store.execute("test.drop", sa.schema.DropTable(pairs, if_exists=True))
    await store.execute("test.make", sa.schema.CreateTable(pairs))
    yield store
    await store.execute("test.drop", sa.schema.DropTable(pairs))


async def write(store: Store, key: int) -> None:
    def writing(connection: sa.Connection) -> None:
        for half in HALVES:
            connection.execute(sa.insert(pairs), {"id": key, "half": half})

    await store.transact("test.pair", writing)


async def execute(store: Store, key: int) -> None:
    await store.execute("test.pair", sa.insert(pairs).values([{"id": key, "half": half} for half in HALVES]))


async def look(store: Store, _key: int) -> None:
    await store.look(lambda connection: connection.execute(sa.select(pairs).limit(9)).all())


async def unharmed(store: Store, key: int) -> None:
    """The next write is immediate, no pair is torn, and no connection or task was left behind."""
    began = time.monotonic()
    await write(store, key)
    assert time.monotonic() - began < AT_ONCE_S, "a writer waited for one that was cancelled"
    torn = sa.select(pairs.c.id).group_by(pairs.c.id).having(sa.func.count() != len(HALVES))
    assert not await rows(store, torn)
    assert store._engine.pool.checkedout() == 0  # type: ignore[attr-defined] # the queue pool's
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize("cancels", [1, 3])
@pytest.mark.parametrize("work", [write, execute, look])
async def test_a_caller_cancelled_anywhere_leaves_nothing_behind(
    paired: Store, work: Callable[[Store, int], Coroutine[Any, Any, None]], cancels: int
) -> None:
    """Cancelled after every number of turns of the loop, until the work is done before that, among other callers."""
    rng, turns, done = random.Random(7), 0, 0
    while done < len(("in a row", "unharmed")):
        tasks = [asyncio.create_task(work(paired, 10 * turns + n)) for n in range(3)]
        for _ in range(turns):
            await asyncio.sleep(0)
        for _ in range(cancels):
            for task in tasks[:2]:
                task.cancel()
            await asyncio.sleep(rng.choice([0, 0.0001, 0.0005]))
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert outcomes[2] is None, "one who was not cancelled"
        await unharmed(paired, 10 * turns + 9)
        done = done + 1 if outcomes[0] is None else 0
        turns += 1


async def test_what_a_cancelled_writer_had_begun_is_written(paired: Store) -> None:
    """Once its transaction has begun, the cancellation comes after it."""
    for point in ("begin", "written", "committed"):
        task = asyncio.create_task(write(paired, len(point)))
        paired.probe = lambda at, task=task, point=point: task.cancel() if at == f"test.pair:{point}" else None  # type: ignore[misc] # bound here
        with pytest.raises(asyncio.CancelledError):
            await task
        paired.probe = lambda _: None
        assert len(await rows(paired, sa.select(pairs).where(pairs.c.id == len(point)))) == len(HALVES), point
    await unharmed(paired, 0)


async def test_a_writer_cancelled_while_it_waits_its_turn_writes_nothing(sqlite_store: Store) -> None:
    await sqlite_store.execute("test.make", sa.schema.CreateTable(pairs))
    first = asyncio.create_task(write(sqlite_store, 1))
    waiting = asyncio.create_task(write(sqlite_store, 2))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(first, waiting, return_exceptions=True)
    assert {row.id for row in await rows(sqlite_store, sa.select(pairs.c.id))} == {1}


@pytest.mark.parametrize("size", [1, 3, 6])
async def test_so_many_connections_work_at_once_as_was_said(database_url: str, size: int) -> None:
    sized = Store(database_url, pool_size=size)
    at_once, most = 0, 0

    def reading(connection: sa.Connection) -> None:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        if sized.embedded:
            time.sleep(0.1)  # on a thread
        else:
            connection.execute(sa.text("SELECT pg_sleep(0.1)")).all()
        at_once -= 1

    await asyncio.gather(*(sized.look(reading) for _ in range(2 * size)))
    assert most == size
    await sized.close()
    await sized.close()  # harmless


async def test_an_error_repeats_nothing_that_was_to_be_stored(store: Store) -> None:
    nowhere = sa.Table("nowhere", sa.MetaData(), sa.Column("name", sa.String))
    with pytest.raises(StoreUnavailable) as raised:
        await store.execute("test.bad", sa.insert(nowhere), {"name": "wilhelmina"})
    assert "nowhere" in str(raised.value.__cause__)
    assert "wilhelmina" not in str(raised.value.__cause__)


async def test_closing_waits_for_what_has_begun(paired: Store, database_url: str) -> None:
    closing = Store(database_url)
    orphans = [asyncio.create_task(work(closing, 7 + n)) for n, work in enumerate((write, look, execute))]
    await asyncio.sleep(0)
    await closing.close()
    await asyncio.gather(*orphans)  # a connection that was left open would be a warning, and that an error
    assert len(await rows(paired, sa.select(pairs.c.id))) == 4
    with pytest.raises(StoreUnavailable, match="closed"):
        await write(closing, 10)


async def test_what_fails_is_undone_and_said(paired: Store) -> None:
    def failing(connection: sa.Connection) -> None:
        connection.execute(sa.insert(pairs), {"id": 1, "half": 1})
        connection.execute(sa.text("no such statement"))

    with pytest.raises(StoreUnavailable):
        await paired.transact("test.fail", failing)
    await unharmed(paired, 2)


@pytest.fixture
async def silent_server() -> AsyncIterator[str]:
    """The URL of a PostgreSQL that takes connections and never answers."""
    server = await asyncio.get_running_loop().create_server(asyncio.Protocol, "127.0.0.1")
    host, port = server.sockets[0].getsockname()
    async with server:
        yield f"postgresql+asyncpg://nobody:nothing@{host}:{port}/none"


async def test_a_database_that_never_answers_is_unavailable_after_a_while(
    silent_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.store.store.ANSWER_S", 0.1)
    silent = Store(silent_server)
    with pytest.raises(StoreUnavailable):
        await write(silent, 1)
    await silent.close()


async def test_a_server_that_is_gone_is_unavailable() -> None:
    gone = Store("postgresql+asyncpg://nobody:nothing@127.0.0.1:1/none")
    with pytest.raises(StoreUnavailable):
        await look(gone, 1)
    await gone.close()


async def test_a_server_that_has_no_such_database_is_unavailable(postgres_server: str) -> None:
    strange = Store(postgres_server.format(database="no_such_database"))
    with pytest.raises(StoreUnavailable):
        await look(strange, 1)
    await strange.close()


async def test_a_statement_that_takes_too_long_is_given_up_but_not_a_migration(
    postgres_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("store", "shared"):
        monkeypatch.setattr(f"services.store.{module}.ANSWER_S", 0.3)
    hurried = Store(await emptied(postgres_server))
    with pytest.raises(StoreUnavailable):
        await hurried.look(lambda connection: connection.execute(sa.text("SELECT pg_sleep(30)")).all())
    assert len(await rows(hurried, sa.select(sa.literal(1)))) == 1
    await hurried.run_migrations(lambda connection: connection.execute(sa.text("SELECT pg_sleep(0.9)")).close())
    await hurried.close()


async def test_finished_work_hands_on_its_outcome() -> None:
    async def answer() -> int:
        return 7

    async def fail() -> None:
        raise LookupError

    assert await finish(answer()) == 7
    with pytest.raises(LookupError):
        await finish(fail())
