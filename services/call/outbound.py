"""The way out of a call: bounded, and what has gone stale is never sent."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

from schemas.call import CallEvent, ReplyCut, Voiced
from schemas.errors import SlowConsumer
from schemas.turn import Partial

CAPACITY: Final = 256
"""Events that may wait for a client; one that lets more pile up is given up."""


class OutboundQueue:
    """Events in order. A newer partial replaces one that still waits, and sound of a reply that is cut is not sent.

    Other events are never dropped.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._events: deque[CallEvent] = deque()
        self._ready = asyncio.Event()
        self._closed = False

    def __len__(self) -> int:
        return len(self._events)

    def put(self, event: CallEvent) -> None:
        """Add an event. Raises SlowConsumer when the client has let too many pile up."""
        if isinstance(event, Partial):
            self._keep(lambda waiting: not isinstance(waiting, Partial))
        elif isinstance(event, ReplyCut):
            self._keep(lambda waiting: not (isinstance(waiting, Voiced) and waiting.reply == event.reply))
        if len(self._events) >= self._capacity:
            raise SlowConsumer("the client does not read its events")
        self._events.append(event)
        self._ready.set()

    async def get(self) -> CallEvent | None:
        """The next event; None when there will be no more."""
        while not self._events:
            if self._closed:
                return None
            self._ready.clear()
            await self._ready.wait()
        return self._events.popleft()

    def close(self) -> None:
        """No more events follow; those that wait may still be taken."""
        self._closed = True
        self._ready.set()

    def _keep(self, wanted: Callable[[CallEvent], bool]) -> None:
        kept = [event for event in self._events if wanted(event)]
        self._events.clear()
        self._events.extend(kept)
