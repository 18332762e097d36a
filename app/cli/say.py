"""`tellerline say`: a text as callers hear it, in a WAV file."""

import asyncio
import time
import wave
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated

import typer

from schemas.errors import SpeechUnavailable
from schemas.ids import Locale
from schemas.speech import SpokenChunk


def register(main: typer.Typer) -> None:
    """Add the subcommand."""

    @main.command()
    def say(
        text: Annotated[str, typer.Argument(help="What is said; figures are put into words.")],
        out: Annotated[Path, typer.Option(help="The WAV file.")],
        locale: Annotated[str, typer.Option(help="A locale that has rules, such as ja-JP.")] = "en-US",
        voice: Annotated[str, typer.Option(help="Whose voice; the locale's own where none is named.")] = "",
    ) -> None:
        """Speak a text by the engine that the settings name, and show the words that it was given."""
        from rules.locales import locale_rules
        from services.speech.clauses import clauses

        tag = Locale(locale)
        locale_rules(tag)
        for clause in clauses(text, tag):
            typer.echo(clause.words)
        began = time.perf_counter()
        first, chunks = asyncio.run(_spoken(text, tag, voice))
        rate, pcm = chunks[0].rate, b"".join(chunk.pcm for chunk in chunks)
        with wave.open(str(out), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(rate)
            file.writeframes(pcm)
        took = time.perf_counter() - began
        typer.echo(f"{len(pcm) / 2 / rate:.2f} s at {rate} Hz, first sound after {first - began:.2f} of {took:.2f} s")


async def _spoken(text: str, locale: Locale, voice: str) -> tuple[float, list[SpokenChunk]]:
    """When the first chunk came, and all of them. Raises SpeechUnavailable where nobody speaks."""
    from app.composition.speech import voice as voice_of
    from app.settings import read_settings
    from services.timing import SystemClock

    async with AsyncExitStack() as stack:
        made = voice_of(stack, read_settings(), SystemClock())
        chunks, first = [], 0.0
        async for chunk in made.synthesizer.speak(text, locale, voice):
            first = first or time.perf_counter()
            chunks.append(chunk)
        if not chunks:
            raise SpeechUnavailable(made.said)
        return first, chunks
