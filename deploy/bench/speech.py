"""`tellerline bench speech`: read-backs that we speak, heard by a recogniser that never heard the engine before."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import orjson
import soxr
import typer
from faster_whisper import WhisperModel

from app.composition.speech import frequent, repeating
from app.qa.figures import Figure
from deploy.bench._read_backs import KINDS, SpokenReadBack, read_backs, understood
from deploy.reporting import percentile, publish
from schemas.audio import SAMPLE_RATE
from schemas.ids import Locale, language
from services.speech.kokoro import KokoroEngine, KokoroSettings
from services.speech.speaker import Speaker

LOCALES: Final = ["en-US", "ja-JP"]
SEED: Final = 44


@dataclass(frozen=True, slots=True)
class SpokenTally:
    """A read-back, what was heard of it, and milliseconds of processor time to its first sound and to its last.

    `first_ms` and `gap_ms`: when its first sound would be heard on an idle core, and the longest silence after that,
    where its words were known some time ahead.
    """

    locale: str
    text: str
    heard: str
    right: dict[str, bool]
    first_ms: float
    gap_ms: float
    whole_ms: float
    sound_ms: float


def bench(  # noqa: PLR0913, PLR0917 - one for each option
    model: Annotated[Path, typer.Option(help="A folder with Whisper base as published (CTranslate2).")],
    count: Annotated[int, typer.Option(help="Read-backs a language.")] = 300,
    locale: Annotated[list[str], typer.Option(help="Locales to speak.")] = LOCALES,
    kind: Annotated[list[str] | None, typer.Option(help=f"Of these alone: {', '.join(KINDS)}.")] = None,
    seed: Annotated[int, typer.Option(help="Draws other read-backs.")] = SEED,
    voice: Annotated[str, typer.Option(help="Whose voice; the locale's own where none is named.")] = "",
    ahead: Annotated[int, typer.Option(help="Milliseconds that the words are known ahead of the decision.")] = 0,
    log: Annotated[Path | None, typer.Option(help="Write every read-back to this JSONL file as it is heard.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write the figures as JSON.")] = None,
) -> None:
    """Speak amounts, days, digits and names by the embedded engine, and count by slot what is understood."""
    figures: dict[str, Figure] = {}
    ear = WhisperModel(str(model), device="cpu", compute_type="int8", cpu_threads=1)
    for name in locale:
        found = asyncio.run(
            _heard(Locale(name), list(read_backs(Locale(name), count, seed, kind or ())), ear, voice, log, ahead)
        )
        figures |= _figures(name, found)
    publish(
        "speech", f"{count} read-backs a language, seed {seed}, Kokoro-82M int8, heard by {model.name}", figures, json
    )


async def _heard(
    locale: Locale, said: list[SpokenReadBack], ear: WhisperModel, voice: str, log: Path | None, ahead_ms: int
) -> list[SpokenTally]:
    kana = _kana() if language(locale) == "ja" else str
    speaker = Speaker(KokoroEngine(KokoroSettings(stand_back=0)), repeating())
    found = []
    try:
        await speaker.warm_up(pair for pair in frequent(("confirm.transfer", "balance.one")) if pair[0] == locale)
        for read_back in said:
            found.append(await _one(locale, read_back, speaker, ear, voice, kana, ahead_ms))
            if log is not None:
                with log.open("ab") as file:
                    file.write(orjson.dumps(asdict(found[-1])) + b"\n")
    finally:
        await speaker.close()
    return found


async def _one(
    locale: Locale,
    said: SpokenReadBack,
    speaker: Speaker,
    ear: WhisperModel,
    voice: str,
    kana: Callable[[str], str],
    ahead_ms: int,
) -> SpokenTally:
    began, pcm, rate = time.process_time(), b"", 0
    made: list[tuple[float, float]] = []
    async for chunk in speaker.for_call().speak(said.text, locale, voice):
        made.append(((time.process_time() - began) * 1e3, chunk.seconds * 1e3))
        pcm, rate = pcm + chunk.pcm, chunk.rate
    wave = np.frombuffer(pcm, "<i2").astype(np.float32) / 32768
    segments, _ = ear.transcribe(
        soxr.resample(wave, rate, SAMPLE_RATE), language=language(locale), beam_size=5, condition_on_previous_text=False
    )
    heard = "".join(segment.text for segment in segments)
    right = {f"{at}.{slot.kind}": understood(slot, heard, locale, kana) for at, slot in enumerate(said.slots)}
    return SpokenTally(locale, said.text, heard, right, *_played(made, ahead_ms), made[-1][0], len(wave) / rate * 1e3)


def _played(made: list[tuple[float, float]], ahead_ms: float) -> tuple[float, float]:
    """When the first sound is heard, and the longest silence after it: pieces by when they are made and their length.

    Milliseconds from the decision; they were begun `ahead_ms` before it.
    """
    first = over = max(0.0, made[0][0] - ahead_ms)
    gap = 0.0
    for ready, length in made:
        gap = max(gap, ready - ahead_ms - over)
        over = max(over, ready - ahead_ms) + length
    return first, gap


def _kana() -> Callable[[str], str]:
    """Readings of what was heard: its kanji are the recogniser's choice."""
    import pyopenjtalk

    def read(heard: str) -> str:
        try:
            words = pyopenjtalk.run_frontend(heard, use_sudachi_kanji_yomi=False)
        except ModuleNotFoundError:  # a kanji that is in no dictionary here
            words = pyopenjtalk.run_frontend(heard, use_vanilla=True)
        return "".join(word["pron"] for word in words)

    return read


def _figures(name: str, found: list[SpokenTally]) -> dict[str, Figure]:
    lang = name.replace("-", "_").lower()
    figures: dict[str, Figure] = {f"{lang}_read_backs": len(found)}
    slots: dict[str, list[bool]] = {"slots": []}
    for one in found:
        for slot, right in one.right.items():
            slots["slots"].append(right)
            slots.setdefault(slot.partition(".")[2], []).append(right)
    for kind, rights in slots.items():
        figures[f"{lang}_{kind}_right_percent"] = 100 * sum(rights) / max(1, len(rights))
        figures[f"{lang}_{kind}_n"] = len(rights)
    for q in (50, 95):
        figures[f"{lang}_first_sound_p{q}_ms"] = percentile([one.first_ms for one in found], q)
        figures[f"{lang}_longest_gap_p{q}_ms"] = percentile([one.gap_ms for one in found], q)
    figures[f"{lang}_real_time_factor_p50"] = percentile([one.whole_ms / one.sound_ms for one in found], 50)
    return figures
