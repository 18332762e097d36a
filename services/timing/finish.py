"""Work that must come to its end once it has begun, whatever becomes of whoever asked for it."""

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def finish(work: Coroutine[Any, Any, T] | asyncio.Task[T]) -> T:
    """Await `work` to its end; a cancellation of the caller, however often it comes, follows only then."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait({task})
        raise
