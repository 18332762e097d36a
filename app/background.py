"""Work that goes on in the background for as long as the gateway lives."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from typing import Any, Final

from schemas.errors import TellerlineError

log = logging.getLogger(__name__)

AGAIN_AFTER_S: Final = 1.0


def keep_running(
    stack: AsyncExitStack, work: Callable[[], Coroutine[Any, Any, object]], every_s: float = AGAIN_AFTER_S
) -> None:
    """Do it again and again until `stack` is left; also where it failed."""

    async def always() -> None:
        while True:
            try:
                await work()
            except TellerlineError as error:
                log.warning("background work failed: %s", error.code)
            except Exception as fault:
                log.exception("background work failed: %s", type(fault).__name__)
            await asyncio.sleep(every_s)

    working = asyncio.create_task(always())

    async def stop() -> None:
        working.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await working

    stack.push_async_callback(stop)
