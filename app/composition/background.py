"""Work beside other work: what is needed later, and what goes on for as long as the gateway lives."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from typing import Any, Final, TypeVar

from schemas.errors import TellerlineError

log = logging.getLogger(__name__)

T = TypeVar("T")

AGAIN_AFTER_S: Final = 1.0


def beside(stack: AsyncExitStack, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """Begin it now, to be awaited later; nothing of it is left behind when `stack` is left."""
    working = asyncio.create_task(work)

    async def stop() -> None:
        working.cancel()
        await asyncio.wait({working})
        if not working.cancelled():
            working.exception()  # whoever awaited it knows

    stack.push_async_callback(stop)
    return working


def keep_running(
    stack: AsyncExitStack, work: Callable[[], Coroutine[Any, Any, object]], every_s: float = AGAIN_AFTER_S
) -> None:
    """Do it again and again until `stack` is left; also where it failed."""

    async def always() -> None:
        while True:
            try:
                await work()
            except TellerlineError as error:
                log.warning("background work failed: %s: %s", work.__qualname__, error.code)
            except Exception as fault:
                log.exception("background work failed: %s", type(fault).__name__)
            await asyncio.sleep(every_s)

    beside(stack, always())
