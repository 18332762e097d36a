"""Every silence in people's sentences, as a call hears it: how long it lasted, and how long it would be waited on."""

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import numpy as np
import orjson

from app.qa.rehearsal import Rehearsal
from app.settings import read_settings
from schemas.audio import SAMPLE_RATE, Samples
from schemas.call import Patience
from schemas.ids import EN_US, JA_JP, CustomerId, Locale
from schemas.turn import Discarded, Eager, Ended, ItemId, Resumed
from services.asr import load
from services.audio.endpointing import timing
from services.audio.files import read_file
from services.audio.frames import VAD_FRAME
from services.audio.listener import Listener, Signal
from services.audio.utterance import DecodeRequest
from services.audio.vad import SileroVad, VadState
from services.call import decoded
from services.ports import Recognizer, TurnHandler
from services.timing import ManualClock

CUSTOMERS: Final = {EN_US: "alex-morgan", JA_JP: "takahashi-misaki"}
LONGEST_S: Final = 14.0
LEAST_MS: Final = 100
"""Shorter silences are sounds: a closed mouth."""
_STRETCHED: Final = 8.0
"""All waits, so that nothing ends a turn but the end of the recording."""
_LEAD_S: Final = 0.5
_TAIL_S: Final = 14.0
_NOISE: Final = 3e-4
_NOW: Final = datetime(2026, 3, 4, 12, tzinfo=UTC)


@dataclass(slots=True)
class HeardSilence:
    """After words of an `utterance`: it `lasted_ms` until the speaker went on, or is the end (None)."""

    utterance: int
    wait_ms: float
    lasted_ms: float | None = None


@dataclass(frozen=True, slots=True)
class PersonsSentence:
    """A sentence by one of many people."""

    file: Path
    locale: Locale
    seconds: float


def sentences(folder: Path, only: str) -> list[PersonsSentence]:
    """Those of `metadata.jsonl` (`file`, `lang`, `dur` in s) that are not too long and have `only` in their names."""
    rows = map(orjson.loads, (folder / "metadata.jsonl").read_bytes().splitlines())
    locales = {locale[:2]: locale for locale in CUSTOMERS}
    found = (PersonsSentence(folder / row["file"], locales[row["lang"][:2]], row["dur"]) for row in rows)
    return [one for one in found if one.seconds <= LONGEST_S and only in str(one.file.relative_to(folder))]


async def silences(said: Sequence[PersonsSentence]) -> list[HeardSilence]:
    """Of all of them, heard by the bundled recogniser."""
    rehearsal, recognizer, vad = Rehearsal(read_settings()), load(), SileroVad()
    try:
        async with AsyncExitStack() as stack:
            handlers = {
                locale: await stack.enter_async_context(rehearsal.call(CustomerId(customer), locale, ManualClock(_NOW)))
                for locale, customer in CUSTOMERS.items()
            }
            found = []
            for number, one in enumerate(said):
                ear = _SentenceEar(number, one.locale, recognizer, handlers[one.locale])
                sound = await asyncio.to_thread(read_file, one.file.read_bytes())
                found += await ear.hear(_on_a_line(sound), vad)
            return found
    finally:
        await recognizer.close()
        vad.close()
        await rehearsal.close()


def _on_a_line(sound: Samples) -> Samples:
    """Between stretches of faint noise, in whole frames."""
    lead, tail = (np.zeros(round(seconds * SAMPLE_RATE), dtype=np.float32) for seconds in (_LEAD_S, _TAIL_S))
    line = np.concatenate((lead, sound, tail))
    line += np.random.default_rng(0).normal(0, _NOISE, len(line)).astype(np.float32)
    return line[: len(line) // VAD_FRAME * VAD_FRAME]


class _SentenceEar:
    """One sentence's listener, whose decodes are waited for."""

    def __init__(self, number: int, locale: Locale, recognizer: Recognizer, handler: TurnHandler) -> None:
        self._number, self._locale = number, locale
        self._recognizer, self._handler = recognizer, handler
        self._listener = Listener(locale, lambda: ItemId("item"), Patience(scale=_STRETCHED))
        self._quiet_since = 0
        self._found: list[HeardSilence] = []
        self._over = False

    async def hear(self, sound: Samples, vad: SileroVad) -> list[HeardSilence]:
        """All silences from the first words to the end."""
        probabilities = vad.probabilities(VadState(), sound)
        for frame, probability in zip(sound.reshape(-1, VAD_FRAME), probabilities, strict=True):
            await self._on(self._listener.feed(frame, probability))
            if self._over:
                break
        return [one for one in self._found if one.lasted_ms is None or one.lasted_ms >= LEAST_MS]

    async def _on(self, signals: Iterable[Signal]) -> None:
        for signal in signals:
            match signal:
                case DecodeRequest():
                    await self._decode(signal)
                case Eager():
                    self._found.append(HeardSilence(self._number, signal.wait_ms / _STRETCHED))
                case Resumed() if self._found:
                    self._found[-1].lasted_ms = self._listener.now_ms - self._quiet_since
                case Ended() | Discarded():
                    self._over = True
                case _:
                    pass

    async def _decode(self, request: DecodeRequest) -> None:
        if request.final:
            self._quiet_since = self._listener.now_ms - timing().eager_after_ms
        await self._on(await decoded(request, self._listener, self._recognizer, self._handler, self._locale))
