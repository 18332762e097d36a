"""The spools that a process empties: its own, into which it puts entries, and those that others left behind."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from services.record.spool import Spool, SpoolWriter

BATCH: Final = 100
"""Entries that are taken at once."""
Take = Callable[[Spool, Sequence[tuple[int, bytes]]], Awaitable[None]]


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
