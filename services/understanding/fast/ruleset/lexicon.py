"""A language's words as a grammar looks for them: phrases in tries, and symbols of words, lists and typed tokens."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from schemas.errors import RulesInvalid
from services.understanding.fast.patterns.automaton import key, literals
from services.understanding.fast.patterns.lattice import FILLER, Trie
from services.understanding.fast.patterns.template import Rules, phrases
from services.understanding.fast.patterns.tree import Node, atoms
from services.understanding.fast.patterns.units import splitter
from services.understanding.fast.ruleset.rules import WordsFile

TYPED: Final = (
    "money",
    "amount",
    "number",
    "digits",
    "date",
    "time",
    "percent",
    "payee",
    "account",
    "card",
    "bill",
    "biller",
    "offered",
)
"""Symbols that only typed tokens can be read as; `amount` is money or a plain number."""
OTHER: Final = "other"
"""The symbol of a word that may be part of a name nobody here has."""


def _units(phrase: tuple[str, ...], spaced: bool) -> tuple[str, ...]:
    return phrase if spaced else tuple("".join(phrase))


@lru_cache(maxsize=2)
def _plain(spaced: bool) -> Rules:
    return Rules({}, splitter(spaced))


def phrases_of(text: str, words: WordsFile) -> list[tuple[str, ...]]:
    """Everything that a text of the rules stands for, in units."""
    return [_units(phrase, words.spaced) for phrase in phrases(text, _plain(words.spaced))]


def _add(trie: Trie, text: str, symbol: int, words: WordsFile) -> None:
    for phrase in phrases_of(text, words):
        if not phrase:
            raise RulesInvalid(f"an empty phrase in {words.id}: {text!r:.40}")
        trie.add(phrase, symbol)


def lexicon(entries: list[tuple[int, tuple[str, ...]]], words: WordsFile) -> Trie:
    """A trie of phrases, each list of them by its symbol."""
    trie = Trie()
    for symbol, texts in entries:
        for text in texts:
            _add(trie, text, symbol, words)
    return trie


def readings(trees: list[Node], symbols: dict[str, int], words: WordsFile) -> Trie:
    """What the units of a text may be read as: words of the templates, fillers, entries of the lists."""
    trie = Trie()
    for name, said in literals(trees).items():
        for phrase in said:
            trie.add(_units(phrase, words.spaced), symbols[name])
    for text in words.fillers:
        _add(trie, text, FILLER, words)
    for name, entries in words.lists.items():
        for text in entries:
            _add(trie, text, symbols[name], words)
    return trie


def symbols_of(trees: list[Node], words: WordsFile, verbs: Sequence[str]) -> dict[str, int]:
    """The symbol of every word, list and typed token. Raises RulesInvalid for one that is none of these."""
    symbols = {"": FILLER}
    for name in dict.fromkeys((*TYPED, OTHER, *words.lists, *verbs)):
        symbols[name] = len(symbols)
    for tree in trees:
        for atom in atoms(tree):
            name = key(atom)
            if name not in symbols:
                if not atom.literal:
                    raise RulesInvalid(f"no list or typed token {{{name}}} in {words.id}")
                symbols[name] = len(symbols)
    return symbols
