"""What was spoken and will be spoken again: whole clauses, bounded in bytes, the longest unused one dropped first."""

from collections import OrderedDict
from typing import Final

from schemas.ids import Locale
from services.speech.engine import Sound

MAX_BYTES: Final = 32 * 1024 * 1024
"""Some eleven minutes at 24 kHz."""

Key = tuple[str, Locale, str, str]
"""Engine with its version, locale, voice, words."""


class SoundCache:
    """The sound of clauses by what was said, in whose voice, by which engine. For one event loop.

    Whoever puts sees to it that no customer's words are in it.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._sounds: OrderedDict[Key, tuple[Sound, ...]] = OrderedDict()
        self._bytes = 0

    @property
    def size(self) -> int:
        """Bytes that are held."""
        return self._bytes

    def get(self, key: Key) -> tuple[Sound, ...] | None:
        """The pieces of a clause as they came from the engine."""
        sound = self._sounds.get(key)
        if sound is not None:
            self._sounds.move_to_end(key)
        return sound

    def put(self, key: Key, sound: tuple[Sound, ...]) -> None:
        """Keep a whole clause; what is larger than a quarter of the cache is not kept."""
        size = _size(sound)
        if size * 4 > self._max_bytes:
            return
        self._bytes += size - _size(self._sounds.pop(key, ()))
        self._sounds[key] = sound
        while self._bytes > self._max_bytes:
            _, dropped = self._sounds.popitem(last=False)
            self._bytes -= _size(dropped)


def _size(sound: tuple[Sound, ...]) -> int:
    return sum(len(piece.pcm) for piece in sound)
