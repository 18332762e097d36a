"""Words for the search: the same cutting for passages and questions, with the language's own data."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from rules.load import RuleFile, load

_LATIN: Final = re.compile(r"[a-z0-9]+(?:[.,'][a-z0-9]+)*")
_JAPANESE: Final = re.compile(r"[a-z0-9]+(?:[.,][a-z0-9]+)*|[ァ-ヴー]+|[一-龠々〆〇ヵヶ]+")
_KANJI: Final = re.compile(r"[一-龠々〆〇ヵヶ]+")
_KATAKANA: Final = re.compile(r"[ァ-ヴー]+")
_AMOUNT: Final = re.compile(r"\d[\d,.]*|[一二三四五六七八九十百千万億]+[円年月日時分歳人回枚割]?")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_ENDINGS: Final = (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("s", ""))
SHORT: Final = 3
"""English words of this many letters keep all of them."""


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
    """Cuts text of one language into search terms: first what the language's data names, then what is left."""

    def __init__(self, language: str, rules: AnswerWords) -> None:
        self._spaced = language != "ja"
        said = {_fold(word): self._named(term) for term, words in rules.same.items() for word in (term, *words)}
        self._same = said
        self._stop = frozenset(rules.stop)
        known = [*said, *(() if self._spaced else rules.stop)]
        self._known = re.compile(f"({'|'.join(map(_whole, sorted(known, key=_longest_first)))})")
        self._personal = [re.compile(pattern) for pattern in rules.personal]

    def personal(self, text: str) -> bool:
        """Whether a question is about the caller's own account: no document answers that."""
        folded = _fold(text)
        return any(pattern.search(folded) for pattern in self._personal)

    def terms(self, text: str) -> list[str]:
        """The terms of a text, in order, repeats kept. Amounts are none: they are what is asked, or a case of it."""
        cut = self._latin if self._spaced else self._japanese
        found: list[str] = []
        for place, piece in enumerate(self._known.split(_fold(text))):
            found += self._same.get(piece, ()) if place % 2 else cut(piece)
        return found

    def _named(self, term: str) -> tuple[str, ...]:
        return tuple(map(stem, term.split())) if self._spaced else (term.lower(),)

    def _latin(self, text: str) -> Iterator[str]:
        for word in _LATIN.findall(text):
            if word in self._stop or (base := word.removesuffix("'s")) in self._stop or _amount(base):
                continue
            yield stem(base)

    def _japanese(self, text: str) -> Iterator[str]:
        for run in _JAPANESE.findall(text):
            if _amount(run):
                continue
            if _KANJI.fullmatch(run) and len(run) > 1:
                yield from (run[i : i + 2] for i in range(len(run) - 1))
            else:
                yield run


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
    return undoubled.removesuffix("e") if len(undoubled) > SHORT + 1 else undoubled


def _whole(word: str) -> str:
    """The pattern of a word that is not a part of another. Japanese has no spaces: only katakana words show their ends."""
    inside = r"\w-" if word.isascii() else "ァ-ヴー" if _KATAKANA.fullmatch(word) else ""
    return f"(?<![{inside}]){re.escape(word)}(?![{inside}])" if inside else re.escape(word)


def _amount(word: str) -> bool:
    return bool(_AMOUNT.fullmatch(word)) and not _YEAR.fullmatch(word)


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower().replace("’", "'").replace("$", " dollars ")


def _longest_first(word: str) -> tuple[int, str]:
    return -len(word), word
