"""One piece of work on the database: how far it has come, and what its failure says of it."""

from collections.abc import Callable
from enum import IntEnum
from threading import Lock
from typing import Any, Final, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, InterfaceError, InvalidRequestError
from sqlalchemy.exc import TimeoutError as PoolTimeout

T = TypeVar("T")

ANSWER_S: Final = 2.5
"""Longest wait for a piece of work, from asking for a connection to the answer: the turn for it, the way in and all."""
POOL: Final[dict[str, Any]] = {"max_overflow": 0, "pool_timeout": ANSWER_S, "hide_parameters": True}
"""Of every engine; an error's text would otherwise repeat what is stored."""
FAULTS: Final = (DBAPIError, PoolTimeout, OSError)
"""Of any database that is used."""
WRITES: Final[dict[str, Any]] = {"tellerline_write": True}
"""Marks a connection on which a transaction that writes is to begin."""
_UNANSWERED: Final = ("08", "57P01", "57P02", "57P03", "40003")
"""SQLSTATEs (or their class) that say that a connection ended or a commit's fate is unknown, rather than "no"."""
_PRIMARY: Final = 0xFF
_SQLITE_IOERR: Final = 10
"""SQLite: the disk failed, also while a commit was being made durable."""


class GivenUp(Exception):
    """Nobody waits for this piece of work any more, and it has changed nothing."""


class _Stage(IntEnum):
    WAITING = 0  # for its turn, or a connection
    BEGUN = 1  # what it does can still be undone
    SEALED = 2  # the commit was asked for: only the database knows


class WorkItem:
    """How far a piece of work has come. Given up before it is sealed, it comes to nothing. Safe between threads."""

    def __init__(self) -> None:
        self._stage = _Stage.WAITING
        self._given_up = False
        self._lock = Lock()

    def run(self, work: Callable[[sa.Connection], T], connection: sa.Connection) -> T:
        """It has its connection, which is dropped where it falls silent. Raises GivenUp."""
        self._reach(_Stage.BEGUN)
        try:
            return work(connection)
        except OSError:
            end(connection)
            raise

    def seal(self) -> None:
        """Its commit is asked for next. Raises GivenUp."""
        self._reach(_Stage.SEALED)

    @property
    def sealed(self) -> bool:
        """Whether its commit was asked for."""
        return self._stage is _Stage.SEALED

    def give_up(self, *, unless_begun: bool = False) -> bool:
        """Wait no longer; whether nothing of it will ever happen. `unless_begun` leaves it alone once it has begun."""
        with self._lock:
            if unless_begun and self._stage is not _Stage.WAITING:
                return False
            self._given_up = True
            return self._stage is not _Stage.SEALED

    def _reach(self, stage: _Stage) -> None:
        with self._lock:
            if self._given_up:
                raise GivenUp
            self._stage = stage


def refused(error: BaseException) -> bool:
    """Whether the database answered "no", so that the statement or commit that failed certainly came to nothing."""
    if not isinstance(error, DBAPIError) or error.connection_invalidated:
        return False
    code = getattr(error.orig, "sqlite_errorcode", None)
    if code is not None:
        return bool(code & _PRIMARY != _SQLITE_IOERR)
    state = getattr(error.orig, "sqlstate", None)
    return state is not None and not state.startswith(_UNANSWERED)


def lost(error: BaseException) -> bool:
    """Whether the connection had died, rather than the database being slow, full or unwilling."""
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    return isinstance(error, InterfaceError) or isinstance(error.__cause__, ConnectionError)


def end(connection: Any) -> None:
    """Drop a connection that no longer answers, without a word to the other side, which would be waited for."""
    try:
        raw = connection.connection.dbapi_connection
    except InvalidRequestError:
        return
    if hasattr(raw, "_terminate_force_close"):
        raw._terminate_force_close()  # noqa: SLF001 - its graceful end waits for an answer
    connection.invalidate()
