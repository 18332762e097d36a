"""What was made of the sounds that were heard last: what a final says is asked about again, its names and its end."""

from collections.abc import Callable
from typing import Final, Generic, TypeVar

from schemas.audio import Samples

Encoded = TypeVar("Encoded")
KEPT: Final = 8
"""Sounds kept, under a megabyte each: so many finals of other calls may come between a decode and what it is asked."""


class Encodings(Generic[Encoded]):
    """Encodes each of the last sounds once. Any thread may ask: what two put in at once is at worst encoded again."""

    def __init__(self, encode: Callable[[Samples], Encoded]) -> None:
        self._encode = encode
        self._last: tuple[tuple[Samples, Encoded], ...] = ()

    def of(self, samples: Samples) -> Encoded:
        """What was made of this very array, which nobody writes to again."""
        for sound, kept in self._last:
            if sound is samples:
                return kept
        made = self._encode(samples)
        self._last = ((samples, made), *self._last[: KEPT - 1])
        return made
