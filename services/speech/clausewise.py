"""A text's sound, clause by clause: each is made while the one before is heard, and none is said before it was."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from typing import Final

from schemas.speech import SpokenChunk
from services.speech.clauses import SpeechClause
from services.speech.engine import Sound

_AHEAD: Final = 1
"""Clauses that are made ahead of the one that is taken: a reply that is cut has cost little more than was heard."""

_TAIL_S: Final = 0.02
"""What is kept back of a clause until it is known whether it was the last of it: with it the clause has been said."""

Making = Callable[[str], AsyncGenerator[Sound, None]]
"""The sound of a clause's words."""

_Made = asyncio.Queue[SpokenChunk | Exception | None]


async def clausewise(said: Iterable[SpeechClause], making: Making) -> AsyncGenerator[SpokenChunk, None]:
    """The chunks of clauses in order; what goes wrong is raised after what could be said."""
    made: _Made = asyncio.Queue(_AHEAD)
    task = asyncio.create_task(_make(said, making, made))
    try:
        while (chunk := await made.get()) is not None:
            if isinstance(chunk, Exception):
                raise chunk
            yield chunk
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _make(said: Iterable[SpeechClause], making: Making, made: _Made) -> None:
    """Every clause's chunks in order, then None; a failure in its place."""
    end = 0
    try:
        for clause in said:
            held = Sound(b"", 0)
            async with aclosing(making(clause.words)) as sounds:
                async for sound in sounds:
                    pcm = held.pcm + sound.pcm
                    tail = min(len(pcm), int(_TAIL_S * sound.rate) * 2)
                    held = Sound(pcm[len(pcm) - tail :], sound.rate)
                    if len(pcm) > tail:
                        await made.put(SpokenChunk(pcm[: len(pcm) - tail], sound.rate, end))
            end = clause.end
            if held.pcm:
                await made.put(SpokenChunk(held.pcm, held.rate, end))
    except Exception as error:  # noqa: BLE001 - raised where the sound is awaited
        await made.put(error)
    else:
        await made.put(None)
