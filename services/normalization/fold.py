"""Folding: one canonical form to match against, with the way back to the caller's own code points."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_VOICING: Final = "\u3099\u309a\uff9e\uff9f"
"""Combining and half-width voicing marks: they belong to the kana before them."""

_KEPT: Final = ("<fraction>", "<super>", "<sub>", "<circle>")
"""Forms whose parts would read as other numbers: ½ is no 1 and 2, m² no m2, and ①500 is 500 behind a number."""

_UNSEEN: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u2065\u206a-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Default_Ignorable_Code_Point of the Unicode character database: nobody sees them, and words go on over them.

But for those that have what follows drawn in another order: what is read is what is drawn."""

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
    unseen = _UNSEEN.search(source) is not None
    if not unseen and unicodedata.is_normalized("NFKC", source) and len(lower := source.lower()) == len(source):
        return Folded(lower.translate(_PLAIN), source, range(len(lower)), range(1, len(lower) + 1))
    text: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at, size = 0, len(source)
    while at < size:
        stop = at + 1
        if unseen and _UNSEEN.match(source, at):
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
