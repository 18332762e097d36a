"""What every engine is to the speaker: words in, sound out, a clause at a time."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Final, Protocol

from schemas.ids import Locale

GOES_ON: Final = "—"
"""Words that end in it go on in the next clause: no pause follows them."""

RUNS_ON: Final = "-"
"""Words that end in it are a value's first: neither a pause nor a fall, which would end it, follows them."""


@dataclass(frozen=True, slots=True)
class Sound:
    """PCM16 little-endian, mono, at `rate` Hz."""

    pcm: bytes
    rate: int


class SpeechEngine(Protocol):
    """A synthesiser of prepared words."""

    @property
    def version(self) -> str:
        """Engine, model and voices in one name: sound of one version is not another's."""
        ...

    def sound(self, words: str, locale: Locale, voice: str, *, any_time: bool = False) -> AsyncGenerator[Sound, None]:
        """The sound of a clause, in pieces as they come; `voice` is empty for the locale's own.

        What may be made at `any_time` stands back for all else.

        Closing the iterator, or cancelling who awaits it, stops the work. Raises SpeechUnavailable, Busy.
        """
        ...

    async def close(self) -> None:
        """Release threads, connections and memory; what is being said is cancelled."""
        ...
