"""Names of the book that stand in a text as they are written: what is a part of one is no amount and no day."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from schemas.payee import Payee
from services.payees.data import japanese_finder
from services.payees.fold import is_japanese

_WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_FIGURED: Final = re.compile("[^\\W\\d]\\d")
"""A letter before a figure: "O2" is a name, and no two."""
_MOST_WORDS: Final = 4
_LONGEST: Final = 12
"""Characters of a Japanese name that is looked for."""
Place = tuple[int, int]


class WrittenNames:
    """The names of one book by their words, or by their characters."""

    def __init__(self, payees: Sequence[Payee]) -> None:
        names = [name for payee in payees for name in (payee.name, *payee.aliases)]
        latin = [name for name in names if not is_japanese(name)]
        self._latin = frozenset(_folded(name) for name in latin if len(_words(name)) > 1 or _FIGURED.search(name))
        self._japanese = frozenset("".join(name.split()) for name in names if is_japanese(name))
        self._families = frozenset(name.split()[0] for name in names if is_japanese(name) and " " in name)
        self._first_words = frozenset(name.split(" ")[0] for name in self._latin)
        self._begun = frozenset(name[:2] for name in (*self._japanese, *self._families))

    def reaching_over(self, text: str, spans: Sequence[Place]) -> list[Place]:
        """Where a name stands of which a span is, or begins, only a part: "Pat Friday", 「朝日さん」."""
        if not spans:
            return []
        found = self._of_characters(text, spans) if is_japanese(text) else self._of_words(text, spans)
        apart: list[Place] = []
        for place in sorted(found, key=lambda place: (place[0], -place[1])):
            if not apart or place[0] >= apart[-1][1]:
                apart.append(place)
        return apart

    def _of_words(self, text: str, spans: Sequence[Place]) -> Iterator[Place]:
        words = [(word.start(), word.end()) for word in _WORD.finditer(text)] if self._latin else []
        for first, (begin, one) in enumerate(words):
            led = _folded(text[begin:one]) in self._first_words
            for _, end in words[first : first + _MOST_WORDS] if led else ():
                if any(_goes_over((begin, end), span) for span in spans) and _folded(text[begin:end]) in self._latin:
                    yield begin, end

    def _of_characters(self, text: str, spans: Sequence[Place]) -> Iterator[Place]:
        for start, stop in spans if self._japanese else ():
            begins = range(max(0, start - _LONGEST), stop)
            for begin in [at for at in begins if not self._begun.isdisjoint((text[at], text[at : at + 2]))]:
                for end in range(max(begin, start) + 1, min(begin + _LONGEST, len(text)) + 1):
                    if self._is_name(text, begin, end, (start, stop)):
                        yield begin, end

    def _is_name(self, text: str, begin: int, end: int, span: Place) -> bool:
        name = text[begin:end]
        whole = name in self._japanese
        if not (whole or name in self._families):
            return False
        return (whole and _goes_over((begin, end), span)) or text.startswith(japanese_finder().honorifics, end)


def _goes_over(name: Place, span: Place) -> bool:
    """Whether a name and a span share something, and not all of the name is the span's."""
    return name[0] < span[1] and span[0] < name[1] and not (span[0] <= name[0] and name[1] <= span[1])


def _words(name: str) -> list[str]:
    return _WORD.findall(name)


def _folded(name: str) -> str:
    return " ".join(_words(name)).casefold().replace("’", "'")
