"""Where in an utterance a name may stand."""

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Final, NamedTuple

MAX_PLACES: Final = 3
"""Places of one utterance that are looked up."""
MAX_TEXT: Final = 400
"""Characters of an utterance in which a name is sought."""


class Cue(IntEnum):
    """How strongly the words around a place say that a name stands there."""

    NONE = 0  # free words, nothing around them
    ALONE = 1  # nothing else was said
    WEAK = 2  # a word that names may follow
    PAYEE = 3  # where the one who is paid stands


class Place(NamedTuple):
    """A place where a name may stand: `text[start:end]`. `relationship` is a word said of the one named there."""

    start: int
    end: int
    cue: Cue = Cue.ALONE
    common: bool = False
    """Whether the words are everyday ones: then they count only if somebody is really called that."""
    relationship: str = ""
    narrow: bool = False
    """Whether more words beside it may belong to the name: then it alone is never a clear choice."""

    @classmethod
    def whole(cls, text: str) -> "Place":
        """All of a text but the spaces around it."""
        stripped = text.strip()
        start = text.index(stripped) if stripped else 0
        return cls(start, start + len(stripped))


Finder = Callable[[str, Sequence[tuple[int, int]]], list[Place]]


def aligned(text: str, place: Place, other: str, find: Finder) -> str:
    """What another hypothesis of the utterance has in the same place; "" where that can't be told."""
    before, after = text[: place.start], text[place.end :]
    if other.startswith(before) and other.endswith(after) and len(other) > len(before) + len(after):
        return other[len(before) : len(other) - len(after)].strip()
    found = find(other, ())
    if not found:
        return ""
    nearest = min(found, key=lambda p: (-p.cue, abs(p.start - place.start)))
    return other[nearest.start : nearest.end]
