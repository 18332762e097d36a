"""What every Synthesizer must keep to, whoever speaks behind it."""

import asyncio
from collections.abc import AsyncGenerator

from schemas.ids import Locale
from schemas.speech import SpokenChunk
from services.ports import Synthesizer

TEXTS = {
    "en-US": "I'll send 1,250 dollars and 5 cents to Anna Schmidt, from checking ending in 4 0 2 1. Is that right?",
    "en-GB": "You have £12.50 available. What else?",
    "ja-JP": "佐藤健様へ、123,450円を本日お振り込みします。よろしいですか。",
}
BOUND_S_PER_CHARACTER = 1.0


async def spoken(synthesizer: Synthesizer, text: str, locale: Locale, voice: str = "") -> list[SpokenChunk]:
    """Every chunk."""
    return [chunk async for chunk in synthesizer.speak(text, locale, voice)]


def well_formed(chunks: list[SpokenChunk], text: str) -> None:
    """The invariants of a reply's sound: whole samples, one rate, and a position that grows to the end of the text."""
    assert chunks
    assert all(chunk.pcm and len(chunk.pcm) % 2 == 0 for chunk in chunks)
    assert len({chunk.rate for chunk in chunks}) == 1
    assert 8_000 <= chunks[0].rate <= 48_000
    ends = [chunk.text_end for chunk in chunks]
    assert ends == sorted(ends)
    assert ends[-1] == len(text)
    assert ends[0] >= 0
    seconds = sum(len(chunk.pcm) for chunk in chunks) / 2 / chunks[0].rate
    assert 0 < seconds < BOUND_S_PER_CHARACTER * len(text)


async def speaks(synthesizer: Synthesizer, locale: Locale) -> None:
    """A reply with figures, and nothing for a text without a word."""
    well_formed(await spoken(synthesizer, TEXTS[locale], locale), TEXTS[locale])
    assert await spoken(synthesizer, " … ", locale) == []


async def stops_when_closed(synthesizer: Synthesizer, locale: Locale) -> None:
    """Who stops listening after the first chunk takes nothing along: the next reply is whole."""
    speaking = synthesizer.speak(TEXTS[locale], locale, "")
    assert isinstance(speaking, AsyncGenerator)
    await anext(speaking)
    await speaking.aclose()
    well_formed(await spoken(synthesizer, TEXTS[locale], locale), TEXTS[locale])


async def stops_when_cancelled(synthesizer: Synthesizer, locale: Locale) -> None:
    """So does who is cancelled while waiting."""
    waiting = asyncio.create_task(spoken(synthesizer, TEXTS[locale], locale))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait({waiting})
    well_formed(await spoken(synthesizer, TEXTS[locale], locale), TEXTS[locale])


async def speaks_to_several(synthesizer: Synthesizer, locale: Locale) -> None:
    """Calls at once get a whole reply each."""
    for chunks in await asyncio.gather(*(spoken(synthesizer, TEXTS[locale], locale) for _ in range(3))):
        well_formed(chunks, TEXTS[locale])
