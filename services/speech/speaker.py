"""The `Synthesizer` port over any engine: text prepared, cut into clauses, each made while the one before is heard."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Collection, Iterable
from contextlib import aclosing
from typing import Final

from schemas.ids import Locale
from schemas.speech import SpokenChunk
from services.speech.cache import SoundCache
from services.speech.clauses import clauses
from services.speech.engine import Sound, SpeechEngine

_AHEAD: Final = 1
"""Clauses that are made ahead of the one that is taken: a reply that is cut has cost little more than was heard."""

_TAIL_S: Final = 0.02
"""What is kept back of a clause until it is known whether it was the last of it: with it the clause has been said."""

Repeating = Collection[tuple[Locale, str]]
"""Clauses that no customer's values are part of, so that they may be kept for everybody."""


class Speaker:
    """Speaks by one engine; keeps the clauses that repeat. One event loop uses it."""

    def __init__(self, engine: SpeechEngine, repeating: Repeating = (), cache: SoundCache | None = None) -> None:
        self._engine = engine
        self._repeating = frozenset(repeating)
        self._cache = cache or SoundCache()

    async def speak(self, text: str, locale: Locale, voice: str) -> AsyncGenerator[SpokenChunk, None]:
        """The sound of `text` clause by clause. Raises SpeechUnavailable, Busy, after what could be said."""
        made: asyncio.Queue[SpokenChunk | Exception | None] = asyncio.Queue(_AHEAD)
        making = asyncio.create_task(self._make(text, locale, voice, made))
        try:
            while (chunk := await made.get()) is not None:
                if isinstance(chunk, Exception):
                    raise chunk
                yield chunk
        finally:
            making.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await making

    async def warm_up(self, wanted: Iterable[tuple[Locale, str]]) -> None:
        """Have these clauses ready, so that a caller hears them at once; one at a time. Raises SpeechUnavailable."""
        for locale, words in wanted:
            async with aclosing(self._sound(words, locale, "")) as sounds:
                async for _ in sounds:
                    pass

    async def close(self) -> None:
        """Close the engine."""
        await self._engine.close()

    async def _make(
        self, text: str, locale: Locale, voice: str, made: asyncio.Queue[SpokenChunk | Exception | None]
    ) -> None:
        """Every clause's chunks in order, then None; a failure in its place."""
        said = 0
        try:
            for clause in clauses(text, locale):
                held = Sound(b"", 0)
                async with aclosing(self._sound(clause.words, locale, voice)) as sounds:
                    async for sound in sounds:
                        pcm = held.pcm + sound.pcm
                        tail = min(len(pcm), int(_TAIL_S * sound.rate) * 2)
                        held = Sound(pcm[len(pcm) - tail :], sound.rate)
                        if len(pcm) > tail:
                            await made.put(SpokenChunk(pcm[: len(pcm) - tail], sound.rate, said))
                said = clause.end
                if held.pcm:
                    await made.put(SpokenChunk(held.pcm, held.rate, said))
        except Exception as error:  # noqa: BLE001 - raised where the sound is awaited
            await made.put(error)
        else:
            await made.put(None)

    async def _sound(self, words: str, locale: Locale, voice: str) -> AsyncGenerator[Sound, None]:
        """A clause's sound, from the cache where it repeats."""
        key = (self._engine.version, locale, voice, words)
        repeats = (locale, words) in self._repeating
        kept = self._cache.get(key) if repeats else None
        if kept is not None:
            for sound in kept:
                yield sound
            return
        pieces: list[Sound] = []
        async with aclosing(self._engine.sound(words, locale, voice)) as sounds:
            async for sound in sounds:
                if repeats:
                    pieces.append(sound)
                yield sound
        if pieces:
            self._cache.put(key, tuple(pieces))
