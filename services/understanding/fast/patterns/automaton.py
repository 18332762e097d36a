"""All templates as one position automaton over bit sets: linear in the utterance, no backtracking.

State 0 is the start; every other state is one atom's place in one template. A set of states is an int, so a step over
an edge of the lattice is one AND and one OR.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from services.understanding.fast.patterns.lattice import FILLER, Edge, Lattice
from services.understanding.fast.patterns.tree import Alt, Atom, Node, Rep, Seq, atoms

START: Final = 1
"""The set of the start alone."""
MAX_MEMO: Final = 20_000
"""Successor sets remembered; forgotten together when there are more."""


@dataclass(frozen=True, slots=True)
class Capture:
    """An atom's slot, "" where it has none, and the edge that was read as it."""

    slot: str
    edge: Edge


@dataclass(frozen=True, slots=True)
class _Part:
    nullable: bool
    first: int
    last: tuple[int, ...]


class Automaton:
    """Built once from the templates' trees; `run` gives the templates that consume everything."""

    def __init__(self, trees: Sequence[Node], symbols: dict[str, int]) -> None:
        self._symbols = symbols
        self._slots = [""]
        self._follow: list[int] = [0]
        """What may follow each state, while that is being told; in `_within` from the first of its template on."""
        self._of_symbol: list[int] = [0] * len(symbols)
        self._ranges: list[tuple[int, int]] = []
        self._accept: list[int] = []
        self._firsts: list[int] = []
        for tree in trees:
            begin = len(self._slots)
            part = self._build(tree)
            self._ranges.append((begin, len(self._slots)))
            self._accept.append(_mask(part.last))
            self._firsts.append(part.first)
        self._any = 0
        for mask in self._accept:
            self._any |= mask
        self._completed = {state: i for i, part in enumerate(self._ranges) for state in range(*part)}
        self._within = [0] * len(self._follow)
        for begin, stop in self._ranges:
            for state in range(begin, stop):
                self._within[state] = self._follow[state] >> begin
        self._follow = []
        self._read: dict[tuple[int, ...], int] = {}
        self._memo: dict[int, int] = {}
        self._preceding: dict[int, int] = {}
        self._own: dict[tuple[int, tuple[int, ...]], tuple[tuple[int, int], ...]] = {}

    def __getstate__(self) -> dict[str, object]:
        """Without what a use remembers."""
        return self.__dict__ | {"_read": {}, "_memo": {}, "_preceding": {}, "_own": {}}

    @property
    def size(self) -> int:
        """How many states there are."""
        return len(self._slots)

    def first_of(self, templates: Iterable[int]) -> int:
        """The start set of these templates: what `run` begins with."""
        made = 0
        for template in templates:
            made |= self._firsts[template]
        return made

    @cached_property
    def first(self) -> int:
        """The start set of all templates."""
        return self.first_of(range(len(self._firsts)))

    def run(self, lattice: Lattice, start: int, end: int, first: int, also: Iterable[int] = ()) -> list[int]:
        """The state sets after each unit of `start` … `end`, beginning with `first` there and at the units `also`."""
        sets = [0] * (len(lattice) + 1)
        sets[start] = START
        for at in also:
            sets[at] = START
        follow, known = self._follow_of, self._read
        for at in range(start, end):
            here = sets[at]
            if not here:
                continue
            after = follow(here, first)
            for stop, symbols in lattice.steps(at):
                if stop > end:
                    continue
                read = known.get(symbols)
                if reached := after & (self._reading(symbols) if read is None else read):
                    sets[stop] |= reached
                if FILLER in symbols:
                    sets[stop] |= here
        return sets

    def accepted(self, reached: int) -> list[int]:
        """The templates that a last set completes, in their order."""
        return self.reached(reached & self._any)

    def reached(self, states: int) -> list[int]:
        """The templates that have any of these states, in their order; the start is no template's."""
        rest, found = states & ~START, list[int]()
        while rest:  # from the last one on: the highest bit of a long number is soon told
            template = self._completed[rest.bit_length() - 1]
            found.append(template)
            rest &= (1 << self._ranges[template][0]) - 1
        return found[::-1]

    def trace(self, lattice: Lattice, sets: list[int], template: int, end: int) -> list[Capture]:
        """The edges of one sentence and their slots, in order; every state in a set can be reached, so any will do."""
        states = self._owned(sets[end] & self._accept[template], template)
        captures: list[Capture] = []
        at = end
        while states and not states & START:
            edge, state, sources = self._last_step(lattice, sets, states, at, template)
            at = edge.start
            if edge.symbol == FILLER:
                states &= self._owned(sets[at], template)
                continue
            captures.append(Capture(self._slots[state], edge))
            states = sources
        return captures[::-1]

    def _last_step(
        self, lattice: Lattice, sets: list[int], states: int, at: int, template: int
    ) -> tuple[Edge, int, int]:
        """The preferred edge by which one of `states` was reached at `at`, that one, and where from; else a filler."""
        filler: Edge | None = None
        for rank, start, symbols, value in lattice.into(at):
            if not sets[start]:
                continue
            if FILLER in symbols and states & self._owned(sets[start], template):
                filler = Edge(start, at, FILLER)
            for symbol, read in self._own_readings(template, symbols):
                here = states & read
                while here:
                    state = (here & -here).bit_length() + self._ranges[template][0] - 2
                    if sources := self._owned(sets[start], template) & self._before(state, template):
                        return Edge(start, at, symbol, rank, value), state, sources
                    here &= here - 1
        assert filler is not None, "a reached state has an edge into it"
        return filler, 0, 0

    def _owned(self, states: int, template: int) -> int:
        """A template's own states of a set, the start before them: a short number, which is soon looked through."""
        begin, stop = self._ranges[template]
        return (states >> begin & (1 << stop - begin) - 1) << 1 | states & START

    def _before(self, state: int, template: int) -> int:
        """The states of its template that a state may follow, the start before them."""
        made = self._preceding.get(state)
        if made is None:
            begin, stop = self._ranges[template]
            place = state - begin
            made = _mask(tuple(each - begin + 1 for each in range(begin, stop) if self._within[each] >> place & 1))
            made = self._preceding[state] = made | self._firsts[template] >> state & 1
        return made

    def _own_readings(self, template: int, symbols: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
        """Those of the symbols that a template has, in their order, each with the states that are read as it."""
        made = self._own.get((template, symbols))
        if made is None:
            each = ((symbol, self._owned(self._of_symbol[symbol], template)) for symbol in symbols)
            made = tuple((symbol, states) for symbol, states in each if states)
            if len(self._own) >= MAX_MEMO:
                self._own.clear()
            self._own[template, symbols] = made
        return made

    def _reading(self, symbols: tuple[int, ...]) -> int:
        """The states of all atoms that are read as one of the symbols; there are no more of these than phrases."""
        made = self._read.get(symbols)
        if made is None:
            made = 0
            for symbol in symbols:
                made |= self._of_symbol[symbol]
            self._read[symbols] = made
        return made

    def _follow_of(self, states: int, first: int) -> int:
        made = self._memo.get(states)
        if made is None:
            made, rest = 0, states & ~START
            while rest:  # a template at a time: its own states are a short number
                begin = self._ranges[self._completed[rest.bit_length() - 1]][0]
                own, rest, after = rest >> begin, rest & (1 << begin) - 1, 0
                while own:
                    after |= self._within[begin + own.bit_length() - 1]
                    own ^= 1 << own.bit_length() - 1
                made |= after << begin
            if len(self._memo) >= MAX_MEMO:
                self._memo.clear()
            self._memo[states] = made
        return made | first if states & START else made

    def _build(self, node: Node) -> _Part:
        match node:
            case Atom():
                return self._place(node)
            case Alt(options):
                parts = [self._build(option) for option in options]
                first = 0
                for part in parts:
                    first |= part.first
                last = tuple(state for part in parts for state in part.last)
                return _Part(any(p.nullable for p in parts), first, last)
            case Rep(inner, optional, many):
                part = self._build(inner)
                if many:
                    self._link(part.last, part.first)
                return _Part(part.nullable or optional, part.first, part.last)
            case Seq(parts):
                return self._sequence(parts)

    def _place(self, atom: Atom) -> _Part:
        state = len(self._slots)
        self._slots.append(atom.slot)
        self._follow.append(0)
        symbol = self._symbols[key(atom)]
        self._of_symbol[symbol] |= 1 << state
        return _Part(nullable=False, first=1 << state, last=(state,))

    def _sequence(self, nodes: tuple[Node, ...]) -> _Part:
        whole = _Part(nullable=True, first=0, last=())
        for node in nodes:
            part = self._build(node)
            self._link(whole.last, part.first)
            whole = _Part(
                whole.nullable and part.nullable,
                whole.first | part.first if whole.nullable else whole.first,
                whole.last + part.last if part.nullable else part.last,
            )
        return whole

    def _link(self, last: tuple[int, ...], first: int) -> None:
        for state in last:
            self._follow[state] |= first


def key(atom: Atom) -> str:
    """An atom's symbol: literals and typed kinds never share one."""
    return "=" + atom.symbol if atom.literal else atom.symbol


def literals(trees: Iterable[Node]) -> dict[str, tuple[tuple[str, ...], ...]]:
    """The phrases of each literal by its symbol: most literals stand in many places."""
    found: dict[str, tuple[tuple[str, ...], ...]] = {}
    for atom in (atom for tree in trees for atom in atoms(tree) if atom.literal):
        found.setdefault(key(atom), atom.phrases)
    return found


def _mask(states: tuple[int, ...]) -> int:
    made = 0
    for state in states:
        made |= 1 << state
    return made
