"""What a failure of the database says: "no" is told from silence, silence ends in time, and the dead are replaced."""

import asyncio
import contextlib
import shutil
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from schemas.errors import StoreRefused, StoreUnavailable
from services.store import Store
from services.timing.deadline import within
from tests.harness.rows import rows
from tests.harness.stores import emptied, new_sqlite

marks = sa.Table("marks", sa.MetaData(), sa.Column("id", sa.Integer, primary_key=True))
IN_TIME_S = 3.5
"""Within the store's bound and a machine's slowness."""


@pytest.fixture
async def marked(store: Store) -> AsyncIterator[Store]:
    await store.execute("test.drop", sa.schema.DropTable(marks, if_exists=True))
    await store.execute("test.make", sa.schema.CreateTable(marks))
    yield store
    await store.execute("test.drop", sa.schema.DropTable(marks))


async def mark(store: Store, key: int) -> None:
    await store.execute("test.mark", sa.insert(marks), {"id": key})


async def both(store: Store, key: int) -> None:
    await store.transact("test.both", lambda c: [c.execute(sa.insert(marks), {"id": key + n}) for n in (0, 1)])


async def marked_as(store: Store) -> set[int]:
    return {row.id for row in await rows(store, sa.select(marks.c.id))}


async def taken(work: AsyncIterator[None] | object) -> tuple[float, BaseException | None]:
    began = time.monotonic()
    outcome = await asyncio.gather(work, return_exceptions=True)  # type: ignore[call-overload] # a coroutine
    return time.monotonic() - began, outcome[0]


async def test_what_the_database_refuses_is_told_from_what_it_does_not_answer(marked: Store) -> None:
    await mark(marked, 1)
    for again in (mark, both):  # a key that is there
        with pytest.raises(StoreRefused):
            await again(marked, 1)
    assert await marked_as(marked) == {1}


@pytest.mark.parametrize(("point", "nothing"), [("begin", True), ("written", True), ("committed", False)])
async def test_a_connection_that_dies_before_the_commit_leaves_nothing(
    marked: Store, point: str, nothing: bool
) -> None:
    def dead(passed: str) -> None:
        if passed == f"test.both:{point}":
            raise OSError

    marked.probe = dead
    with pytest.raises(StoreUnavailable) as raised:
        await both(marked, 1)
    marked.probe = lambda _: None
    assert isinstance(raised.value, StoreRefused) == nothing
    assert await marked_as(marked) == (set() if nothing else {1, 2})


async def test_a_deadline_over_all_steps_shortens_each_of_them(marked: Store) -> None:
    def slow(connection: sa.Connection) -> None:
        if marked.embedded:
            time.sleep(1.0)
        else:
            connection.execute(sa.text("SELECT pg_sleep(1.0)")).all()

    began = time.monotonic()
    with within(0.3):
        for _ in range(5):
            with pytest.raises(StoreRefused):
                await marked.look(slow)
    assert time.monotonic() - began < 0.8
    await marked.look(slow)


async def test_what_nobody_waits_for_any_more_is_not_committed(marked: Store) -> None:
    def slow(connection: sa.Connection) -> None:
        connection.execute(sa.insert(marks), {"id": 1})
        if marked.embedded:
            time.sleep(0.4)
        else:
            connection.execute(sa.text("SELECT pg_sleep(0.4)")).all()

    with within(0.1), pytest.raises(StoreRefused):
        await marked.transact("test.slow", slow)
    await asyncio.sleep(0.6)
    assert await marked_as(marked) == set()
    await mark(marked, 1)


# SQLite's file


@pytest.fixture
async def file(sqlite_template: Path, tmp_path: Path) -> AsyncIterator[tuple[Store, Path]]:
    opened = Store(new_sqlite(sqlite_template, tmp_path))
    await opened.execute("test.make", sa.schema.CreateTable(marks))
    yield opened, tmp_path / "tellerline.db"
    await opened.close()


def _removed(path: Path) -> None:
    path.unlink()


def _replaced(path: Path) -> None:
    shutil.copyfile(path, path.with_suffix(".copy"))
    path.with_suffix(".copy").replace(path)


@pytest.mark.parametrize("how", [_removed, _replaced])
async def test_a_file_that_is_gone_takes_no_writes(file: tuple[Store, Path], how: Callable[[Path], None]) -> None:
    store, path = file
    await asyncio.gather(*(mark(store, key) for key in range(4)))
    how(path)
    for write in (mark, both):
        with pytest.raises(StoreRefused):
            await write(store, 10)
    with pytest.raises(StoreRefused):
        await store.look(lambda connection: connection.execute(sa.select(marks)).all())
    assert path.exists() == (how is _replaced), "a new, empty bank was opened"


async def test_a_file_that_goes_between_the_write_and_its_commit_is_noticed(file: tuple[Store, Path]) -> None:
    store, path = file
    store.probe = lambda point: path.unlink() if point == "test.both:written" else None
    with pytest.raises(StoreRefused):
        await both(store, 1)


async def test_a_file_that_comes_back_is_used_again(file: tuple[Store, Path]) -> None:
    store, path = file
    path.rename(path.with_suffix(".away"))
    with pytest.raises(StoreRefused):
        await mark(store, 1)
    path.with_suffix(".away").rename(path)
    await mark(store, 1)


