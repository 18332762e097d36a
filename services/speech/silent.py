"""No voice: replies are text, and the client speaks or shows them."""

from collections.abc import AsyncGenerator

from schemas.ids import Locale
from schemas.speech import SpokenChunk


class SilentSynthesizer:
    """`Synthesizer` without a sound."""

    async def speak(self, text: str, locale: Locale, voice: str) -> AsyncGenerator[SpokenChunk, None]:  # noqa: ARG002 - the port's signature
        """Nothing."""
        nothing: tuple[SpokenChunk, ...] = ()
        for chunk in nothing:
            yield chunk

    def for_call(self) -> "SilentSynthesizer":
        """The same."""
        return self

    def foresee(self, text: str, locale: Locale) -> None:
        """Nothing has to be ready."""

    def close(self) -> None:
        """Nothing was."""
