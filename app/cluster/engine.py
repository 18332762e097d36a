"""The `SpeechEngine` port over voices on other processes and machines: only clauses cross, never a frame."""

from collections.abc import AsyncGenerator, Mapping
from typing import Any, Final

from app.cluster.replicas import WARM_S, Replicas
from schemas.errors import SpeechUnavailable
from schemas.ids import Locale
from services.speech.engine import Sound
from services.speech.kokoro import version

PATIENCE_S: Final = 10.0
"""Longest wait for a clause that somebody waits for."""


class HandleEngine:
    """Asks whichever replica has the shorter line. What is cancelled stops there, too."""

    def __init__(self, handle: Any, by_locale: Mapping[str, str], patience_s: float = PATIENCE_S) -> None:
        """`by_locale` goes before the voices that replicas have for a locale."""
        self._replicas = Replicas(handle, "voice", SpeechUnavailable)
        self._by_locale = dict(by_locale)
        self._patience_s = patience_s
        self._closed = False

    @property
    def version(self) -> str:
        """As of the same engine in this process: what it said elsewhere is the same sound."""
        return version(self._by_locale)

    async def sound(
        self, words: str, locale: Locale, voice: str, *, any_time: bool = False
    ) -> AsyncGenerator[Sound, None]:
        """A clause in one piece. Raises SpeechUnavailable, Busy."""
        if self._closed:
            raise SpeechUnavailable("the synthesiser is closed")
        named, within_s = voice or self._by_locale.get(locale, ""), WARM_S if any_time else self._patience_s
        sounds = await self._replicas.asked("sound", words, locale, named, any_time=any_time, within_s=within_s)
        for sound in sounds:
            yield sound

    async def close(self) -> None:
        """Ask no more; the replicas are others' too, and go on."""
        self._closed = True
        await self._replicas.handle.shutdown_async()
