"""Typed words one slip away from a word that matters. Names and amounts are never touched."""

from collections.abc import Iterable
from typing import Final

MIN_LENGTH: Final = 5
"""Shorter words are left alone: too many others are one letter away."""


class Typos:
    """A keyword is found by one letter dropped, added, changed or swapped; the first letter must be right."""

    def __init__(self, keywords: Iterable[str], vocabulary: Iterable[str]) -> None:
        words = [word for word in keywords if len(word) >= MIN_LENGTH]
        self._known = frozenset(words) | frozenset(vocabulary)
        self._by_gap: dict[str, set[str]] = {}
        for word in words:
            for gap in (word, *_gaps(word)):
                self._by_gap.setdefault(gap, set()).add(word)

    def correct(self, word: str) -> str | None:
        """The one keyword that `word` is a slip of; None when there is none, or several."""
        if len(word) < MIN_LENGTH or word in self._known or not self._by_gap:
            return None
        found: set[str] = set()
        for gap in (word, *_gaps(word)):
            found |= self._by_gap.get(gap, set())
        near = {known for known in found if known[0] == word[0] and _one_slip(word, known)}
        return near.pop() if len(near) == 1 else None


def _gaps(word: str) -> list[str]:
    return [word[:i] + word[i + 1 :] for i in range(1, len(word))]


def _one_slip(left: str, right: str) -> bool:
    short, long = sorted((left, right), key=len)
    if len(long) - len(short) == 1:
        return any(long[:i] + long[i + 1 :] == short for i in range(len(long)))
    differing = [i for i, (a, b) in enumerate(zip(left, right, strict=True)) if a != b]
    if len(differing) == 1:
        return True
    swapped = len(differing) == 2 and differing[1] == differing[0] + 1  # noqa: PLR2004 - a pair
    return swapped and left[differing[0]] == right[differing[1]] and left[differing[1]] == right[differing[0]]
