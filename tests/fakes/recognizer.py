"""A recogniser for tests of everything but recognition: what it hears is a function of how long the audio is."""

import asyncio
from collections.abc import Callable

from schemas.audio import SAMPLE_RATE, Samples
from schemas.errors import TellerlineError
from schemas.ids import Locale
from schemas.transcript import Decode, Hypothesis, Onward, Transcript, Wordings


class FakeRecognizer:
    """`words(seconds)` is what `seconds` of audio say. `delay_s` passes with each decode; a set `error` is raised."""

    def __init__(self, words: Callable[[float], str], delay_s: float = 0.0) -> None:
        self.words = words
        self.delay_s = delay_s
        self.error: TellerlineError | None = None
        self.follows: Onward | None = None
        self.decodes: list[tuple[float, Decode]] = []
        self.cancelled = 0

    async def transcribe(
        self,
        samples: Samples,
        locale: Locale,
        decode: Decode,
        *,
        wordings: Wordings | None = None,
    ) -> Transcript:
        assert samples.ndim == 1
        seconds = samples.size / SAMPLE_RATE
        self.decodes.append((seconds, decode))
        try:
            await asyncio.sleep(self.delay_s)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.error is not None:
            raise self.error
        text = self.words(seconds)
        return Transcript(text, locale, (Hypothesis(text, -0.1),), decode_ms=self.delay_s * 1000)

    async def onward(self, samples: Samples, heard: Transcript) -> Onward | None:
        return self.follows

    async def warm_up(self) -> None:
        return None

    async def close(self) -> None:
        return None


def orders(then: str = "yes") -> FakeRecognizer:
    """Long sound orders fifty dollars for the sister, short sound says `then`."""
    return FakeRecognizer(lambda seconds: "send fifty dollars to my sister" if seconds > 1.5 else then)
