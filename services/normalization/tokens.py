"""Tokens: folded text cut into words, numerals and marks, each with what its language says it can mean."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from services.normalization.numerals import Numeral, numeral_at
from services.normalization.readings import Readings
from services.normalization.words import UNKNOWN, Word, merge

MAX_TOKENS: Final = 4096
"""Tokens considered of one text; what follows is left as it is."""

_LATIN: Final = re.compile(r"[^\W\d_\u2e80-\U0003ffff]+(?:'[^\W\d_\u2e80-\U0003ffff]+)*")
"""A word of letters; from U+2E80 on a character is a word by itself, or part of one that the lexicon holds."""


_IS: Final = "'s"
"""Behind a number it is a word of its own: "fifty's enough"."""


@dataclass(slots=True)
class TextToken:
    """A piece of folded text at `start:end`. `glued` says that nothing stands between it and the token before."""

    text: str
    start: int
    end: int
    glued: bool
    word: Word
    numeral: Numeral | None = None


class Lexicon:
    """A language's surfaces and their meanings, for the longest match at a place."""

    def __init__(self, entries: Mapping[str, Word], *, spaced: bool, readings: Readings | None = None) -> None:
        self._spaced = spaced
        self._readings = readings
        self._sounds: frozenset[str] = readings.firsts if readings is not None else frozenset()
        self.words = dict(entries)
        self._phrases: dict[str, dict[str, list[tuple[tuple[TextToken, ...], Word]]]] = {}  # by their first two tokens
        self._by_first: dict[str, list[tuple[int, dict[str, Word]]]] = {}
        for surface, word in entries.items():
            parts = tuple(self._cut(surface))
            if spaced or surface.isascii():
                if len(parts) > 1:
                    behind = self._phrases.setdefault(parts[0].text, {})
                    behind.setdefault(parts[1].text, []).append((parts, word))
            else:
                self._index(surface, word)
        for behind in self._phrases.values():
            for phrases in behind.values():
                phrases.sort(key=lambda phrase: -len(phrase[0]))

    def _index(self, surface: str, word: Word) -> None:
        lengths = self._by_first.setdefault(surface[0], [])
        for size, table in lengths:
            if size == len(surface):
                table[surface] = word
                return
        lengths.append((len(surface), {surface: word}))
        lengths.sort(key=lambda pair: -pair[0])

    def tokens(self, text: str) -> list[TextToken]:
        """Cut folded text, at most MAX_TOKENS of it."""
        return self._join(self._cut(text))

    def _cut(self, text: str) -> list[TextToken]:
        tokens: list[TextToken] = []
        at, size, last = 0, len(text), -1
        sounds = self._readings.sounds(text) if self._readings is not None else text
        audible = self._sounds if self._readings is not None and self._readings.anchored(sounds) else frozenset()
        while at < size and len(tokens) < MAX_TOKENS:
            char = text[at]
            if char.isspace() or (char == "-" and self._spaced and _hyphen(text, at)):
                at += 1
                continue
            if char.isalpha() and char not in self._by_first and sounds[at] not in audible:
                tokens.append(self._word(text, at, at == last))
                at = last = tokens[-1].end
                continue
            before = tokens[-1] if at == last else None
            heard = self._heard(text, sounds, at, before) if sounds[at] in audible else None
            tokens += heard or [self._at(text, at, before)]
            at = last = tokens[-1].end
        return tokens

    def _heard(self, text: str, sounds: str, at: int, before: TextToken | None) -> list[TextToken] | None:
        """The tokens of a number read from its sounds: the number, and its currency if that is spelled too."""
        if self._readings is None or (before is not None and _open(before)):
            return None
        if before is not None and _figures(before):
            scaled = self._readings.behind_figures(sounds, at, lambda end: self._bounded(text, end))
            if scaled is not None:
                return [TextToken(text[at : scaled[1]], at, scaled[1], True, self.words[scaled[0]])]
        closes = before is not None and self.words.get(text[at], UNKNOWN).closer
        loose = closes and before is not None and not before.word.closer
        found = self._readings.hear(sounds, at, particle=loose, bounded=lambda end: self._bounded(text, end))
        if found is None or (closes and found.end == at + 1):  # 「妹にドルで」 names no two of them
            return None
        tokens = [TextToken(text[at : found.end], at, found.end, before is not None, UNKNOWN, found.numeral)]
        if found.unit is not None:
            tokens.append(TextToken(found.unit, found.end, found.unit_end, True, self.words[found.unit]))
        return tokens

    def _bounded(self, text: str, end: int) -> bool:
        """Whether a word may end at a place: no letter of the same script follows, or a known word does."""
        if end >= len(text) or not _spells(text[end]):
            return True
        lengths = self._by_first.get(text[end], ())
        return any(self.words.get(text[end : end + size], UNKNOWN) is not UNKNOWN for size, _ in lengths)

    def _at(self, text: str, at: int, before: TextToken | None) -> TextToken:
        """The longest word, the numeral or the mark at a place; `before` is the token that touches it."""
        char, glued = text[at], before is not None
        for length, table in self._by_first.get(char, ()):
            word = table.get(text[at : at + length])
            if word is not None and self._splits(text, at, at + length - 1):
                continue
            if word is not None and not (word.protected and before is not None and _numeric(before)):
                return TextToken(text[at : at + length], at, at + length, glued, word)
        numeral = numeral_at(text, at)
        if numeral is not None:
            return TextToken(numeral[0].text, at, numeral[1], glued, UNKNOWN, numeral[0])
        return self._word(text, at, glued)

    def _splits(self, text: str, at: int, last: int) -> bool:
        """Whether a word ends where a weekday begins that the rest of it leads up to: 次の月曜 is no 次の月."""
        if self.words.get(text[at:last], UNKNOWN).relative is None:
            return False
        lengths = self._by_first.get(text[last], ())
        return any(self.words.get(text[last : last + size], UNKNOWN).weekday is not None for size, _ in lengths)

    def _word(self, text: str, at: int, glued: bool) -> TextToken:
        """The letters at a place as one token; anything else is one of its own."""
        found = _LATIN.match(text, at)
        end = found.end() if found is not None else at + 1
        word = self.words.get(text[at:end], UNKNOWN)
        if word is UNKNOWN and text.endswith(_IS, at, end):
            number = self.words.get(text[at : end - len(_IS)], UNKNOWN)
            if number.scale is not None or (number.value is not None and number.value > 1):
                word, end = number, end - len(_IS)
        return TextToken(text[at:end], at, end, glued, word)

    def _join(self, tokens: list[TextToken]) -> list[TextToken]:
        """Merge the tokens of multi-word surfaces into one."""
        phrases = self._phrases
        if not phrases:
            return tokens
        joined: list[TextToken] = []
        at, size = 0, len(tokens)
        while at < size:
            token = tokens[at]
            behind = phrases.get(token.text)
            if behind is not None and at + 1 < size and (begun := behind.get(tokens[at + 1].text)) is not None:
                inside = bool(joined) and _numeric(joined[-1]) and _numeric(token)
                found, last = _joined(tokens, at, begun, inside)
                if not (found.word.protected and _numeric(token) and self._half_day(tokens, last + 1)):
                    token, at = found, last
            joined.append(token)
            at += 1
        return joined

    def _half_day(self, tokens: list[TextToken], at: int) -> bool:
        """Whether "a.m." or "p.m." begins at a place: "seven eleven p.m." is a time and no shop."""
        if at >= len(tokens):
            return False
        begun = self._phrases.get(tokens[at].text, {}).get(tokens[at + 1].text) if at + 1 < len(tokens) else None
        word = _joined(tokens, at, begun, inside=False)[0].word if begun is not None else tokens[at].word
        return word.half is not None


