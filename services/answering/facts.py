"""The facts a text states: numbers with units, days, months, "free". A sentence may state only its passages' facts."""

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from typing import Final

from pydantic import BaseModel, ConfigDict

from rules.load import RuleFile, load

Fact = tuple[str, str]
"""A value and its unit ("5", "dollar"); a word fact has the word as its value and no unit."""

_HUNDRED: Final = 100
_MYRIAD: Final = 10_000
_NUMBER_EN: Final = re.compile(r"\d[\d,]*(?:\.\d+)?|[a-z]+")
_DIGITS: Final = r"\d[\d,]*(?:\.\d+)?"
_KANJI: Final = "〇零一二三四五六七八九十百千"
_NUMBER_JA: Final = re.compile(rf"(?:{_DIGITS}|[{_KANJI}])(?:{_DIGITS}|[{_KANJI}万億兆])*")
_FOREIGN: Final = {"en": re.compile(r"[ぁ-んァ-ヴー一-龠々〆〇]+"), "ja": re.compile(r"[a-z]{2,}")}
MAX_TEXT: Final = 2000


class FactWords(BaseModel):
    """A language's number words, units (after a number), prefixes (before one) and words that are facts alone."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    numbers: dict[str, int]
    scales: dict[str, int]
    alone: dict[str, str]
    units: dict[str, list[str]]
    prefixes: dict[str, list[str]]
    words: dict[str, list[str]]


class FactRules(RuleFile):
    """rules/answer/facts.yaml."""

    en: FactWords
    ja: FactWords


@lru_cache(maxsize=4)
def facts_of(language: str) -> "FactReader":
    """The fact reader of a language."""
    rules = load("answer/facts.yaml", FactRules)
    return FactReader(language, rules.ja if language == "ja" else rules.en)


class FactReader:
    """Reads the facts of a text in one language."""

    def __init__(self, language: str, words: FactWords) -> None:
        self._spaced = language != "ja"
        self._foreign = _FOREIGN["en" if self._spaced else "ja"]
        self._rules = words
        self._units = _longest_first(words.units)
        self._prefixes = _longest_first(words.prefixes)
        self._words = _longest_first(words.words)

    def of(self, text: str) -> frozenset[Fact]:
        """Every fact of a text."""
        folded = unicodedata.normalize("NFKC", text[:MAX_TEXT]).lower().replace("’", "'")
        numbers = self._english(folded) if self._spaced else self._japanese(folded)
        foreign = self._foreign.findall(folded)  # a number in the other language's words must not slip through
        return frozenset([*numbers, *((word, "") for word in (*self._word_facts(folded), *foreign))])

    def unstated(self, sentence: str, passages: str) -> frozenset[Fact]:
        """The facts of `sentence` that `passages` do not hold. A bare number needs the same value, of any unit."""
        known = self.of(passages)
        values = {value for value, _ in known}
        return frozenset(fact for fact in self.of(sentence) if fact not in known and (fact[1] or fact[0] not in values))

    def _word_facts(self, text: str) -> Iterator[str]:
        for said, fact in self._words:
            found = re.search(rf"(?<![a-z]){re.escape(said)}(?![a-z])", text) if self._spaced else said in text
            if found:
                yield fact

    def _english(self, text: str) -> Iterator[Fact]:
        words = list(_NUMBER_EN.finditer(text))
        position = 0
        while position < len(words):
            value, taken = self._english_number([m[0] for m in words[position : position + 12]])
            if not taken:
                position += 1
                continue
            first, last = words[position], words[position + taken - 1]
            unit = self._unit(text, first.start(), last.end())
            if unit or first[0] != "one":  # "one of our branches" counts nothing
                yield value, unit
            position += taken

    def _japanese(self, text: str) -> Iterator[Fact]:
        for found in _NUMBER_JA.finditer(text):
            value = self._japanese_number(found[0])
            if value is not None:
                unit = self._unit(text, found.start(), found.end())
                if unit or found[0] != "一":
                    yield value, unit

    def _english_number(self, words: list[str]) -> tuple[str, int]:
        """The number that `words` begin with, and how many of them it takes (0: none)."""
        rules = self._rules
        if words[0][0].isdecimal():
            value = Decimal(words[0].replace(",", ""))
            scale = rules.scales.get(words[1], 0) if len(words) > 1 else 0
            return (_plain(value * scale), 2) if scale else (_plain(value), 1)
        if words[0] in rules.alone:
            return rules.alone[words[0]], 1
        total, current, taken = 0, 0, 0
        for word in words:
            if word in rules.scales:
                counted = current or int(not taken)  # "a hundred" is one of them
                scale = rules.scales[word]
                current, total = (counted * scale, total) if scale == _HUNDRED else (0, total + counted * scale)
            elif word in rules.numbers:
                current += rules.numbers[word]
            elif not (word == "and" and taken and words[taken + 1 : taken + 2] and words[taken + 1] in rules.numbers):
                break
            taken += 1
        return (str(total + current), taken) if taken else ("", 0)

    def _japanese_number(self, text: str) -> str | None:
        numbers, scales = self._rules.numbers, self._rules.scales
        total, section, digits = Decimal(0), Decimal(0), ""
        try:
            for character in text.replace(",", ""):
                if character.isdigit() or character == ".":
                    digits += character
                elif character in numbers:
                    digits += str(numbers[character])
                elif scales[character] < _MYRIAD:
                    section += Decimal(digits or "1") * scales[character]
                    digits = ""
                else:
                    total += (section + Decimal(digits or ("0" if section else "1"))) * scales[character]
                    section, digits = Decimal(0), ""
            return _plain(total + section + Decimal(digits or "0"))
        except ArithmeticError:  # "1.5二.5" is no number
            return None

    def _unit(self, text: str, start: int, end: int) -> str:
        after = text[end:].lstrip(" -")
        unit = next((u for said, u in self._units if after.startswith(said) and self._ends(after, len(said))), "")
        before = text[:start].rstrip()
        prefix = next((p for said, p in self._prefixes if before.endswith(said)), "")
        return prefix + unit if not self._spaced else (unit or prefix)

    def _ends(self, text: str, at: int) -> bool:
        return not self._spaced or at >= len(text) or not text[at].isalnum()


def _longest_first(words: dict[str, list[str]]) -> list[tuple[str, str]]:
    pairs = [(said, name) for name, every in words.items() for said in every]
    return sorted(pairs, key=lambda pair: -len(pair[0]))


def _plain(value: Decimal) -> str:
    return format(value.normalize(), "f")
