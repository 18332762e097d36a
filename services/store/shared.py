"""PostgreSQL: shared by several gateways, reached through a pool whose dead connections are replaced."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Final, TypeVar

import sqlalchemy as sa
from asyncpg import PostgresError
from sqlalchemy.exc import DBAPIError, InvalidatePoolError, InvalidRequestError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from services.store.work import ANSWER_S, FAULTS, POOL, WorkItem, lost

T = TypeVar("T")

_CONNECTIONS: Final = 16
"""At once, unless said otherwise."""
_LOCK_MS, _STATEMENT_MS = 1_000, 2_000
"""Before we stop waiting the database itself says no: then it is known that nothing happened."""
_IDLE_S: Final = 1.0
"""A connection that was idle for longer is asked whether it lives before work is given to it."""
_PING_S: Final = 0.7


class SharedDatabase:
    """An engine over PostgreSQL's driver."""

    faults: ClassVar[tuple[type[Exception], ...]] = (*FAULTS, PostgresError)

    def __init__(self, url: str, size: int | None) -> None:
        """`size` is how many connections may work at once."""
        limits = {"statement_timeout": f"{_STATEMENT_MS}", "lock_timeout": f"{_LOCK_MS}"}
        waits = {"timeout": ANSWER_S, "command_timeout": ANSWER_S, "server_settings": limits}
        self._transactions = create_async_engine(url, connect_args=waits, pool_size=size or _CONNECTIONS, **POOL)
        self._lone = self._transactions.execution_options(isolation_level="AUTOCOMMIT")
        self.engine = self._transactions.sync_engine
        _keep_alive(self.engine)

    async def run(self, piece: WorkItem, work: Callable[[sa.Connection], T], *, writing: bool) -> T:
        """Run `work` with a connection that lives. Unless `writing`, each of its statements commits by itself.

        Once more where the connection turned out to be dead before anything could have been made durable.
        """
        engine = self._transactions if writing else self._lone
        try:
            return await _once(engine, piece, work)
        except (DBAPIError, OSError) as error:
            if piece.sealed or not lost(error):
                raise
        return await _once(engine, piece, work)

    def check(self) -> None:
        """Nothing to check: the server knows where it writes."""

    async def migrate(self, upgrade: Callable[[sa.Connection], None]) -> None:
        """Run `upgrade` within one transaction, which takes as long as it takes."""
        patient = create_async_engine(self.engine.url, poolclass=sa.NullPool)
        async with patient.begin() as connection:
            await connection.run_sync(upgrade)

    async def release(self) -> None:
        """Close the connections; the next use opens new ones."""
        await self._transactions.dispose()

    def shut_down(self, *, wait: bool) -> None:
        """Nothing is left to let go."""


async def _once(engine: AsyncEngine, piece: WorkItem, work: Callable[[sa.Connection], T]) -> T:
    try:
        connection = await engine.connect()
    except InvalidRequestError as error:  # the pool found none alive
        raise ConnectionError("no living connection") from error
    try:
        return await connection.run_sync(partial(piece.run, work))
    finally:
        await connection.close()


def _keep_alive(engine: sa.Engine) -> None:
    """Have dead connections of PostgreSQL's pool replaced before they are handed out: nothing was sent on them then."""
    sa.event.listen(engine, "checkin", _rested)
    sa.event.listen(engine, "checkout", _alive)


def _rested(_connection: object, record: Any) -> None:
    record.info["rested_at"] = time.monotonic()


def _alive(connection: Any, record: Any, _proxy: object) -> None:
    raw = connection.driver_connection
    idle_s = time.monotonic() - record.info.get("rested_at", time.monotonic())
    if not raw.is_closed() and idle_s < _IDLE_S:
        return
    try:
        if not raw.is_closed():
            connection.run_async(_ping)
            return
    except (DBAPIError, PostgresError, OSError) as error:
        raw.terminate()
        raise InvalidatePoolError(f"a connection died: {type(error).__name__}") from error
    raise InvalidatePoolError("a connection was closed while it was idle")


async def _ping(raw: Any) -> None:
    await raw.fetchrow(";", timeout=_PING_S)
