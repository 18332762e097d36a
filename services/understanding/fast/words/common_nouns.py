"""What the rules call accounts, cards and bills, whoever has them: compiled once a language, for all callers."""

from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, TypeAlias

from services.understanding.fast.patterns.lattice import Trie
from services.understanding.fast.ruleset.grammar import Grammar
from services.understanding.fast.words.own_names import said_behind

KINDS: Final = ("account", "card", "bill")
Called: TypeAlias = tuple[str, tuple[str, ...]]
"""A kind, and a phrase for things of it."""


class CommonNouns:
    """`trie` has every phrase, read as its number: what it has in `numbers`."""

    def __init__(self, grammar: Grammar) -> None:
        self.numbers: dict[Called, int] = {}
        self._ends = {grammar.units(word).words for word in grammar.nouns.generic.get("bill", ())}
        self._kinds = {kind: self._compiled(grammar, kind) for kind in KINDS}
        self.trie = Trie()
        for (_, phrase), number in self.numbers.items():
            self.trie.add(phrase, number)

    def _compiled(self, grammar: Grammar, kind: str) -> tuple[Trie, list[tuple[list[int], list[int]]]]:
        """By phrase: the places of its group in this list, and the numbers of it, and of it with words behind it."""
        trie, said, brands = Trie(), list[tuple[list[int], list[int]]](), set[int]()
        for brand in grammar.nouns.brands if kind == "bill" else ():  # a company's name never means another company
            phrase = grammar.units(brand).words
            brands.add(number := self._number(kind, phrase))
            trie.add(phrase, len(said))
            said.append(([], [number]))
        for phrases in getattr(grammar.nouns, kind + "s").values():
            group: list[int] = []
            for phrase in (grammar.units(each).words for each in phrases):
                numbers = [self._number(kind, each) for each in said_behind(grammar, kind, phrase)]
                group.append(len(said))
                trie.add(phrase, len(said))
                said.append((group, [number for number in numbers if number not in brands]))
        return trie, said

    def _number(self, kind: str, phrase: tuple[str, ...]) -> int:
        return self.numbers.setdefault((kind, phrase), len(self.numbers))

    def owners(self, kind: str, names: Mapping[str, tuple[str, ...]]) -> dict[int, frozenset[str]]:
        """Whose things the phrases of a kind mean, by their numbers; those that mean nobody's are left out."""
        (trie, said), meant = self._kinds[kind], dict[int, frozenset[str]]()
        bearers, alike = defaultdict[int, frozenset[str]](frozenset), defaultdict[int, frozenset[str]](frozenset)
        for owner, name in names.items():
            for _, end, at, *_ in trie.edges(name):
                bearers[at] |= {owner}
                if kind != "bill" or end == len(name) or name[end:] in self._ends:  # car insurance is no car
                    for each in said[at][0]:
                        alike[each] |= {owner}
        for at in bearers.keys() | alike.keys():
            owners = bearers.get(at) or alike[at]  # whose name holds the very word is meant before its kind
            for number in said[at][1]:
                meant[number] = meant[number] | owners if number in meant else owners
        return meant


@lru_cache(maxsize=8)
def common_nouns(grammar: Grammar) -> CommonNouns:
    """A language's, compiled once and kept."""
    return CommonNouns(grammar)
