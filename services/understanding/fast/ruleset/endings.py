"""How verbs end in a language that says so at the end: stems, auxiliaries and politeness as states, not as lists."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict

from rules.load import RuleFile
from schemas.errors import RulesInvalid
from services.understanding.fast.patterns.lattice import Edge, Trie
from services.understanding.fast.patterns.template import Rules, phrases
from services.understanding.fast.patterns.units import splitter

END: Final = "end"
ALSO: Final = "~"
"""The phrase that leads on without a word."""
_PLAIN: Final = Rules({}, splitter(spaced=False))


class VerbGroup(BaseModel):
    """Verbs that mean the same to a template, by class; `words` begin in a state by themselves; `never` are its bars.

    `symbol` is what templates call it, its own name if none is given.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    symbol: str = ""
    kind: str = "act"
    rows: tuple[str, ...] = ()
    one_step: tuple[str, ...] = ()
    suru: tuple[str, ...] = ()
    words: dict[str, str] = {}
    never: tuple[str, ...] = ()


class EndingsFile(RuleFile):
    """The rows of conjugation, where a group's forms begin, what follows in each state, and the verbs by group."""

    rows: dict[str, dict[str, str]]
    one_step: dict[str, str]
    suru: dict[str, str]
    kinds: dict[str, dict[str, str]]
    states: dict[str, dict[str, str]]
    verbs: dict[str, VerbGroup]


class _Start(NamedTuple):
    symbol: int
    state: int
    never: frozenset[int]


class Endings:
    """The verbs of a language with everything that may follow them. Immutable once built."""

    def __init__(self, file: EndingsFile, symbols: Mapping[str, int]) -> None:
        self._numbers = {name: number for number, name in enumerate(file.states)}
        self._accepting: set[int] = set()
        self._after = [Trie() for _ in file.states]
        self._also: list[tuple[int, ...]] = [() for _ in file.states]
        for name, row in file.states.items():
            self._state(self._numbers[name], row)
        self._starts: list[_Start] = []
        self._verbs = Trie()
        for name, group in file.verbs.items():
            self._group(file, group, symbols[group.symbol or name])

    def rows(self, words: tuple[str, ...]) -> list[list[Edge]]:
        """Every verb, up to each place where it may have ended, by the unit that it begins at."""
        rows: list[list[Edge]] = [[] for _ in words]
        for at in self._verbs.begun(words):
            rows[at] = self._edges(words, at)
        return rows

    def _edges(self, words: tuple[str, ...], at: int) -> list[Edge]:
        found: dict[tuple[int, int], Edge] = {}
        for stem, starts in self._verbs.steps(words, at):
            known: dict[tuple[int, frozenset[int]], set[int]] = {}  # many verbs go on alike
            for symbol, state, never in map(self._starts.__getitem__, starts):
                ends = known.get((state, never))
                if ends is None:
                    ends = known[state, never] = self._ends(words, stem, state, never)
                for end in ends:
                    found[end, symbol] = Edge(at, end, symbol)
        return list(found.values())

    def _ends(self, words: tuple[str, ...], at: int, begin: int, never: frozenset[int]) -> set[int]:
        ends: set[int] = set()
        seen: set[tuple[int, int]] = set()
        rest = [(at, begin)]
        while rest:
            here = rest.pop()
            place, state = here
            if here in seen or state in never:
                continue
            seen.add(here)
            if state in self._accepting or state == len(self._after):
                ends.add(place)
            if state == len(self._after):
                continue
            rest.extend((place, also) for also in self._also[state])
            if place < len(words):
                rest.extend((end, then) for end, states in self._after[state].steps(words, place) for then in states)
        return ends

    def _number(self, name: str) -> int:
        """A state's number; the end's is the one after the last."""
        if name == END:
            return len(self._after)
        if name not in self._numbers:
            raise RulesInvalid(f"no state {name} of endings")
        return self._numbers[name]

    def _state(self, number: int, row: Mapping[str, str]) -> None:
        for say, then in row.items():
            if say == ALSO:
                self._also[number] = tuple(self._number(name) for name in then.split())
                continue
            for phrase in phrases(say, _PLAIN) if say else ((),):
                units = "".join(phrase)
                if units:
                    self._after[number].add(units, self._number(then))
                else:
                    self._accepting.add(number)

    def _group(self, file: EndingsFile, group: VerbGroup, symbol: int) -> None:
        never = frozenset(self._number(name) for name in group.never)
        begins = [(units, state) for said, state in group.words.items() for units in _expanded((said,))]
        kind = file.kinds[group.kind]
        for verb in _expanded(group.rows):
            begins.extend(_forms(verb[:-1], {"dict": verb[-1], **file.rows[verb[-1]]}, kind))
        for verb in _expanded(group.one_step):
            begins.extend(_forms(verb.removesuffix("る"), {"dict": "る", **file.one_step}, kind))
        for verb in _expanded(group.suru):
            begins.extend(_forms(verb, file.suru, kind))
        starts: dict[str, int] = {}
        for units, state in begins:
            if state not in starts:
                starts[state] = len(self._starts)
                self._starts.append(_Start(symbol, self._number(state), never))
            self._verbs.add(units, starts[state])


def _expanded(texts: tuple[str, ...]) -> list[str]:
    return ["".join(phrase) for text in texts for phrase in phrases(text, _PLAIN)]


def _forms(stem: str, endings: Mapping[str, str], kind: Mapping[str, str]) -> list[tuple[str, str]]:
    """What a verb's forms sound like, and the state in which each begins."""
    made: list[tuple[str, str]] = []
    for form, ending in endings.items():
        for each in ending.split("|"):
            said = stem + each
            if form == "te":
                changed = {"to": said[:-1] + "とど"[each[-1] == "で"], "ta": said[:-1] + "ただ"[each[-1] == "で"]}
                changed["voiced"] = said[:-1] + "で"
                changed["tatte"] = changed["ta"] + "って"
                changed["tage"] = changed["ta"] + "げ"
                changed["cha"] = said[:-1] + "ちじ"[each[-1] == "で"] + "ゃ"
                changed["cho"] = said[:-1] + "ちじ"[each[-1] == "で"] + "ょ"
                made.extend((word, kind[name]) for name, word in changed.items() if name in kind)
            if form == "nai" and "let" not in endings and "let" in kind:
                made.extend((said + each, kind["let"]) for each in ("せ", "し", "させ"))
            if form in kind and said:
                made.append((said, kind[form]))
    return made
