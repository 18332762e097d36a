"""The `Synthesizer` port over any engine: text prepared, cut into clauses, each made while the one before is heard."""

import asyncio
from collections.abc import AsyncGenerator, Collection, Iterable
from contextlib import aclosing
from typing import Final

from schemas.ids import Locale
from schemas.speech import SpokenChunk
from services.speech.cache import Key, SoundCache
from services.speech.call_voice import KeepingVoice
from services.speech.clauses import clauses
from services.speech.clausewise import clausewise
from services.speech.engine import Sound, SpeechEngine
from services.speech.said import SaidClauses

_LOOK_S: Final = 0.1
"""How often who prepares looks whether nobody waits for the engine."""

Repeating = Collection[tuple[Locale, str]]
"""Clauses that no customer's values are part of, so that they may be kept for everybody."""


class Speaker:
    """Speaks by one engine; keeps the clauses that repeat. One event loop uses it.

    What somebody waits for goes before what is only prepared, of which one clause is made at a time: what is probably
    said next, then what may be said in some call.
    """

    def __init__(self, engine: SpeechEngine, repeating: Repeating = (), cache: SoundCache | None = None) -> None:
        self._engine = engine
        self._repeating = frozenset(repeating)
        self._cache = cache or SoundCache()
        self._awaited = 0
        self._preparing: asyncio.Task[tuple[Sound, ...]] | None = None
        self._any_time = False

    def speak(self, text: str, locale: Locale, voice: str) -> AsyncGenerator[SpokenChunk, None]:
        """The sound of `text` clause by clause. Raises SpeechUnavailable, Busy, after what could be said."""
        return clausewise(clauses(text, locale), lambda words: self.sound(self.key(words, locale, voice)))

    def know(self, said: SaidClauses) -> None:
        """Have what was said before ready, of what repeats."""
        for (locale, words), sounds in said.items():
            self._keep(self.key(words, locale, ""), sounds)

    def for_call(self) -> KeepingVoice:
        """A voice that keeps what one call says, until it is closed."""
        return KeepingVoice(self)

    async def warm_up(self, wanted: Iterable[tuple[Locale, str]]) -> None:
        """Have these clauses ready, so that a caller hears them at once; one at a time, behind who waits.

        Raises SpeechUnavailable.
        """
        for locale, words in wanted:
            key = self.key(words, locale, "")
            while self.kept(key) is None and await self.prepared(key, first=False) is None:  # noqa: ASYNC110 - many end it
                await asyncio.sleep(_LOOK_S)

    async def close(self) -> None:
        """Close the engine."""
        self._yield()
        await self._engine.close()

    # Clauses, for the voices of calls

    def key(self, words: str, locale: Locale, voice: str) -> Key:
        """What a clause is kept by."""
        return self._engine.version, locale, voice, words

    def kept(self, key: Key) -> tuple[Sound, ...] | None:
        """A clause that is kept for everybody."""
        return self._cache.get(key)

    async def sound(self, key: Key) -> AsyncGenerator[Sound, None]:
        """A clause's sound at once, from what is kept where it repeats. Raises SpeechUnavailable, Busy."""
        if (kept := self.kept(key)) is not None:
            for sound in kept:
                yield sound
            return
        self._yield()
        self._awaited += 1
        pieces: list[Sound] = []
        try:
            async with aclosing(self._engine.sound(key[3], key[1], key[2])) as sounds:
                async for sound in sounds:
                    pieces.append(sound)
                    yield sound
        finally:
            self._awaited -= 1
        self._keep(key, tuple(pieces))

    async def prepared(self, key: Key, *, first: bool = True) -> tuple[Sound, ...] | None:
        """A clause that nobody waits for yet; None where the engine is wanted for another. Raises SpeechUnavailable.

        One that is probably said next goes `first`, before those that may be said in some call.
        """
        if first and self._any_time:
            self._yield()
        if self._awaited or self._preparing is not None:
            return None
        self._any_time = not first
        making = self._preparing = asyncio.create_task(self._whole(key, any_time=not first))
        try:
            await asyncio.wait({making})
        finally:
            making.cancel()
            if self._preparing is making:
                self._preparing = None
        return None if making.cancelled() else making.result()

    def awaited(self) -> None:
        """Somebody waits for what is being prepared: it gives way to nobody any more."""
        self._preparing = None

    def _yield(self) -> None:
        """What is only prepared gives way."""
        if self._preparing is not None:
            self._preparing.cancel()
            self._preparing = None

    async def _whole(self, key: Key, *, any_time: bool) -> tuple[Sound, ...]:
        sounds = self._engine.sound(key[3], key[1], key[2], any_time=any_time)
        pieces = tuple([sound async for sound in sounds])
        self._keep(key, pieces)
        return pieces

    def _keep(self, key: Key, pieces: tuple[Sound, ...]) -> None:
        """For everybody, where no customer's values are part of it."""
        if pieces and (key[1], key[3]) in self._repeating:
            self._cache.put(key, pieces)
