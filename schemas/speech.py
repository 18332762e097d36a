"""Speech as it is made: sound, and how far in the text it has come."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SpokenChunk:
    """A piece of a reply's sound, in order.

    `pcm` is PCM16 little-endian, mono, at `rate` Hz. `text_end` is how many characters of the text have been spoken at
    the end of the chunk: never more than were, and all of them at the end of the last one.
    """

    pcm: bytes
    rate: int
    text_end: int

    @property
    def seconds(self) -> float:
        """How long it takes."""
        return len(self.pcm) / 2 / self.rate
