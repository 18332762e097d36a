"""Words for the search: the same cutting for passages and questions, with the language's own data."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, Protocol

from pydantic import Field

from rules.load import RuleFile, load

_LATIN: Final = re.compile(r"[a-z0-9]+(?:[.,'][a-z0-9]+)*")
_JAPANESE: Final = re.compile(
    r"[a-z0-9]+(?:[.,][a-z0-9]+)*|[ァ-ヴー]+|[一-龠々〆〇ヵヶ]{2,}|[一-龠](?=[をにはがでとのもへや、。]|$)"
)
_KANJI: Final = re.compile(r"[一-龠々〆〇ヵヶ]+")
_AMOUNT: Final = re.compile(r"\d[\d,.]*|[一二三四五六七八九十百千万億]+")
_COUNTED: Final = re.compile(r"[一二三四五六七八九十百千万億]+[円年月日時分歳人回枚割]")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_ENDINGS: Final = tuple(
    {"ies": "y", "sses": "ss", "ches": "ch", "shes": "sh", "xes": "x", "ing": "", "ed": "", "s": ""}.items()
)
SHORT: Final = 3
"""English words of this many letters keep all of them."""


class AnswerWords(RuleFile):
    """rules/answer/<language>.yaml: what the search ignores, what it takes for the same, what is not its business.

    `instead`: terms of which one, said later, takes the place of the others: "and domestic?" is no more about abroad.
    `alone`: terms that a question is about, by those that it holds and no others: a fee, and no more, is a transfer's.
    `subjects`: terms that a passage has to hold where they are asked about: the fee of an ATM is none for sending.
    """

    stop: list[str]
    same: dict[str, list[str]]
    instead: tuple[frozenset[str], ...] = ()
    alone: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    subjects: frozenset[str] = frozenset()
    personal: list[str]


class _Cutter(Protocol):
    """Cuts folded text into terms: the longest thing said that the data names, or else what is left of it."""

    def cut(self, text: str) -> Iterator[str]: ...


@lru_cache(maxsize=8)
def words_of(language: str) -> "Words":
    """The word cutter of a language. Raises RulesInvalid where it has no data."""
    return Words(language, load(f"answer/{language}.yaml", AnswerWords))


class Words:
    """Cuts text of one language into search terms."""

    def __init__(self, language: str, rules: AnswerWords) -> None:
        said = [(_fold(word), term) for term, words in rules.same.items() for word in (term, *words)]
        self._cutter: _Cutter = _Japanese(said, rules.stop) if language == "ja" else _Spaced(said, rules.stop)
        self._instead = rules.instead
        self._alone = {frozenset(held.split()): term.split() for term, all_ in rules.alone.items() for held in all_}
        self.subjects = rules.subjects
        self._personal = [re.compile(pattern) for pattern in rules.personal]

    def personal(self, text: str) -> bool:
        """Whether a question is about the caller's own account: no document answers that."""
        folded = _fold(text)
        return any(pattern.search(folded) for pattern in self._personal)

    def replaced(self, terms: Collection[str]) -> frozenset[str]:
        """Those of an earlier question in whose place `terms` stand."""
        return frozenset[str]().union(*(each for each in self._instead if not each.isdisjoint(terms))).difference(terms)

    def meant(self, terms: list[str]) -> list[str]:
        """What a question that holds these terms and no others is about."""
        return self._alone.get(frozenset(terms), terms)

    def terms(self, text: str) -> list[str]:
        """The terms of a text, in order, repeats kept. Amounts are none: they are what is asked, or a case of it."""
        return list(self._cutter.cut(_fold(text)))


class _Spaced:
    """A language with spaces: what is said are whole words in any of their forms; other words are stemmed too."""

    def __init__(self, said: Iterable[tuple[str, str]], stop: Iterable[str]) -> None:
        self._stop = frozenset(stop)
        self._said: dict[str, list[tuple[list[str], list[str]]]] = {}
        for phrase, term in said:
            words = _stems(phrase)
            self._said.setdefault(words[0], []).append((words, _stems(term)))
        for phrases in self._said.values():
            phrases.sort(key=lambda phrase: -len(phrase[0]))

    def cut(self, text: str) -> Iterator[str]:
        words, stems = _LATIN.findall(text), _stems(text)
        at = 0
        while at < len(words):
            taken, terms = self._at(words[at], stems, at)
            at += taken
            yield from terms

    def _at(self, word: str, stems: Sequence[str], at: int) -> tuple[int, Sequence[str]]:
        for phrase, terms in self._said.get(stems[at], ()):
            if stems[at : at + len(phrase)] == phrase:
                return len(phrase), terms
        base = word.removesuffix("'s")
        nothing = word in self._stop or base in self._stop or _amount(base)
        return 1, () if nothing else (stems[at],)


class _Japanese:
    """Japanese: what is said may begin and end anywhere. What is left gives katakana words and pairs of kanji.

    Hiragana that the data does not name is grammar, and a lone kanji before other kana than a particle a verb's stem.
    """

    def __init__(self, said: Iterable[tuple[str, str]], stop: Iterable[str]) -> None:
        self._said: dict[str, tuple[str, ...]] = {_fold(word): () for word in stop}
        self._said |= {word: tuple(term.lower().split()) for word, term in said}
        self._longest = max(map(len, self._said))

    def cut(self, text: str) -> Iterator[str]:
        at = begun = 0
        while at < len(text):
            if (word := self._at(text, at)) is None:
                at += 1
                continue
            yield from self._rest(text[begun:at])
            yield from self._said[word]
            at = begun = at + len(word)
        yield from self._rest(text[begun:])

    def _at(self, text: str, at: int) -> str | None:
        lengths = range(min(self._longest, len(text) - at), 0, -1)
        words = (text[at : at + length] for length in lengths)
        return next((word for word in words if word in self._said and _whole(text, at, at + len(word))), None)

    def _rest(self, text: str) -> Iterator[str]:
        for run in _JAPANESE.findall(_COUNTED.sub("", text)):
            if _KANJI.fullmatch(run) and len(run) > 1 and not _amount(run):
                yield from (run[i : i + 2] for i in range(len(run) - 1))
            elif not _amount(run):
                yield run


def stem(word: str) -> str:
    """An English word without its commonest endings; crude, but the same for passages and questions."""
    if len(word) <= SHORT or word[0].isdigit():
        return word
    base = word
    for ending, instead in _ENDINGS:
        cut = word.removesuffix(ending) + instead
        if word.endswith(ending) and len(cut) >= SHORT and not word.endswith(("ss", "us")):
            base = cut
            break
    if len(base) <= SHORT:
        return base
    undoubled = base[:-1] if base[-1] == base[-2] else base
    return undoubled.removesuffix("e") if len(undoubled) > SHORT + 1 else undoubled


def _stems(text: str) -> list[str]:
    return [stem(word.removesuffix("'s")) for word in _LATIN.findall(text)]


def _whole(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` cuts through no word of katakana or of Latin letters."""
    return not (_joined(text[start - 1 : start + 1]) if start else False) and not _joined(text[end - 1 : end + 1])


def _joined(pair: str) -> bool:
    return len(pair) > 1 and (all("ァ" <= c <= "ー" for c in pair) or (pair.isascii() and pair.isalnum()))


def _amount(word: str) -> bool:
    return bool(_AMOUNT.fullmatch(word)) and not _YEAR.fullmatch(word)


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower().replace("’", "'").replace("$", " dollars ")
