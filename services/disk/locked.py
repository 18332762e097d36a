"""A block that one has to itself, among the threads and processes that share a folder."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    """The block under a lock, a file that is made where it is absent; it ends with the process at the latest.

    Raises BlockingIOError where another has it and we do not `wait`, OSError.
    """
    with path.open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
