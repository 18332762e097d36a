"""Everything an utterance's units can be read as: edges between positions, each with a symbol."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from operator import itemgetter
from sys import intern
from typing import Any, Final, NamedTuple, TypeAlias

FILLER: Final = 0
"""The symbol of what may be skipped anywhere."""

_RANK: Final = 2
"""Of a phrase, and of what has no other."""


class Edge(NamedTuple):
    """Units `start` … `end` read as `symbol`; `value` is what a typed token carries. Lower `rank` is preferred."""

    start: int
    end: int
    symbol: int
    rank: int = _RANK
    value: Any = None


class Arrival(NamedTuple):
    """Units from `start` on that are read as `symbols`, one edge each; `rank` and `value` are those of these edges."""

    rank: int
    start: int
    symbols: tuple[int, ...]
    value: Any = None


Step: TypeAlias = tuple[int, tuple[int, ...]]
"""An end, and every symbol that the units up to it are read as: a phrase has many, and mostly they go together."""

_new: Final = tuple.__new__
"""Makes a plain edge in half the time that its class takes: there are hundreds to an utterance."""
_Node: TypeAlias = dict[str | None, Any]
"""What follows by unit, and under None the symbols of the phrase that ends here. Plain: a grammar has many."""


class Trie:
    """Phrases (sequences of units) and the symbols they are read as."""

    def __init__(self) -> None:
        self._first: _Node = {}
        self._shared = False

    def __getstate__(self) -> dict[str, object]:
        """With what many phrases end in once: most ends are alike."""
        return {"_first": _with_shared_ends(self._first, {}), "_shared": True}

    def add(self, phrase: Iterable[str], symbol: int) -> None:
        """Let `phrase` be read as `symbol`, besides what it already is."""
        assert not self._shared, "a phrase would be added to all that end alike"
        node = self._first
        for unit in phrase:
            if unit in node:
                node = node[unit]
            else:
                node[unit] = node = {}
        symbols = node.get(None, ())
        if symbol not in symbols:
            node[None] = (*symbols, symbol)

    def joined(self, other: "Trie", order: Callable[[int], Any]) -> "Trie":
        """The phrases of both, which the two stay part of; the symbols of a phrase that both have are in `order`."""
        made = Trie()
        made._first = _joined(self._first, other._first, order)  # noqa: SLF001 - its own class
        made._shared = True
        return made

    def steps(self, units: tuple[str, ...], at: int) -> list[Step]:
        """Every phrase that begins at unit `at`."""
        node = self._first.get(units[at])
        found: list[Step] = []
        end, size = at + 1, len(units)
        while node is not None:
            if symbols := node.get(None):
                found.append((end, symbols))
            if end == size:
                break
            node = node.get(units[end])
            end += 1
        return found

    def scan(self, units: tuple[str, ...], at: int) -> list[Edge]:
        """The same, an edge a symbol; none behind the last unit."""
        if at >= len(units) or units[at] not in self._first:
            return []
        return _edges(at, self.steps(units, at))

    def meets(self, units: Iterable[str]) -> bool:
        """Whether any of the units may begin a phrase: soon told, and mostly not so."""
        return not self._first.keys().isdisjoint(units)

    def begun(self, units: Iterable[str]) -> list[int]:
        """The units at which a phrase may begin: none of any other is worth being looked for."""
        first = self._first
        return [at for at, unit in enumerate(units) if unit in first]

    def opens(self, unit: str) -> bool:
        """Whether any phrase begins with a unit."""
        return unit in self._first

    def begins(self, units: tuple[str, ...], at: int) -> bool:
        """Whether any phrase begins at unit `at`; none does behind the last."""
        node, end = self._first.get(units[at]) if at < len(units) else None, at + 1
        while node is not None and not node.get(None):
            node = node.get(units[end]) if end < len(units) else None
            end += 1
        return node is not None

    def holds(self, units: tuple[str, ...]) -> bool:
        """Whether any phrase is anywhere in the units."""
        return self.meets(units) and any(self.begins(units, at) for at in range(len(units)))

    def covers(self, units: tuple[str, ...]) -> bool:
        """Whether the units, at least one, are one phrase from the first to the last."""
        return bool(units) and self.longest(units, 0)[0] == len(units)

    def ends(self, units: tuple[str, ...], at: int, near: int) -> bool:
        """Whether a phrase that begins at most `near` units before unit `at` ends there."""
        return any(edge.end == at for begin in range(max(0, at - near), at) for edge in self.scan(units, begin))

    def closes(self, units: tuple[str, ...], held: frozenset[int] = frozenset()) -> bool:
        """Whether the last units are a phrase that begins in none of the `held` ones."""
        return any(edge.end == len(units) and edge.start not in held for edge in self.edges(units))

    def edges(self, units: tuple[str, ...]) -> Iterator[Edge]:
        """Every phrase, wherever it begins."""
        return (edge for row in self.rows(units) for edge in row)

    def rows(self, units: tuple[str, ...]) -> list[list[Edge]]:
        """Every phrase, by the unit that it begins at."""
        first = self._first
        if first.keys().isdisjoint(units):
            return [[]] * len(units)
        return [_edges(at, self.steps(units, at)) if unit in first else [] for at, unit in enumerate(units)]

    def __bool__(self) -> bool:
        return bool(self._first)

    def units(self) -> set[str]:
        """Every unit that occurs in a phrase."""
        found: set[str] = set()
        rest = [self._first]
        while rest:
            for unit, node in rest.pop().items():
                if unit is not None:
                    found.add(unit)
                    rest.append(node)
        return found

    def longest(self, units: tuple[str, ...], at: int) -> tuple[int, list[int]]:
        """The end and the symbols of the longest phrase at `at`; `at` itself when there is none."""
        node = self._first.get(units[at]) if at < len(units) else None
        if node is None:
            return at, []
        end, stop = at + 1, at
        symbols: Sequence[int] = ()
        while node is not None:
            ended = node.get(None)
            if ended:
                stop, symbols = end, ended
            if end == len(units):
                break
            node = node.get(units[end])
            end += 1
        return stop, [*symbols]


def _with_shared_ends(node: _Node, known: dict[tuple[object, ...], _Node]) -> _Node:
    """The same node, or the known one of which the same follows."""
    made: _Node = {}
    for unit, after in node.items():
        if unit is None:
            made[None] = after
        else:
            made[intern(unit)] = _with_shared_ends(after, known)
    symbols = tuple(made.get(None, ()))
    return known.setdefault((symbols, *((unit, id(after)) for unit, after in made.items() if unit is not None)), made)


def _joined(node: _Node, other: _Node, order: Callable[[int], Any]) -> _Node:
    made = node.copy()
    for unit, after in other.items():
        if unit not in node:
            made[unit] = after
        elif unit is None:
            made[None] = tuple(sorted(node[None] + after, key=order))
        else:
            made[unit] = _joined(node[unit], after, order)
    return made


def _edges(at: int, steps: Iterable[Step]) -> list[Edge]:
    """A plain edge for every symbol of these phrases, which begin at unit `at`."""
    return [_new(Edge, (at, end, symbol, _RANK, None)) for end, symbols in steps for symbol in symbols]


class Lattice:
    """Edges by their start or end, made when first asked for: of `phrases`, then whatever else `scan` finds."""

    def __init__(self, length: int, phrases: Callable[[int], list[Step]], scan: Callable[[int], list[Edge]]) -> None:
        self._phrases = phrases
        self._scan = scan
        self._begun: list[tuple[list[Step], list[Edge]] | None] = [*[None] * length, ([], [])]
        self._steps: list[list[Step]] = [[] for _ in range(length + 1)]
        self._into: list[list[Arrival]] = [[] for _ in range(length + 1)]
        self._edges: dict[int, list[Edge]] = {}
        self._said: frozenset[int] | None = None

    def __len__(self) -> int:
        return len(self._begun) - 1

    def _from(self, at: int) -> tuple[list[Step], list[Edge]]:
        made = self._begun[at]
        if made is None:
            made = phrases, others = self._phrases(at), self._scan(at)
            self._begun[at] = made
            self._steps[at] = [*phrases, *((edge.end, (edge.symbol,)) for edge in others)]
            for end, symbols in phrases:
                self._into[end].append(_new(Arrival, (_RANK, at, symbols, None)))
            for _, end, symbol, rank, value in others:
                self._into[end].append(_new(Arrival, (rank, at, (symbol,), value)))
        return made

    def steps(self, at: int) -> list[Step]:
        """Where what begins at unit `at` ends, and what it is read as; nothing does behind the last."""
        if self._begun[at] is None:
            self._from(at)
        return self._steps[at]

    def edges(self, at: int) -> list[Edge]:
        """The same, an edge a symbol."""
        made = self._edges.get(at)
        if made is None:
            phrases, others = self._from(at)
            made = self._edges[at] = _edges(at, phrases) + others
        return made

    def of(self, symbols: AbstractSet[int | None], begin: int = 0, stop: int | None = None) -> list[Edge]:
        """Those that begin among these units and are read as one of the symbols; mostly none is."""
        if self.said().isdisjoint(symbols):
            return []
        found: list[Edge] = []
        for at in range(begin, len(self) if stop is None else stop):
            if any(not symbols.isdisjoint(read) for _, read in self.steps(at)):
                found += [edge for edge in self.edges(at) if edge.symbol in symbols]
        return found

    def said(self) -> frozenset[int]:
        """Every symbol that anything is read as."""
        if self._said is None:
            self._said = frozenset().union(*(read for at in range(len(self)) for _, read in self.steps(at)))
        return self._said

    def into(self, at: int) -> list[Arrival]:
        """What ends before unit `at`, preferred first, the longer before the shorter."""
        self._into[at].sort(key=itemgetter(0, 1))
        return self._into[at]
