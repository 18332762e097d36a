"""A voice for tests of everything around it: a word is a tone of so many milliseconds, in chunks of one word."""

import asyncio
from collections.abc import AsyncGenerator

import numpy as np

from schemas.errors import TellerlineError
from schemas.ids import Locale
from schemas.speech import SpokenChunk


class FakeSynthesizer:
    """`pause_s` passes before each word; a set `error` is raised instead of the word number `fails_at`."""

    def __init__(self, word_ms: int = 100, rate: int = 24_000) -> None:
        self.word_ms = word_ms
        self.rate = rate
        self.pause_s = 0.0
        self.error: TellerlineError | None = None
        self.fails_at = 0
        self.spoken: list[str] = []
        self.open = 0
        self.foreseen: list[str] = []
        self.closed = False

    async def speak(self, text: str, locale: Locale, voice: str) -> AsyncGenerator[SpokenChunk, None]:
        self.open += 1
        try:
            end = 0
            for number, word in enumerate(text.split(" ")):
                await asyncio.sleep(self.pause_s)
                if self.error is not None and number == self.fails_at:
                    raise self.error
                end += len(word) + (1 if number else 0)
                self.spoken.append(word)
                yield SpokenChunk(self._tone(), self.rate, end)
        finally:
            self.open -= 1

    def for_call(self) -> "FakeSynthesizer":
        return self

    def foresee(self, text: str, locale: Locale) -> None:
        self.foreseen.append(text)

    def close(self) -> None:
        self.closed = True

    def _tone(self) -> bytes:
        at = np.arange(self.rate * self.word_ms // 1000) / self.rate
        return (np.sin(2 * np.pi * 440 * at) * 12_000).astype("<i2").tobytes()
