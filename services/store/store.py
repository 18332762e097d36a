"""The database, embedded (SQLite) or shared (PostgreSQL): one engine, named writes, instants as microseconds.

Rooms keep their own tables (`services/banking/tables.py`, `services/record/tables.py`) on the metadata below;
`app/migrations` is what creates them.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, ClassVar, Final, Protocol, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from schemas.errors import ConfigInvalid, StoreRefused, StoreUnavailable
from services.store.embedded import EmbeddedDatabase
from services.store.work import ANSWER_S, WRITES, WorkItem, end, refused
from services.timing import left

log = logging.getLogger(__name__)

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

probe: Final = sa.Table(
    "store_probe",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("at", sa.BigInteger, nullable=False),
)
"""One row, written to find out whether anything can be."""

Probe = Callable[[str], None]
"""Told the name of each point of a write: `NAME:begin`, `NAME:written` (not yet durable), `NAME:committed`."""

_LETTING_GO_S: Final = 10.0
"""What has begun may take so long to end before the process ends without it."""
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_NOWHERE: Final = frozenset({"sqlite://", "sqlite:///"})
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


class Database(Protocol):
    """One kind of database."""

    faults: ClassVar[tuple[type[Exception], ...]]
    """What goes wrong while it is used: SQLAlchemy lets some of its driver's faults through, and the system's."""

    @property
    def engine(self) -> sa.Engine:
        """For what depends on the dialect."""
        ...

    async def run(self, piece: WorkItem, work: Callable[[sa.Connection], T], *, writing: bool) -> T:
        """Run `work` with a connection that lives, as one piece; `writing` where it begins transactions."""
        ...

    def check(self) -> None:
        """Before a commit: raises OSError where it would go into nothing."""
        ...

    async def migrate(self, upgrade: Callable[[sa.Connection], None]) -> None:
        """Run `upgrade` within one transaction, which takes as long as it takes."""
        ...

    async def release(self) -> None:
        """Close the connections; the next use opens new ones."""
        ...

    def shut_down(self, *, wait: bool) -> None:
        """Let go of everything, for good."""
        ...


class Store:
    """A database with two ways in: `look` and `transact`; `execute` is a transaction of one statement.

    What they are given runs as one piece, on a thread with SQLite and as a task of the driver with PostgreSQL: handing
    over each statement would take three times as long, and far longer while other threads are busy. Once begun it comes
    to its end even if the caller is cancelled, who thus wrote all of it or nothing. Nobody waits longer for it than
    a bound (see `services/timing/deadline.py`): what was not sent to be committed by then comes to nothing.

    Failures come out as StoreRefused where nothing of it happened, as StoreUnavailable where nobody can know.
    """

    def __init__(self, url: str, *, pool_size: int | None = None, probe: Probe = _ignore) -> None:
        """`pool_size` is how many connections may work at once, with SQLite on a thread each. Raises ConfigInvalid."""
        if url in _NOWHERE or ":memory:" in url:
            raise ConfigInvalid("the store must outlive the process: use a file or PostgreSQL")
        self.embedded = url.startswith("sqlite")
        self.place: Final = sa.make_url(url).render_as_string(hide_password=True)
        self.probe = probe
        self._running: set[asyncio.Task[Any]] = set()
        self._closed = False
        self._database: Database = EmbeddedDatabase(url, pool_size) if self.embedded else _shared(url, pool_size)
        self._engine = self._database.engine

    async def clock(self) -> datetime | None:
        """What the database's own clock says; nothing where it is this process's. Raises StoreUnavailable."""
        if self.embedded:
            return None
        asked = sa.select(sa.func.clock_timestamp())
        said: datetime = await self.look(lambda connection: connection.execute(asked).scalar_one())
        return said

    async def look(self, work: Callable[[sa.Connection], T]) -> T:
        """Run `work`, which changes nothing; each of its statements sees what is committed when it runs."""
        return await self._drive("reading", WorkItem(), work)

    async def transact(self, name: str, work: Callable[[sa.Connection], T]) -> T:
        """Run `work` in a transaction: all of it is durable when this returns. It may run twice, the first undone.

        Raises StoreRefused: none of it happened; StoreUnavailable: that, or all of it and the answer was lost.
        """
        piece = WorkItem()

        def working(connection: sa.Connection) -> T:
            writing = connection.execution_options(**WRITES)
            with writing.begin():
                try:
                    self.probe(f"{name}:begin")
                    done = work(writing)
                    self.probe(f"{name}:written")
                    self._database.check()
                    piece.seal()
                except OSError:
                    end(writing)  # it is silent: to undo what was done would be to wait for it once more
                    raise
            self.probe(f"{name}:committed")
            return done

        return await self._drive(f"writing {name}", piece, working, writing=True)

    async def execute(self, name: str, statement: sa.Executable, values: Mapping[str, Any] = _NOTHING) -> int:
        """One statement, durable when this returns; how many rows it changed. Raises as `transact`.

        PostgreSQL commits a lone statement by itself: one round trip instead of three.
        """
        if self.embedded:
            return await self.transact(name, lambda connection: changed(connection.execute(statement, values)))

        piece = WorkItem()

        def executing(connection: sa.Connection) -> int:
            self.probe(f"{name}:begin")
            piece.seal()
            done = changed(connection.execute(statement, values))
            self.probe(f"{name}:committed")
            return done

        return await self._drive(f"writing {name}", piece, executing)

    async def erase(self, name: str, statement: sa.Executable) -> int:
        """As `execute`, for rows that shall leave SQLite's files too: what is freed there is overwritten with zeros.

        PostgreSQL keeps what was deleted until it vacuums, and in its backups.
        """
        done = await self.execute(name, statement)
        await self.erased(name)
        return done

    async def erased(self, name: str) -> None:
        """Have rows that were deleted leave SQLite's files too. Raises StoreUnavailable."""
        if self.embedded:
            await self._drive(f"emptying the log after {name}", WorkItem(), _empty_wal, writing=True)

    async def run_migrations(self, upgrade: Callable[[sa.Connection], None]) -> None:
        """Hand `upgrade` a connection within one transaction, which takes as long as it takes."""
        with _outages("migrating", self._database.faults):
            await self._database.migrate(upgrade)

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
        self._database.shut_down(wait=not self._running)

    async def _let_go(self, *, for_good: bool) -> None:
        self._closed |= for_good
        until = time.monotonic() + _LETTING_GO_S
        while self._running and time.monotonic() < until:
            await asyncio.wait(self._running, timeout=until - time.monotonic())
        if self._running:
            log.error("the database holds up what was begun; its connections are left behind")
            return
        await self._database.release()

    async def _drive(
        self, doing: str, piece: WorkItem, work: Callable[[sa.Connection], T], *, writing: bool = False
    ) -> T:
        """Have a piece of work done, within the time that is left for it."""
        if self._closed:
            raise StoreRefused("the store is closed")
        task = asyncio.ensure_future(self._database.run(piece, work, writing=writing))
        self._running.add(task)
        task.add_done_callback(self._ran)
        if not await _ended(task, piece, left(ANSWER_S)):
            unanswered = StoreRefused if piece.give_up() else StoreUnavailable
            raise unanswered(f"{doing}: no answer in time")
        with _outages(doing, self._database.faults, piece):
            return task.result()

    def _ran(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waits for it is told; otherwise nobody is left to be


async def _ended(task: asyncio.Task[Any], piece: WorkItem, seconds: float) -> bool:
    """Wait for a piece of work; whether it came to its end in time. Cancelled, wait for what has begun all the same."""
    until, cancelled = time.monotonic() + seconds, None
    while not task.done() and (rest := until - time.monotonic()) > 0:
        try:
            await asyncio.wait({task}, timeout=rest)
        except asyncio.CancelledError as cancelling:
            cancelled = cancelling
            piece.give_up(unless_begun=True)
    if cancelled is not None:
        raise cancelled
    return task.done()


def _shared(url: str, pool_size: int | None) -> Database:
    from services.store.shared import SharedDatabase  # with its driver 0.2 s of a start that SQLite does without

    return SharedDatabase(url, pool_size)


def _empty_wal(connection: sa.Connection) -> None:
    connection.exec_driver_sql(_EMPTY_WAL).all()


@contextmanager
def _outages(doing: str, faults: tuple[type[Exception], ...], piece: WorkItem | None = None) -> Iterator[None]:
    """What the driver raises comes out as our own errors; connecting fails with others, also the system's."""
    try:
        yield
    except faults as error:
        nothing = piece is not None and (not piece.sealed or refused(error))
        raise (StoreRefused if nothing else StoreUnavailable)(f"{doing}: {type(error).__name__}") from error


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
