"""The service listens once its voice has said the greeting in every language; the rest is made while calls come."""

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from app.composition import speech
from app.settings import Settings
from rules.load import locales
from schemas.errors import SpeechUnavailable
from services.timing.clock import SystemClock
from tests.fakes.voice import HummingEngine


async def made(engine: HummingEngine, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What the engine was asked for by the time that the voice is there."""
    monkeypatch.setattr(speech, "_engine", lambda _settings, _clock: (engine, "a hum"))
    async with AsyncExitStack() as stack:
        await speech.warm_voice(stack, Settings.model_validate({"state_dir": folder}), SystemClock())
        return [(words, locale) for words, locale, _ in engine.asked]


async def test_the_greeting_is_there_in_every_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = await made(HummingEngine(), tmp_path, monkeypatch)
    assert {locale for _, locale in asked} == set(locales())
    assert ("Hello, this is your bank's assistant.", "en-US") in asked


async def test_a_voice_that_takes_its_time_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speech, "FIRST_WORDS_S", 0.1)
    assert await made(HummingEngine(delay_s=60.0), tmp_path, monkeypatch)


async def test_a_voice_that_fails_then_keeps_nobody_from_calling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = HummingEngine(error=SpeechUnavailable("gone"))
    assert await made(engine, tmp_path, monkeypatch) == []
