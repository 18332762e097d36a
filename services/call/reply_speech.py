"""A reply's sentences as sound, in order, while further ones are being made."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from typing import Final

from schemas.speech import SpokenChunk
from services.ports import Clock
from services.response import AgentReply

AHEAD_S: Final = 5.0
"""So much sound is given out before it is heard, and no more: what is cut off need not have been sent."""

Speak = Callable[[str], AsyncGenerator[SpokenChunk, None]]
"""A sentence's sound."""


class Mouth:
    """One reply's voice. `told` gets every piece of sound, whose `text_end` counts in the whole reply."""

    def __init__(self, reply: AgentReply, speak: Speak, told: Callable[[SpokenChunk], None], clock: Clock) -> None:
        self._reply = reply
        self._speak = speak
        self._told = told
        self._clock = clock
        self._sentences: asyncio.Queue[tuple[str, int] | None] = asyncio.Queue()
        self._speaking = asyncio.create_task(self._all())
        self.sounded = False
        """Whether there was any sound: an engine may leave it to the client."""

    def say(self, text: str, begins: int) -> None:
        """Another sentence, and where in the reply it begins."""
        self._sentences.put_nowait((text, begins))

    async def finish(self) -> None:
        """Return once all was given out. Raises SpeechUnavailable, Busy."""
        self._sentences.put_nowait(None)
        await self._speaking

    async def stop(self) -> None:
        """Give out no more."""
        self._speaking.cancel()
        await asyncio.wait({self._speaking})

    async def _all(self) -> None:
        while (sentence := await self._sentences.get()) is not None:
            text, begins = sentence
            async with contextlib.aclosing(self._speak(text)) as chunks:
                async for chunk in chunks:
                    await self._give(replace(chunk, text_end=begins + chunk.text_end))

    async def _give(self, chunk: SpokenChunk) -> None:
        self.sounded = True
        now = self._clock.monotonic()
        self._reply.sound(chunk.seconds, now)
        self._told(chunk)
        ahead = self._reply.ends_at - now
        if ahead > AHEAD_S:
            await asyncio.sleep(ahead - AHEAD_S)
