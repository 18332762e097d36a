"""Tokens: folded text cut into words, numerals and marks, each with what its language says it can mean."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Final

from services.normalize.words import UNKNOWN, Word, merge

MAX_TOKENS: Final = 4096
"""Tokens considered of one text; what follows is left as it is."""

_NUMERAL: Final = re.compile(r"\d{1,2}:\d{2}(?::\d{2})?(?![\d:])|\d+(?:[.,]\d+)*|\.\d+")
_GROUPED: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_EUROPEAN: Final = re.compile(r"\d{1,3}(?:\.\d{3})+,\d{2}")
_LATIN: Final = re.compile(r"[^\W\d_\u2e80-\U0003ffff]+(?:'[^\W\d_\u2e80-\U0003ffff]+)*")
_MAX_DIGITS: Final = 24


@dataclass(frozen=True, slots=True)
class Numeral:
    """Written digits. `shape` is clock, dotted, grouped, plain or odd; `value` is None of what is no single number.

    `whole` is the value of one that is written without a fraction.
    """

    shape: str
    text: str
    value: Decimal | None
    whole: int | None
    digits: str


@dataclass(slots=True)
class Token:
    """A piece of folded text at `start:end`. `glued` says that nothing stands between it and the token before."""

    text: str
    start: int
    end: int
    glued: bool
    word: Word
    numeral: Numeral | None = None


class Lexicon:
    """A language's surfaces and their meanings, for the longest match at a place."""

    def __init__(self, entries: Mapping[str, Word], *, spaced: bool) -> None:
        self._spaced = spaced
        self.words = dict(entries)
        self._phrases: dict[str, list[tuple[tuple[Token, ...], Word]]] = {}
        self._by_first: dict[str, list[tuple[int, dict[str, Word]]]] = {}
        for surface, word in entries.items():
            parts = tuple(self._cut(surface))
            if spaced or surface.isascii():
                if len(parts) > 1:
                    self._phrases.setdefault(parts[0].text, []).append((parts, word))
            else:
                self._index(surface, word)
        for phrases in self._phrases.values():
            phrases.sort(key=lambda phrase: -len(phrase[0]))

    def _index(self, surface: str, word: Word) -> None:
        lengths = self._by_first.setdefault(surface[0], [])
        for size, table in lengths:
            if size == len(surface):
                table[surface] = word
                return
        lengths.append((len(surface), {surface: word}))
        lengths.sort(key=lambda pair: -pair[0])

    def tokens(self, text: str) -> list[Token]:
        """Cut folded text, at most MAX_TOKENS of it."""
        return self._join(self._cut(text))

    def _cut(self, text: str) -> list[Token]:
        tokens: list[Token] = []
        at, size, last = 0, len(text), -1
        while at < size and len(tokens) < MAX_TOKENS:
            if text[at].isspace() or (self._spaced and text[at] == "-" and _hyphen(text, at)):
                at += 1
                continue
            after_number = at == last and _numeric(tokens[-1])
            token = self._at(text, at, after_number)
            token.glued = at == last
            tokens.append(token)
            at = last = token.end
        return tokens

    def _at(self, text: str, at: int, after_number: bool) -> Token:
        char = text[at]
        for length, table in self._by_first.get(char, ()):
            word = table.get(text[at : at + length])
            if word is not None and not (word.protected and after_number and length > 1):
                return Token(text[at : at + length], at, at + length, False, word)
        if (char.isdigit() and char.isascii()) or (char == "." and _starts_decimal(text, at)):
            found = _NUMERAL.match(text, at)
            if found:
                body = found.group()
                return Token(body, at, found.end(), False, UNKNOWN, _numeral(body))
        found = _LATIN.match(text, at)
        if found:
            return Token(found.group(), at, found.end(), False, self.words.get(found.group(), UNKNOWN))
        return Token(char, at, at + 1, False, self.words.get(char, UNKNOWN))

    def _join(self, tokens: list[Token]) -> list[Token]:
        """Merge the tokens of multi-word surfaces into one."""
        phrases = self._phrases
        if not phrases:
            return tokens
        joined: list[Token] = []
        at, size = 0, len(tokens)
        while at < size:
            token = tokens[at]
            for parts, word in phrases.get(token.text, ()):
                stop = at + len(parts)
                if stop <= size and all(_fits(tokens[at + k], parts[k]) for k in range(1, len(parts))):
                    text = " ".join(part.text for part in parts)
                    token = Token(text, token.start, tokens[stop - 1].end, token.glued, word)
                    at = stop - 1
                    break
            joined.append(token)
            at += 1
        return joined


def _hyphen(text: str, at: int) -> bool:
    """Whether the mark at a place ties a word to its neighbour, as in forty-five and one-yen."""
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    return before.isalnum() and after.isalnum() and (before.isalpha() or after.isalpha())


def _fits(token: Token, part: Token) -> bool:
    """Whether a token is that part of a phrase; what the phrase writes together must be together."""
    return token.text == part.text and (token.glued or not part.glued)


def _numeric(token: Token) -> bool:
    return token.numeral is not None or token.word.value is not None or token.word.scale is not None


def _starts_decimal(text: str, at: int) -> bool:
    return text[at + 1 : at + 2].isdigit() and not (at and (text[at - 1].isalnum() or text[at - 1] == "."))


@lru_cache(maxsize=4096)
def _numeral(text: str) -> Numeral:
    digits = "".join(c for c in text if c.isdigit())
    shape = _shape(text)
    if shape in {"clock", "dotted", "odd"} or len(digits) > _MAX_DIGITS:
        return Numeral(shape, text, None, None, digits)
    plain = text.replace(".", "").replace(",", ".") if _EUROPEAN.fullmatch(text) else text.replace(",", "")
    value = Decimal(plain)
    return Numeral(shape, text, value, int(value) if "." not in plain else None, digits)


def _shape(text: str) -> str:
    if ":" in text:
        return "clock"
    if "," in text:
        return "grouped" if _GROUPED.fullmatch(text) or _EUROPEAN.fullmatch(text) else "odd"
    return "dotted" if text.count(".") > 1 else "plain"


def combine(entries: Iterable[tuple[str, Word]]) -> dict[str, Word]:
    """One word for each surface, of everything said about it."""
    words: dict[str, Word] = {}
    for surface, word in entries:
        words[surface] = merge(words[surface], word) if surface in words else word
    return words
