"""The units that templates are matched over: words where a script has spaces, characters where it has none."""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

MAX_CHARS: Final = 400
"""No utterance is read further than this."""

_KEPT: Final = 64
"""Texts whose units are remembered: every stage asks for those of the same utterance."""
OUTSIDE_NUMBERS: Final = r"(?<!\d(?=[,.:，．：]\d))"
"""Before a mark that parts clauses: those of 3,999.99 and 10:30 part none."""
_WORD: Final = re.compile(r"\w+(?:['’‘`´]\w+)*")
_APOSTROPHES: Final = re.compile("['’‘`´]")
_VOICING: Final = "ﾞﾟ"
_FOLDED: Final = re.compile(r"[ぁ-ゖァ-ヺー一-鿿]+")
"""Characters that are their own units."""


@dataclass(frozen=True, slots=True)
class Units:
    """Folded units with their code points in the text: unit `i` is `text[starts[i]:ends[i]]`."""

    words: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def covering(self, start: int, end: int) -> tuple[int, int] | None:
        """The range of units that code points `start` … `end` touch; None when they touch none."""
        first, behind = bisect_right(self.ends, start), bisect_left(self.starts, end)
        return (first, behind) if first < behind else None

    def parted(self, marks: re.Pattern[str], text: str, at: int) -> bool:
        """Whether one of the marks stands between unit `at` and the one before it."""
        return marks.search(text, self.ends[at - 1], self.starts[at] + 1) is not None


def fold(word: str) -> str:
    """One spelling for what sounds and reads the same: width, case, apostrophes."""
    return _APOSTROPHES.sub("", unicodedata.normalize("NFKC", word).casefold())


@lru_cache(maxsize=_KEPT)
def by_word(text: str) -> Units:
    """Words of a script with spaces."""
    found = list(_WORD.finditer(text[:MAX_CHARS]))
    return Units(tuple(fold(m.group()) for m in found), tuple(m.start() for m in found), tuple(m.end() for m in found))


@lru_cache(maxsize=_KEPT)
def by_character(text: str) -> Units:
    """Characters of a script without spaces; punctuation and spaces are no units."""
    text = text[:MAX_CHARS]
    if _FOLDED.fullmatch(text):
        return Units(tuple(text), tuple(range(len(text))), tuple(range(1, len(text) + 1)))
    words: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    while at < len(text):
        end = at + 2 if text[at + 1 : at + 2] and text[at + 1] in _VOICING else at + 1
        for char in _characters(text[at:end]):
            words.append(char)
            starts.append(at)
            ends.append(end)
        at = end
    return Units(tuple(words), tuple(starts), tuple(ends))


@lru_cache(maxsize=8_192)
def _characters(written: str) -> tuple[str, ...]:
    """The units of one character, or of one with its mark of voicing."""
    return tuple(c for c in unicodedata.normalize("NFKC", written).casefold() if c.isalnum() or c == "ー")


def in_nouns(char: str) -> bool:
    """Whether a character is one of those that Japanese nouns are joined of: 外貨預金 is one."""
    return "一" <= char <= "鿿" or "ァ" <= char <= "ー"


def splitter(spaced: bool) -> Callable[[str], tuple[str, ...]]:
    """How literals of a template become atoms: one a word, or one a run of characters."""
    if spaced:
        return lambda literal: by_word(literal).words or ("",)
    return lambda literal: (_unspaced(literal),)


def _unspaced(literal: str) -> str:
    if _FOLDED.fullmatch(literal):
        return literal[:MAX_CHARS]
    return "".join(by_character(literal).words)
