"""An engine that hums: as long as its words, at once or slowly, and notes what it was asked."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from schemas.ids import Locale
from services.speech.engine import Sound

RATE = 8_000


@dataclass
class HummingEngine:
    """`SpeechEngine`: two pieces a clause, ten milliseconds a character; `error` is raised after `until` clauses."""

    delay_s: float = 0.0
    error: Exception | None = None
    until: int = 0
    version: str = "hum-1"
    asked: list[tuple[str, Locale, str]] = field(default_factory=list)
    any_time: list[bool] = field(default_factory=list)
    stopped: int = 0
    closed: bool = False

    async def sound(
        self, words: str, locale: Locale, voice: str, *, any_time: bool = False
    ) -> AsyncGenerator[Sound, None]:
        """A hum for `words`."""
        if self.error is not None and len(self.asked) >= self.until:
            raise self.error
        self.asked.append((words, locale, voice))
        self.any_time.append(any_time)
        ended = False
        try:
            for _ in range(2):
                await asyncio.sleep(self.delay_s)
                yield Sound(b"\x01\x00" * (RATE // 200 * len(words)), RATE)
            ended = True
        finally:
            self.stopped += not ended

    async def close(self) -> None:
        """Note it."""
        self.closed = True
