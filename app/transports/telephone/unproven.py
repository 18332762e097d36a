"""Lines on which nothing was proved yet: few, for a moment, and the one that has been there longest makes room."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from schemas.errors import CallIdle

MOST: Final = 64
"""At a time; whoever means it says whose call it is with the first message."""
PATIENCE_S: Final = 3.0


class Unproven:
    """Those of one gateway. One event loop uses it."""

    def __init__(self) -> None:
        self._waiting: dict[asyncio.Timeout, None] = {}

    @asynccontextmanager
    async def line(self) -> AsyncIterator[None]:
        """One of them, until it is known whose call it is. Raises CallIdle where that takes too long."""
        if len(self._waiting) >= MOST:
            longest = next(iter(self._waiting))
            del self._waiting[longest]
            if not longest.expired():
                longest.reschedule(asyncio.get_running_loop().time())
        try:
            async with asyncio.timeout(PATIENCE_S) as patience:
                self._waiting[patience] = None
                try:
                    yield
                finally:
                    self._waiting.pop(patience, None)
        except TimeoutError:
            raise CallIdle("nothing was said that proves whose call it is") from None