async def test_a_file_that_another_process_locks_is_refused_in_time(file: tuple[Store, Path]) -> None:
    store, path = file
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    seconds, error = await taken(mark(store, 1))
    assert isinstance(error, StoreRefused)
    assert seconds < IN_TIME_S
    other.execute("ROLLBACK")
    other.close()
    await mark(store, 1)


# PostgreSQL's connections


@pytest.fixture
async def admin(postgres_server: str) -> AsyncIterator[AsyncConnection]:
    engine = create_async_engine(postgres_server.format(database="postgres"), isolation_level="AUTOCOMMIT")
    async with engine.connect() as connection:
        yield connection
    await engine.dispose()


@pytest.fixture
async def pooled(postgres_server: str) -> AsyncIterator[Store]:
    opened = Store(await emptied(postgres_server))
    await opened.execute("test.drop", sa.schema.DropTable(marks, if_exists=True))
    await opened.execute("test.make", sa.schema.CreateTable(marks))
    await asyncio.gather(*(opened.look(lambda c: c.execute(sa.text("SELECT pg_sleep(0.05)")).all()) for _ in range(9)))
    yield opened
    await opened.execute("test.drop", sa.schema.DropTable(marks))
    await opened.close()


async def cut(admin: AsyncConnection) -> None:
    await admin.execute(
        sa.text(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = :d"
        ),
        {"d": "tellerline_test"},
    )


@pytest.mark.parametrize("rest_s", [0.0, 0.3, 1.2])
async def test_connections_that_were_cut_while_idle_are_replaced_unnoticed(
    pooled: Store, admin: AsyncConnection, rest_s: float
) -> None:
    await cut(admin)
    await asyncio.sleep(rest_s)
    await asyncio.gather(*(both(pooled, 10 * key) for key in range(9)))
    await cut(admin)
    await asyncio.sleep(rest_s)
    for key in range(9):
        if rest_s:  # at once, the news may not yet have come: then it is not known what became of a lone statement
            await mark(pooled, 1000 + key)
        else:
            with contextlib.suppress(StoreUnavailable):
                await mark(pooled, 1000 + key)
            await mark(pooled, 2000 + key)


async def test_a_table_that_is_locked_is_refused_in_time(pooled: Store, admin: AsyncConnection) -> None:
    holder = create_async_engine(make_url(str(admin.engine.url)).set(database="tellerline_test"))
    async with holder.connect() as holding:
        await holding.execute(sa.text("LOCK TABLE marks"))
        for write in (mark, both):
            seconds, error = await taken(write(pooled, 1))
            assert isinstance(error, StoreRefused)
            assert seconds < IN_TIME_S
        await holding.rollback()
    await holder.dispose()
    await mark(pooled, 1)


class Wire:
    """A way to a Unix socket that can fall silent: in the direction of answers, or in both."""

    def __init__(self, to: str) -> None:
        self._to = to
        self.deaf = self.dumb = False

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        onward = await asyncio.open_unix_connection(self._to)
        with contextlib.suppress(OSError):
            await asyncio.gather(self._pass(reader, onward[1], "deaf"), self._pass(onward[0], writer, "dumb"))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, silence: str) -> None:
        while data := await reader.read(65536):
            if not getattr(self, silence):
                writer.write(data)
        writer.close()


@pytest.fixture
async def wired(postgres_server: str, tmp_path: Path) -> AsyncIterator[tuple[Store, Wire]]:
    url = make_url(await emptied(postgres_server))
    folder = str(url.query["host"])
    wire = Wire(str(Path(folder) / ".s.PGSQL.5432"))
    short = tmp_path
    server = await asyncio.start_unix_server(wire, short / ".s.PGSQL.5432")
    store = Store(url.set(query={"host": str(short)}).render_as_string(hide_password=False), pool_size=2)
    await store.execute("test.drop", sa.schema.DropTable(marks, if_exists=True))
    await store.execute("test.make", sa.schema.CreateTable(marks))
    yield store, wire
    wire.deaf = wire.dumb = False
    await store.execute("test.drop", sa.schema.DropTable(marks))
    await store.close()
    server.close()


@pytest.mark.parametrize("deaf", [False, True], ids=["answers are lost", "requests are lost"])
async def test_a_line_that_falls_silent_is_given_up_in_time_and_nothing_is_held_for_ever(
    wired: tuple[Store, Wire], deaf: bool
) -> None:
    store, wire = wired
    await mark(store, 0)
    wire.deaf, wire.dumb = deaf, True
    seconds, error = await taken(mark(store, 1))
    assert isinstance(error, StoreUnavailable)
    assert not isinstance(error, StoreRefused), "a lone statement that was sent may have been carried out"
    assert seconds < IN_TIME_S
    outcomes = await asyncio.gather(*(taken(both(store, 10 * key)) for key in range(1, 7)))
    assert all(seconds < IN_TIME_S and isinstance(error, StoreRefused) for seconds, error in outcomes)
    wire.deaf = wire.dumb = False
    await asyncio.sleep(6)  # connections that were being opened or asked are given up by now
    await asyncio.gather(*(both(store, 100 * key) for key in range(1, 7)))
    assert (1 in await marked_as(store)) == (not deaf)