def _hyphen(text: str, at: int) -> bool:
    """Whether the mark at a place ties a word to its neighbour, as in forty-five and one-yen."""
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    return before.isalnum() and after.isalnum() and (before.isalpha() or after.isalpha())


def _joined(
    tokens: list[TextToken], at: int, phrases: Sequence[tuple[tuple[TextToken, ...], Word]], inside: bool
) -> tuple[TextToken, int]:
    """The longest phrase at a place as one token, or the token there; and the last place that it takes."""
    first = tokens[at]
    for parts, word in phrases:
        if inside and word.protected:
            continue  # "twenty one second" holds no "one second"
        last = at + len(parts) - 1
        if last < len(tokens) and all(map(_fits, tokens[at + 1 : last + 1], parts[1:])):
            text = " ".join(part.text for part in parts)
            return TextToken(text, first.start, tokens[last].end, first.glued, word), last
    return first, at


def _fits(token: TextToken, part: TextToken) -> bool:
    """Whether a token is that part of a phrase; what the phrase writes together must be together."""
    return token.text == part.text and (token.glued or not part.glued)


def _numeric(token: TextToken) -> bool:
    return token.numeral is not None or token.word.value is not None or token.word.scale is not None


def _figures(token: TextToken) -> bool:
    """Whether a token is a number's written figure or scale, and none that was read from its sounds."""
    return token.numeral.shape != "heard" if token.numeral is not None else _numeric(token)


def _spells(char: str) -> bool:
    return "\u3041" <= char <= "\u30ff" and char != "・"


def _open(token: TextToken) -> bool:
    """Whether a token is an unknown letter of a script that spells by sound, so that a word is still open."""
    return token.word is UNKNOWN and token.numeral is None and _spells(token.text[-1])


def combine(entries: Iterable[tuple[str, Word]]) -> dict[str, Word]:
    """One word for each surface, of everything said about it."""
    words: dict[str, Word] = {}
    for surface, word in entries:
        words[surface] = merge(words[surface], word) if surface in words else word
    return words
