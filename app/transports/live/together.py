"""The tasks that a call's line is made of: they live together, and the first to end ends them all."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from schemas.errors import TellerlineError

T = TypeVar("T")


class Hung(Exception):
    """The other side is gone."""


@asynccontextmanager
async def together(*works: Coroutine[Any, Any, T]) -> AsyncIterator[list[asyncio.Task[T]]]:
    """Work that goes on side by side inside the block; what has not ended by its end is cancelled, and awaited."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def first_end(tasks: Sequence[asyncio.Task[TellerlineError | None]]) -> TellerlineError | Hung | None:
    """Why one of them ended, the first in the list of those that have; exceptions that nobody foresaw are raised."""
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    return next(_outcome(task) for task in tasks if task.done())


def _outcome(task: asyncio.Task[TellerlineError | None]) -> TellerlineError | Hung | None:
    error = task.exception()
    if error is None:
        return task.result()
    if isinstance(error, TellerlineError | Hung):
        return error
    raise error
