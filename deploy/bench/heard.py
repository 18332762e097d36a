"""`tellerline bench heard`: the demonstration's calls, their sentences said by our own voice, heard and decided."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import soxr
import typer
from rich.console import Console

from app.client import demo_token
from app.demo.manifest import DemoUtterance, RecordedCall, manifest
from app.demo.run import play, service
from app.qa.figures import Figure
from deploy.reporting import publish
from schemas.audio import SAMPLE_RATE, Samples
from schemas.ids import Locale
from services.speech.kokoro import KokoroEngine, KokoroSettings
from services.speech.speaker import Speaker

NARROW: Final = 8_000


def bench(
    voice: Annotated[str, typer.Option(help="Whose voice; each locale's own where none is named.")] = "",
    telephone: Annotated[bool, typer.Option(help="At 8 kHz, as a telephone carries it.")] = False,
    json: Annotated[Path | None, typer.Option(help="Write the figures as JSON.")] = None,
) -> None:
    """Text, our voice as the caller's, decision: how many of the demonstration's calls end as their manifest says.

    The service's own replies are words, so that nothing but what is heard is tried.
    """
    calls = manifest().calls
    sounds = asyncio.run(_spoken(calls, voice, NARROW if telephone else SAMPLE_RATE))
    with service(TELLERLINE_SPEECH="none") as base:
        faults = {call.id: asyncio.run(_played(base, call, sounds)) for call in calls}
    for call_id, found in faults.items():
        for fault in found:
            typer.echo(f"{call_id}: {fault}")
    right = sum(not found for found in faults.values())
    figures: dict[str, Figure] = {"calls": len(calls), "calls_right": right}
    figures |= {"turns": len(sounds), "calls_right_percent": 100 * right / len(calls)}
    rate = "8 kHz" if telephone else "16 kHz"
    publish("heard", f"the demonstration's calls in the voice {voice or 'of the locale'}, at {rate}", figures, json)


async def _played(base: str, call: RecordedCall, sounds: Mapping[str, Samples]) -> list[str]:
    """What of a call was not as its manifest says."""
    token = await demo_token(base, call.customer)
    return await play(base, call, token, Console(quiet=True), lambda said: sounds[said.audio])


async def _spoken(calls: tuple[RecordedCall, ...], voice: str, rate: int) -> dict[str, Samples]:
    """What every turn sounds like, by the name of its recording."""
    speaker = Speaker(KokoroEngine(KokoroSettings(stand_back=0)))
    try:
        return {
            said.audio: await _said(speaker, said, Locale(call.locale), voice, rate)
            for call in calls
            for said in call.turns
        }
    finally:
        await speaker.close()


async def _said(speaker: Speaker, said: DemoUtterance, locale: Locale, voice: str, rate: int) -> Samples:
    chunks = [chunk async for chunk in speaker.speak(said.words, locale, voice)]
    sound = np.frombuffer(b"".join(chunk.pcm for chunk in chunks), "<i2").astype(np.float32) / 32768
    narrow = soxr.resample(sound, chunks[0].rate, rate)
    heard: Samples = soxr.resample(narrow, rate, SAMPLE_RATE).astype(np.float32)
    return heard
