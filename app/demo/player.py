"""A caller on the line: microphone audio at real-time pace out, events in."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import numpy as np
import orjson
from websockets.asyncio.client import ClientConnection, connect

from schemas.audio import SAMPLE_RATE, Samples

FRAME: Final = SAMPLE_RATE // 50
"""Samples of 20 ms."""
HISS: Final = 1e-4
"""Amplitude of the line's own noise between utterances."""
PATIENCE_S: Final = 30.0
"""Longest wait for any event."""

Event = dict[str, Any]


class Line:
    """One call's connection. Sound is sent continuously, as from an open microphone."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._waiting: list[Samples] = []
        self._noise = np.random.default_rng(7)

    async def keep_sending(self) -> None:
        """Send a frame every 20 ms until cancelled: what is to be said, or the line's hiss."""
        due = time.monotonic()
        while True:
            frame = self._next_frame()
            await self._socket.send((np.clip(frame, -1, 1) * 32767).astype("<i2").tobytes())
            due += FRAME / SAMPLE_RATE
            await asyncio.sleep(max(0.0, due - time.monotonic()))

    def say(self, samples: Samples) -> None:
        """Queue an utterance."""
        self._waiting.append(samples)

    async def send(self, event: Event) -> None:
        """Send an event as text."""
        await self._socket.send(orjson.dumps(event).decode())

    async def events(self) -> AsyncIterator[Event]:
        """What the service says, as it comes. Raises TimeoutError when nothing comes for long."""
        while True:
            message = await asyncio.wait_for(self._socket.recv(), PATIENCE_S)
            yield orjson.loads(message)

    def _next_frame(self) -> Samples:
        if not self._waiting:
            return self._noise.normal(0, HISS, FRAME).astype(np.float32)
        head = self._waiting[0]
        frame = np.zeros(FRAME, dtype=np.float32)
        frame[: min(FRAME, head.size)] = head[:FRAME]
        self._waiting[0] = head[FRAME:]
        if not self._waiting[0].size:
            self._waiting.pop(0)
        return frame


@asynccontextmanager
async def line(url: str, token: str, locale: str) -> AsyncIterator[Line]:
    """Open a call at `url` (ws://…/v1/calls) in a language."""
    async with connect(url, additional_headers={"Authorization": f"Bearer {token}"}) as socket:
        opened = Line(socket)
        own = {"locale": locale, "playback": "acknowledged"}
        await opened.send({"type": "session.update", "session": {"type": "realtime", "tellerline": own}})
        sender = asyncio.create_task(opened.keep_sending())
        try:
            yield opened
        finally:
            sender.cancel()
            await asyncio.gather(sender, return_exceptions=True)
