"""The database, embedded (SQLite) or shared (PostgreSQL): one engine, named writes, instants as microseconds.

Rooms keep their own tables (`services/act/tables.py`, `services/guard/audit_tables.py`) on the metadata below;
`deploy/migrations` is what creates them.
"""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final, TypeVar

import sqlalchemy as sa
from asyncpg import PostgresError
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.util import greenlet_spawn

from schemas.errors import ConfigInvalid, StoreUnavailable
from services.finish import finish

T = TypeVar("T")

metadata: Final = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "pk": "pk_%(table_name)s",
    }
)
"""Every table of every room."""

Probe = Callable[[str], None]
"""Told the name of each point of a write: `NAME:begin`, `NAME:written` (not yet durable), `NAME:committed`."""

_BUSY_MS: Final = 5_000
_POOL_WAIT_S: Final = 5.0
_ANSWER_S: Final = 5.0
"""What PostgreSQL may take to let us in, and over any one statement."""
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_SQLITE: Final = (
    "PRAGMA synchronous=FULL", "PRAGMA foreign_keys=ON", "PRAGMA secure_delete=ON",
)  # fmt: skip
_SQLITE_CONNECTIONS, _POSTGRESQL_CONNECTIONS = 4, 16
"""At once, unless said otherwise; with SQLite one for the writer of the moment and the others for readers."""
_NOWHERE: Final = frozenset({"sqlite://", "sqlite:///"})
_WAL_AGAIN_S: Final = 0.01
_EMPTY_WAL: Final = "PRAGMA wal_checkpoint(TRUNCATE)"


def micros(at: datetime) -> int:
    """An instant as microseconds since 1970, exactly."""
    seconds = int((at.replace(microsecond=0) - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds())
    return seconds * 1_000_000 + at.microsecond


def instant(stored: int) -> datetime:
    """The instant that `micros` stored."""
    seconds, rest = divmod(stored, 1_000_000)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest)


def _ignore(_point: str) -> None:
    """Nobody watches."""


