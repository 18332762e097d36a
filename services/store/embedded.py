"""SQLite: one file, on threads of its own, whose writers take turns instead of polling the file."""

import asyncio
import contextlib
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar, Final, TypeVar

import sqlalchemy as sa

from services.store.work import FAULTS, POOL, WRITES, WorkItem

T = TypeVar("T")

BUSY_MS: Final = 1_000
"""What SQLite waits for another process's lock."""
_PRAGMAS: Final = (
    "PRAGMA synchronous=FULL", "PRAGMA foreign_keys=ON", "PRAGMA secure_delete=ON", f"PRAGMA busy_timeout={BUSY_MS}",
)  # fmt: skip
_OPENING_S: Final = 5.0
_WAL_AGAIN_S: Final = 0.01
_CONNECTIONS: Final = 4
"""At once, unless said otherwise: one for the writer of the moment and the others for readers."""


class EmbeddedDatabase:
    """An engine over SQLite's file."""

    faults: ClassVar[tuple[type[Exception], ...]] = FAULTS

    def __init__(self, url: str, size: int | None) -> None:
        """`size` is how many connections may work at once, on a thread each."""
        size = size or _CONNECTIONS
        self.engine = sa.create_engine(url, connect_args={"check_same_thread": False}, pool_size=size, **POOL)
        self._threads = ThreadPoolExecutor(size, thread_name_prefix="store")
        self._writers = asyncio.Lock()
        self._file = EmbeddedFile(self.engine)

    async def run(self, piece: WorkItem, work: Callable[[sa.Connection], T], *, writing: bool) -> T:
        """Run `work` on a thread with a connection; `writing` waits for the other writers of this process."""

        def working() -> T:
            with self.engine.connect() as connection:
                return piece.run(work, connection)

        async with self._writers if writing else contextlib.nullcontext():
            return await self._on_a_thread(working)

    def check(self) -> None:
        """Whether what is written now goes where it is looked for. Raises FileReplaced."""
        self._file.check()

    async def migrate(self, upgrade: Callable[[sa.Connection], None]) -> None:
        """Run `upgrade` within one transaction, which takes as long as it takes."""

        def migrating() -> None:
            with self.engine.connect() as connection:
                writing = connection.execution_options(**WRITES)
                with writing.begin():
                    upgrade(writing)

        async with self._writers:
            await self._on_a_thread(migrating)

    async def release(self) -> None:
        """Close the connections; the next use opens new ones, perhaps to another file."""
        await self._on_a_thread(self.engine.dispose)
        self._file.forget()

    def shut_down(self, *, wait: bool) -> None:
        """Let the threads go."""
        self._threads.shutdown(wait=wait)

    async def _on_a_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


class FileReplaced(OSError):
    """The database's file is no longer the one that was opened: what is written would be written into nothing."""


class EmbeddedFile:
    """SQLite's file. It is made at the first opening alone, and must be the same one for as long as it is used."""

    def __init__(self, engine: sa.Engine) -> None:
        self._path = engine.url.database or ""
        self._identity: tuple[int, int] | None = None
        sa.event.listen(engine, "do_connect", self._admit)
        sa.event.listen(engine, "connect", self._configure)
        sa.event.listen(engine, "checkout", lambda *_: self.check())
        sa.event.listen(engine, "begin", _begin)

    def check(self) -> None:
        """Raises FileReplaced."""
        if self._identity is not None and self._now() != self._identity:
            raise FileReplaced("the database's file was removed or replaced while it was in use")

    def forget(self) -> None:
        """The next opening may find another file, or none."""
        self._identity = None

    def _now(self) -> tuple[int, int] | None:
        with contextlib.suppress(OSError):
            found = Path(self._path).stat()
            return found.st_dev, found.st_ino
        return None

    def _admit(self, *_: object) -> None:
        self.check()

    def _configure(self, connection: Any, _record: object) -> None:
        """Durable commits, and transactions that begin when we say so rather than when the driver guesses."""
        connection.isolation_level = None
        cursor = connection.cursor()
        _keep_a_wal(cursor)
        for pragma in _PRAGMAS:
            cursor.execute(pragma)
        cursor.close()
        if self._identity is None:
            self._identity = self._now()


def _keep_a_wal(cursor: Any) -> None:
    """Processes that open a new file together all want to turn it to its log, for which SQLite itself never waits."""
    until = time.monotonic() + _OPENING_S
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(_WAL_AGAIN_S)
        else:
            return


def _begin(connection: sa.Connection) -> None:
    """Writers take the write lock at once, so that nothing read in a transaction can change before it commits."""
    if WRITES.keys() <= connection.get_execution_options().keys():
        connection.exec_driver_sql("BEGIN IMMEDIATE")
