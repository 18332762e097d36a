"""Folding: one canonical form to match against, with the way back to the caller's own code points."""

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_VOICING: Final = "\u3099\u309a\uff9e\uff9f"
"""Combining and half-width voicing marks: they belong to the kana before them."""

_KEPT: Final = ("<fraction>", "<super>", "<sub>")
"""Forms whose parts would read as other numbers: ½ is no 1 and 2, m² no m2."""

_UNSEEN: Final = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
"""Characters that nobody sees: a number or a word goes on over them (5\u200b0 is fifty, and no nought)."""

_PLAIN: Final = str.maketrans(
    {"’": "'", "‘": "'", "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "〜": "~", "ㇼ": "リ"}
)


@dataclass(frozen=True, slots=True)
class Folded:
    """Folded text. Folded character i came from source[starts[i]:ends[i]]."""

    text: str
    source: str
    starts: range | tuple[int, ...]
    ends: range | tuple[int, ...]


def fold(source: str) -> Folded:
    """Lower case, compatibility forms and punctuation variants folded; linear in length."""
    if source.isascii():
        size = len(source)
        return Folded(source.lower(), source, range(size), range(1, size + 1))
    unseen = any(char in source for char in _UNSEEN)
    if not unseen and unicodedata.is_normalized("NFKC", source) and len(lower := source.lower()) == len(source):
        return Folded(lower.translate(_PLAIN), source, range(len(lower)), range(1, len(lower) + 1))
    text: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at, size = 0, len(source)
    while at < size:
        stop = at + 1
        if unseen and source[at] in _UNSEEN:
            at = stop
            continue
        if stop < size and source[stop] in _VOICING:
            stop += 1
        for char in _canonical(source[at:stop]):
            text.append(char)
            starts.append(at)
            ends.append(stop)
        at = stop
    return Folded("".join(text), source, tuple(starts), tuple(ends))


@lru_cache(maxsize=16_384)
def _canonical(cluster: str) -> str:
    if unicodedata.decomposition(cluster[0]).startswith(_KEPT):
        return cluster[0]
    return unicodedata.normalize("NFKC", cluster).lower().translate(_PLAIN)
