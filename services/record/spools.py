"""The spools that a process empties: its own, into which it puts entries, and those that others left behind."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from schemas.errors import StoreUnavailable
from services.record.spool import Spool
from services.timing import left

_PUT_S, _LEAST_S = 1.0, 0.3
"""What an answer waits for the disk; the latter also where its time is over."""

BATCH: Final = 100
"""Entries that are taken at once."""
Take = Callable[[Spool, Sequence[tuple[int, bytes]]], Awaitable[None]]


class SpoolWriter:
    """Puts entries into a spool, on a thread of its own. A disk that falls silent costs an answer no more than a bound.

    One event loop uses it.
    """

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="spool")

    async def put(self, data: bytes) -> None:
        """As Spool.put. Raises StoreUnavailable too: the disk says nothing, and the entry may yet be there."""
        writing = asyncio.get_running_loop().run_in_executor(self._thread, self._spool.put, data)
        await asyncio.wait({writing}, timeout=max(_LEAST_S, left(_PUT_S)))
        if not writing.done():
            writing.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            raise StoreUnavailable("the spool's disk does not answer")
        writing.result()

    def close(self) -> None:
        """Let go of the spool; what still waits for its disk is refused."""
        self._thread.shutdown(wait=False)
        self._spool.close()


class Spools:
    """`own` is this process's; those `left_behind` are let go of once they are empty."""

    def __init__(self, own: Spool, left_behind: Sequence[Spool] = ()) -> None:
        self._own = own
        self._writer = SpoolWriter(own)
        self._left_behind = list(left_behind)

    @property
    def waiting(self) -> int:
        """Entries of our own that are still to be taken."""
        return self._own.waiting

    @property
    def fill(self) -> float:
        """How full our own is, 0 … 1."""
        return self._own.fill

    @property
    def gone(self) -> bool:
        """Whether our own can keep nothing any more, when it was last looked at."""
        return self._own.gone

    def look(self) -> None:
        """Look at it; blocks."""
        self._own.look()

    async def put(self, data: bytes) -> None:
        """As SpoolWriter.put. Raises StoreUnavailable."""
        await self._writer.put(data)

    async def empty(self, take: Take) -> int:
        """Have everything taken, the oldest first; how many entries that were. `take` marks as done what it took."""
        taken = 0
        for spool in (*self._left_behind, self._own):
            while entries := spool.oldest(BATCH):
                await take(spool, entries)
                taken += len(entries)
        for spool in self._left_behind:
            spool.close()
        self._left_behind.clear()
        return taken

    def close(self) -> None:
        """Let go of them; what waits is taken after the next start."""
        for spool in self._left_behind:
            spool.close()
        self._writer.close()
