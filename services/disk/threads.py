"""Files that somebody waits for, or nobody, on threads of their own: a disk that never answers holds nothing else."""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, ParamSpec, TypeVar

from schemas.errors import StoreUnavailable

T = TypeVar("T")
P = ParamSpec("P")

DISK_S: Final = 1.0
"""What an answer waits for a file that it can do without."""
_THREADS: Final = 8
_MOST: Final = 256
"""Pieces of work that are begun or wait: what they hold is memory."""


class DiskThreads:
    """Threads of this process for work on files, such as a hung network folder may keep for ever."""

    def __init__(self, threads: int = _THREADS, most: int = _MOST) -> None:
        self._count, self._most = threads, most
        self.renew()

    def renew(self) -> None:
        """Begin with threads of its own: a forked process has none of its parent's."""
        self._threads = ThreadPoolExecutor(self._count, thread_name_prefix="disk")
        self._pending = 0

    async def run(self, most_s: float | None, work: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
        """Have `work` done, and wait `most_s` seconds for it, or for ever. Raises StoreUnavailable; what it raises.

        Once begun it goes on when nobody waits any more; what it raises then is lost.
        """
        if self._pending >= self._most:
            raise StoreUnavailable("the disk does not answer")
        self._pending += 1
        doing = asyncio.get_running_loop().run_in_executor(self._threads, lambda: work(*args, **named))
        doing.add_done_callback(self._over)
        await asyncio.wait({doing}, timeout=most_s)
        if not doing.done():
            raise StoreUnavailable("the disk does not answer")
        return doing.result()

    def _over(self, done: asyncio.Future[T]) -> None:
        self._pending -= 1
        if not done.cancelled():
            done.exception()


on_disk: Final = DiskThreads()
"""Those of this process."""
os.register_at_fork(after_in_child=on_disk.renew)