class Store:
    """An engine with two ways in: `look` and `transact`; `execute` is a transaction of one statement.

    What they are given runs as one piece, on a thread with SQLite and as a task of the driver with PostgreSQL: handing
    over each statement would take three times as long, and far longer while other threads are busy. Once begun it comes
    to its end even if the caller is cancelled, who thus wrote all of it or nothing: a driver that is stopped halfway
    leaves a connection with its transaction open, and every other writer waiting. Driver errors come out as
    StoreUnavailable.

    SQLite writers queue on a lock of the process, so that they wait their turn instead of polling the file.
    """

    def __init__(self, url: str, *, pool_size: int | None = None, probe: Probe = _ignore) -> None:
        """`pool_size` is how many connections may work at once, with SQLite on a thread each. Raises ConfigInvalid."""
        if url in _NOWHERE or ":memory:" in url:
            raise ConfigInvalid("the store must outlive the process: use a file or PostgreSQL")
        self.embedded = url.startswith("sqlite")
        self.probe = probe
        self._running: set[asyncio.Task[Any]] = set()
        self._closed = False
        self._writers: AbstractAsyncContextManager[Any] = nullcontext()
        self._threads: ThreadPoolExecutor | None = None
        size = pool_size or (_SQLITE_CONNECTIONS if self.embedded else _POSTGRESQL_CONNECTIONS)
        options: dict[str, Any] = {"pool_size": size, "max_overflow": 0, "pool_timeout": _POOL_WAIT_S}
        options["hide_parameters"] = True  # an error's text would repeat what is stored
        if self.embedded:
            self._writers = asyncio.Lock()
            self._threads = ThreadPoolExecutor(size, thread_name_prefix="store")
            self._engine = sa.create_engine(url, connect_args={"check_same_thread": False}, **options)
            self._reads = self._engine
            sa.event.listen(self._engine, "connect", _configure_sqlite)
            sa.event.listen(self._engine, "begin", _begin_sqlite)
        else:
            waits = {"timeout": _ANSWER_S, "command_timeout": _ANSWER_S}
            self._engine = create_async_engine(url, connect_args=waits, **options).sync_engine
            self._reads = self._engine.execution_options(isolation_level="AUTOCOMMIT")

    async def look(self, work: Callable[[sa.Connection], T]) -> T:
        """Run `work`, which changes nothing; each of its statements sees what is committed when it runs."""

        def looking() -> T:
            with self._reads.connect() as connection:
                return work(connection)

        with _outages("reading"):
            return await self._drive(looking)

    async def transact(self, name: str, work: Callable[[sa.Connection], T]) -> T:
        """Run `work` in a transaction: all of it is durable when this returns.

        Raises StoreUnavailable: then none of it happened, or all of it and the answer was lost.
        """

        def working() -> T:
            with self._engine.connect() as connection:
                writing = connection.execution_options(tellerline_write=True)
                with writing.begin():
                    self.probe(f"{name}:begin")
                    done = work(writing)
                    self.probe(f"{name}:written")
                self.probe(f"{name}:committed")
                return done

        with _outages(f"writing {name}"):
            async with self._writers:
                return await self._drive(working)

    async def execute(self, name: str, statement: sa.Executable, values: Mapping[str, Any] = _NOTHING) -> int:
        """One statement, durable when this returns; how many rows it changed.

        PostgreSQL commits a lone statement by itself: one round trip instead of three.
        """
        if self.embedded:
            return await self.transact(name, lambda connection: changed(connection.execute(statement, values)))

        def executing() -> int:
            with self._reads.connect() as connection:
                self.probe(f"{name}:begin")
                done = changed(connection.execute(statement, values))
                self.probe(f"{name}:committed")
                return done

        with _outages(f"writing {name}"):
            return await self._drive(executing)

    async def erase(self, name: str, statement: sa.Executable) -> int:
        """As `execute`, for rows that shall leave SQLite's files too: what is freed there is overwritten with zeros.

        PostgreSQL keeps what was deleted until it vacuums, and in its backups.
        """
        done = await self.execute(name, statement)
        if self.embedded:
            async with self._writers:
                await self.look(lambda connection: connection.exec_driver_sql(_EMPTY_WAL).all())
        return done

    async def run_migrations(self, upgrade: Callable[[sa.Connection], None]) -> None:
        """Hand `upgrade` a connection within one transaction, which takes as long as it takes."""
        if self.embedded:
            await self.transact("migrate", upgrade)
            return
        patient = create_async_engine(self._engine.url, poolclass=sa.NullPool)
        with _outages("migrating"):
            async with patient.begin() as connection:
                await connection.run_sync(upgrade)

    async def release(self) -> None:
        """Let go of the connections, once what has begun came to its end, and every writer that waits its turn.

        The next use opens new ones: the file may be another by then.
        """
        await self._let_go(for_good=False)

    async def close(self) -> None:
        """As `release`, for good: what comes later raises StoreUnavailable. Again is harmless."""
        if self._closed:
            return
        await self._let_go(for_good=True)
        if self._threads is not None:
            self._threads.shutdown()

    async def _let_go(self, *, for_good: bool) -> None:
        async with self._writers:
            self._closed |= for_good
            while self._running:
                await asyncio.wait(self._running)
            await self._piece(self._engine.dispose)

    async def _drive(self, work: Callable[[], T]) -> T:
        if self._closed:
            raise StoreUnavailable("the store is closed")
        task = asyncio.ensure_future(self._piece(work))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return await finish(task)

    async def _piece(self, work: Callable[[], T]) -> T:
        """Run `work` on one of SQLite's threads, or as a task of PostgreSQL's driver."""
        if self._threads is None:
            return await greenlet_spawn(work)
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


@contextmanager
def _outages(doing: str) -> Iterator[None]:
    """What the driver raises comes out as StoreUnavailable; connecting fails with others, also the system's."""
    try:
        yield
    except (DBAPIError, PoolTimeout, PostgresError, OSError) as error:
        raise StoreUnavailable(f"{doing}: {type(error).__name__}") from error


def _configure_sqlite(connection: Any, _record: object) -> None:
    """Durable commits, and transactions that begin when we say so rather than when the driver guesses."""
    connection.isolation_level = None
    cursor = connection.cursor()
    _keep_a_wal(cursor)
    for pragma in (*_SQLITE, f"PRAGMA busy_timeout={_BUSY_MS}"):
        cursor.execute(pragma)
    cursor.close()


def _keep_a_wal(cursor: Any) -> None:
    """Processes that open a new file together all want to turn it to its log, for which SQLite itself never waits."""
    until = time.monotonic() + _BUSY_MS / 1000
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(_WAL_AGAIN_S)
        else:
            return


def _begin_sqlite(connection: sa.Connection) -> None:
    """Writers take the write lock at once, so that nothing read in a transaction can change before it commits."""
    if connection.get_execution_options().get("tellerline_write"):
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def insert_new(connection: sa.Connection, table: sa.Table, values: Mapping[str, Any]) -> bool:
    """Insert a row unless one with the same unique key is there; whether it was inserted."""
    build = sqlite_insert if connection.dialect.name == "sqlite" else postgresql_insert
    result = connection.execute(build(table).values(**values).on_conflict_do_nothing())
    return changed(result) == 1


def alone(connection: sa.Connection, key: str) -> None:
    """Let no other transaction pass here with the same `key` until this one ends. SQLite's writers are alone anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(key, 0))))


def changed(result: sa.CursorResult[Any]) -> int:
    """How many rows a statement changed."""
    return result.rowcount
