"""Recordings of which a run played another copy: louder, coded anew. The ear is no exact thing: a near tie may turn."""

from collections.abc import Mapping
from typing import Final

from rapidfuzz.distance import Levenshtein

_AUDIO: Final = "audio/"
_ALIKE: Final = 0.7
"""Of two transcripts of the same words; another recording in its place has others."""
_ONE_IN: Final = 50


def other_copies(before: Mapping[str, str], after: Mapping[str, str]) -> frozenset[str]:
    """The recordings whose bytes are others, where no code, rule or weight is; else none."""
    other = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    if any(not name.startswith(_AUDIO) or name not in before or name not in after for name in other):
        return frozenset()
    return frozenset(name.removeprefix(_AUDIO) for name in other)


def nearly(was: str, now: str) -> bool:
    """Whether two transcripts are of the same words, most of them."""
    return bool(was and now) and Levenshtein.normalized_similarity(was, now) >= _ALIKE


def few(turns: int) -> int:
    """How many of so many turns may turn out otherwise by such a copy."""
    return max(1, turns // _ONE_IN)
