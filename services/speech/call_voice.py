"""The voice of one call: it has probable words ready before they are decided on, and keeps what it said itself.

What it keeps may hold a customer's names and amounts: it is in memory alone, no other call's, and goes with the call.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import dataclass
from itertools import islice
from typing import Final, Protocol

from schemas.ids import Locale
from schemas.speech import SpokenChunk
from services.speech.cache import Key, SoundCache
from services.speech.clauses import clauses
from services.speech.clausewise import clausewise
from services.speech.engine import Sound

MAX_KEPT: Final = 2 * 1024 * 1024
"""Bytes a call: some forty seconds at 24 kHz."""
_AHEAD: Final = 3
"""Clauses of a probable reply that are made: the others follow while these are heard."""


class ClauseSource(Protocol):
    """Where clauses come from."""

    def key(self, words: str, locale: Locale, voice: str) -> Key:
        """What a clause is kept by."""
        ...

    def kept(self, key: Key) -> tuple[Sound, ...] | None:
        """A clause that is kept for everybody."""
        ...

    def sound(self, key: Key) -> AsyncGenerator[Sound, None]:
        """A clause that is waited for."""
        ...

    async def prepared(self, key: Key) -> tuple[Sound, ...] | None:
        """A clause that nobody waits for; None where the engine is wanted for another."""
        ...

    def awaited(self) -> None:
        """What is being prepared is waited for now."""
        ...


@dataclass(frozen=True, slots=True)
class _Making:
    """A clause that is being made."""

    key: Key
    task: asyncio.Task[None]


class KeepingVoice:
    """`CallVoice` over a speaker's clauses. One event loop uses it."""

    def __init__(self, source: ClauseSource) -> None:
        self._source = source
        self._kept = SoundCache(MAX_KEPT)
        self._wanted: deque[Key] = deque()
        self._making: _Making | None = None
        self._closed = False

    def speak(self, text: str, locale: Locale, voice: str) -> AsyncGenerator[SpokenChunk, None]:
        """The sound of `text` clause by clause, of what is ready at once. Raises as a speaker does."""
        self._wanted.clear()
        return clausewise(clauses(text, locale), lambda words: self._sound(self._source.key(words, locale, voice)))

    def foresee(self, text: str, locale: Locale) -> None:
        """`text` will probably be said next: its first clauses are made where nobody waits for the engine."""
        if self._closed:
            return
        keys = (self._source.key(clause.words, locale, "") for clause in clauses(text, locale))
        self._wanted = deque(islice((key for key in keys if self._ready(key) is None), _AHEAD))
        if self._making is not None and self._making.key not in self._wanted and self._wanted:
            self._making.task.cancel()
            self._making = None
        self._next()

    def close(self) -> None:
        """The call is over: nothing of it is kept."""
        self._closed = True
        self._wanted.clear()
        self._kept = SoundCache(0)
        if self._making is not None:
            self._making.task.cancel()

    def _ready(self, key: Key) -> tuple[Sound, ...] | None:
        return self._kept.get(key) or self._source.kept(key)

    def _next(self) -> None:
        """Make the next clause that is wanted, unless one is being made."""
        if self._making is not None:
            return
        while self._wanted and self._ready(self._wanted[0]) is not None:
            self._wanted.popleft()
        if self._wanted:
            key = self._wanted.popleft()
            self._making = _Making(key, asyncio.create_task(self._prepare(key)))

    async def _prepare(self, key: Key) -> None:
        with suppress(Exception):  # it is raised where the clause is waited for
            sound = await self._source.prepared(key)
            if sound is None:  # others are waiting for the engine
                self._wanted.clear()
            else:
                self._kept.put(key, sound)
        if self._making is not None and self._making.key == key:
            self._making = None
            self._next()

    async def _sound(self, key: Key) -> AsyncGenerator[Sound, None]:
        if self._making is not None and self._making.key == key:
            self._source.awaited()
            await asyncio.wait({self._making.task})
        kept = self._ready(key)
        if kept is not None:
            for sound in kept:
                yield sound
            return
        pieces = []
        async with aclosing(self._source.sound(key)) as sounds:
            async for sound in sounds:
                pieces.append(sound)
                yield sound
        if not self._closed:
            self._kept.put(key, tuple(pieces))
