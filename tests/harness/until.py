"""Waiting for what no event tells."""

import asyncio
from collections.abc import Callable


async def until(holds: Callable[[], object], most_s: float = 30.0) -> None:
    """Return once it holds. Raises TimeoutError after `most_s` seconds."""
    async with asyncio.timeout(most_s):
        while not holds():  # noqa: ASYNC110 - a server, or another process, tells nobody
            await asyncio.sleep(0.01)
