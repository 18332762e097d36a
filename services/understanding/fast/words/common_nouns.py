"""What the rules call accounts, cards and bills, whoever has them: compiled once a language, for all callers."""

from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from services.understanding.fast.patterns.lattice import Trie
from services.understanding.fast.ruleset.grammar import Grammar
from services.understanding.fast.words.own_names import said_behind

KINDS: Final = ("account", "card", "bill")

Phrase: TypeAlias = tuple[str, ...]
Called: TypeAlias = tuple[str, Phrase]
"""A phrase for things of a kind."""
_NO_GROUP: Final = -1


class _Said(NamedTuple):
    """A phrase of the rules: its group (a brand has none); the numbers of it and of that with what is said behind."""

    group: int
    numbers: tuple[int, ...]


class _Kind:
    """What things of a kind are called. A symbol of `trie` is a place in `said`; `groups` are of such places."""

    def __init__(self, ends: frozenset[Phrase] | None) -> None:
        self.trie = Trie()
        self.said: list[_Said] = []
        self.groups: list[list[int]] = []
        self._ends = ends

    def add(self, phrase: Phrase, said: _Said) -> None:
        """Let things be called so."""
        if said.group != _NO_GROUP:
            self.groups[said.group].append(len(self.said))
        self.trie.add(phrase, len(self.said))
        self.said.append(said)

    def tells(self, name: Phrase, end: int) -> bool:
        """Whether a name is of the group of what ends there in it; a bill's has to end so: car insurance is no car."""
        return self._ends is None or end == len(name) or name[end:] in self._ends


class CommonNouns:
    """`trie` has every phrase, read as its number: what it has in `numbers`."""

    def __init__(self, grammar: Grammar) -> None:
        self.numbers: dict[Called, int] = {}
        self._kinds = {kind: self._compiled(grammar, kind) for kind in KINDS}
        self.trie = Trie()
        for (_, phrase), number in self.numbers.items():
            self.trie.add(phrase, number)

    def _compiled(self, grammar: Grammar, kind: str) -> _Kind:
        ends = frozenset(grammar.units(word).words for word in grammar.nouns.generic.get(kind, ()))
        made, brands = _Kind(ends if kind == "bill" else None), set[int]()
        for brand in grammar.nouns.brands if kind == "bill" else ():  # a company's name never means another company
            phrase = grammar.units(brand).words
            brands.add(number := self._number(kind, phrase))
            made.add(phrase, _Said(_NO_GROUP, (number,)))
        for group, phrases in enumerate(getattr(grammar.nouns, kind + "s").values()):
            made.groups.append([])
            for phrase in (grammar.units(each).words for each in phrases):
                numbers = (self._number(kind, said) for said in said_behind(grammar, kind, phrase))
                made.add(phrase, _Said(group, tuple(number for number in numbers if number not in brands)))
        return made

    def _number(self, kind: str, phrase: Phrase) -> int:
        return self.numbers.setdefault((kind, phrase), len(self.numbers))

    def owners(self, kind: str, names: Mapping[str, Phrase]) -> dict[int, frozenset[str]]:
        """Whose things the phrases of a kind mean, by their numbers; those that mean nobody's are left out."""
        made, meant = self._kinds[kind], dict[int, frozenset[str]]()
        bearers, alike = defaultdict[int, frozenset[str]](frozenset), defaultdict[int, frozenset[str]](frozenset)
        for owner, name in names.items():
            for edge in made.trie.edges(name):
                bearers[edge.symbol] |= {owner}
                group = made.said[edge.symbol].group
                if group != _NO_GROUP and made.tells(name, edge.end):
                    alike[group] |= {owner}
        for place in {*bearers, *(place for group in alike for place in made.groups[group])}:
            group, numbers = made.said[place]
            owners = bearers.get(place) or alike[group]
            for number in numbers:  # whose name holds the very word is meant before what is of its kind
                meant[number] = meant[number] | owners if number in meant else owners
        return meant


@lru_cache(maxsize=8)
def common_nouns(grammar: Grammar) -> CommonNouns:
    """A language's, compiled once and kept."""
    return CommonNouns(grammar)
