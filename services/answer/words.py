"""Words for the search: the same cutting for passages and questions, with the language's own data."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from rules.load import RuleFile, load

_LATIN: Final = re.compile(r"[a-z0-9]+(?:[.,'][a-z0-9]+)*")
_JAPANESE: Final = re.compile(r"[a-z0-9]+(?:[.,][a-z0-9]+)*|[ァ-ヴー]+|[一-龠々〆ヵヶ]+|[ぁ-ん]+")
_KATAKANA: Final = re.compile(r"[ァ-ヴー]+")
_ENDINGS: Final = (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""))
SHORT: Final = 3
"""English words of this many letters keep all of them."""
MIN_KANA: Final = 3
"""Shorter runs of hiragana are particles and endings."""
_KANJI: Final = re.compile(r"[一-龠々〆ヵヶ]+")


class AnswerWords(RuleFile):
    """rules/answer/<language>.yaml: what the search ignores, what it takes for the same, what is not its business."""

    stop: list[str]
    same: dict[str, list[str]]
    personal: list[str]


@lru_cache(maxsize=8)
def words_of(language: str) -> "Words":
    """The word cutter of a language. Raises RulesInvalid where it has no data."""
    return Words(language, load(f"answer/{language}.yaml", AnswerWords))


class Words:
    """Cuts text of one language into search terms."""

    def __init__(self, language: str, rules: AnswerWords) -> None:
        self._spaced = language != "ja"
        edge = r"\b" if self._spaced else ""
        pairs = sorted(((said, term) for term, all_said in rules.same.items() for said in all_said), key=_longest_first)
        self._same = dict(pairs)
        self._same_pattern = re.compile("|".join(f"{edge}{re.escape(said)}{edge}" for said, _ in pairs) or r"(?!)")
        self._stop = frozenset(rules.stop)
        stop = sorted(rules.stop, key=len, reverse=True)
        self._stop_pattern = re.compile("|".join(map(re.escape, stop)) or r"(?!)")
        self._personal = [re.compile(pattern) for pattern in rules.personal]

    def personal(self, text: str) -> bool:
        """Whether a question is about the caller's own account: no document answers that."""
        folded = _fold(text)
        return any(pattern.search(folded) for pattern in self._personal)

    def terms(self, text: str) -> list[str]:
        """The terms of a text, in order, repeats kept."""
        folded = self._same_pattern.sub(lambda m: f" {self._same[m[0]]} ", _fold(text))
        return list(self._latin(folded) if self._spaced else self._japanese(folded))

    def _latin(self, text: str) -> Iterator[str]:
        for word in _LATIN.findall(text):
            if word not in self._stop and (base := word.removesuffix("'s")) not in self._stop:
                yield stem(base)

    def _japanese(self, text: str) -> Iterator[str]:
        for run in _JAPANESE.findall(self._stop_pattern.sub(" ", text)):
            if _KANJI.fullmatch(run) and len(run) > 1:
                yield from (run[i : i + 2] for i in range(len(run) - 1))
            elif not "ぁ" <= run[0] <= "ん":
                yield run
            elif len(run) >= MIN_KANA:
                yield from (run[i : i + 2] for i in range(len(run) - 1))


def stem(word: str) -> str:
    """An English word without its commonest endings; crude, but the same for passages and questions."""
    if len(word) <= SHORT or word[0].isdigit():
        return word
    base = word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= SHORT and not word.endswith(("ss", "us")):
            base = word.removesuffix(ending) + instead
            break
    if len(base) <= SHORT:
        return base
    undoubled = base[:-1] if base[-1] == base[-2] else base
    return undoubled.removesuffix("e")


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower().replace("’", "'").replace("$", " dollars ")


def _longest_first(pair: tuple[str, str]) -> tuple[int, str]:
    return -len(pair[0]), pair[0]
