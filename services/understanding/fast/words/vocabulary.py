"""The caller's own nouns: which words mean which account, card or bill, and which mean one they do not have."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from schemas.intent import Context
from schemas.payee import PayeeMatch
from services.understanding.fast.patterns.lattice import Trie
from services.understanding.fast.ruleset.grammar import Grammar
from services.understanding.fast.words.own_names import called_in_part, said_behind


@dataclass(frozen=True, slots=True)
class Noun:
    """A thing named: its kind ("account", "card", "bill") and its id, or None when no single thing carries the name."""

    kind: str
    id: str | None
    owned: int = 0
    in_part: bool = False
    """Whether it is but a part of the thing's name."""


@dataclass(frozen=True, slots=True)
class CallerNouns:
    """A trie whose symbols index `nouns`."""

    trie: Trie
    nouns: tuple[Noun, ...]
    units: frozenset[str]
    """Every unit of their names: none of them is a slip of the keyboard."""

    def bills(self, words: tuple[str, ...], begin: int) -> tuple[str, ...]:
        """The ids of the bills that are named from a unit on, in their order."""
        edges = (edge for at in range(begin, len(words)) for edge in self.trie.scan(words, at))
        named = (noun.id for edge in edges if (noun := self.nouns[edge.symbol]).kind == "bill" and noun.id)
        return tuple(dict.fromkeys(named))


class _Thing(NamedTuple):
    id: str
    name: str


@lru_cache(maxsize=256)
def _compiled(grammar: Grammar, kinds: tuple[tuple[str, tuple[_Thing, ...]], ...]) -> CallerNouns:
    words: dict[tuple[str, tuple[str, ...]], set[str]] = {}
    parts: dict[tuple[str, tuple[str, ...]], set[str]] = {}
    cards = {thing.name for kind, things in kinds for thing in things if kind == "card"}
    for kind, things in kinds:
        names = {thing.id: grammar.units(thing.name).words for thing in things}
        ends = {grammar.units(word).words for word in grammar.nouns.generic.get(kind, ())} if kind == "bill" else None
        for phrases in getattr(grammar.nouns, kind + "s").values():
            spoken = [grammar.units(phrase).words for phrase in phrases]
            owners = {owner for owner, name in names.items() if any(_is(name, said, ends) for said in spoken)}
            for phrase in spoken:  # whose name holds the very word is meant before what is of its kind
                bearers = {owner for owner, name in names.items() if _within(phrase, name)}
                for said in said_behind(grammar, kind, phrase):
                    words.setdefault((kind, said), set()).update(bearers or owners)
        for brand in grammar.nouns.brands if kind == "bill" else ():  # a company's name never means another company
            spoken_brand = grammar.units(brand).words
            words[kind, spoken_brand] = {owner for owner, name in names.items() if _within(spoken_brand, name)}
        for called, owner in _called(grammar, kind, things):
            parts.setdefault((kind, called), set()).add(owner)
        for called, owner in _called(grammar, "card", tuple(t for t in things if kind == "bill" and t.name in cards)):
            parts.setdefault((kind, called), set()).add(owner)
        words |= {(kind, name): {owner} for owner, name in names.items() if name}
    parts = {key: owners for key, owners in parts.items() if not words.get(key)}
    trie = Trie()
    nouns: list[Noun] = []
    for (kind, phrase), ids in (words | parts).items():
        trie.add(phrase, len(nouns))
        nouns.append(Noun(kind, next(iter(ids)) if len(ids) == 1 else None, len(ids), in_part=(kind, phrase) in parts))
    units = frozenset(unit for _, things in kinds for thing in things for unit in grammar.units(thing.name).words)
    return CallerNouns(trie, tuple(nouns), units)


def _called(grammar: Grammar, kind: str, things: tuple[_Thing, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    yield from ((called, thing.id) for thing in things for called in called_in_part(grammar, kind, thing.name))


def _is(name: tuple[str, ...], phrase: tuple[str, ...], ends: set[tuple[str, ...]] | None) -> bool:
    """Whether a name tells that it is what a phrase means; a bill's has to end in it: car insurance is no car."""
    size = len(phrase)
    places = (at + size for at in range(len(name) - size + 1) if name[at : at + size] == phrase)
    return any(ends is None or end == len(name) or name[end:] in ends for end in places)


def _within(phrase: tuple[str, ...], name: tuple[str, ...]) -> bool:
    size = len(phrase)
    return any(name[i : i + size] == phrase for i in range(len(name) - size + 1))


@dataclass(frozen=True, slots=True)
class _Recent:
    """Whose nouns were asked for last: every reader of an utterance asks for the same ones."""

    grammar: Grammar
    context: Context
    nouns: CallerNouns

    def serves(self, grammar: Grammar, context: Context) -> bool:
        """Whether it is the same grammar, and the same caller's things."""
        known = self.context
        return (
            grammar is self.grammar
            and context.accounts is known.accounts
            and context.cards is known.cards
            and context.bills is known.bills
        )


_recent: _Recent | None = None


def vocabulary(grammar: Grammar, context: Context) -> CallerNouns:
    """The nouns of this caller. Built once for each set of names; never shared between different ones."""
    global _recent  # noqa: PLW0603 - one value, replaced whole
    recent = _recent
    if recent is None or not recent.serves(grammar, context):
        recent = _recent = _Recent(grammar, context, _named(grammar, context))
    return recent.nouns


def _named(grammar: Grammar, context: Context) -> CallerNouns:
    return _compiled(
        grammar,
        (
            ("account", tuple([_Thing(a.id, a.name) for a in context.accounts])),
            ("card", tuple([_Thing(c.id, c.name) for c in context.cards])),
            ("bill", tuple([_Thing(b.id, b.name) for b in context.bills])),
        ),
    )


def billed(grammar: Grammar, context: Context, match: PayeeMatch) -> Noun | None:
    """The caller's bill that comes from who is named, if clearly or word by word; None for nobody's, or for several."""
    said = grammar.units(match.heard).words
    named = {c.id for c in match.candidates if _within(said, grammar.units(c.display_name).words)}
    payees = {match.choice} if match.choice is not None else named
    owners = [b.id for b in context.bills if b.payee_id in payees]
    return Noun("bill", owners[0], 1) if len(owners) == 1 else None


def owned(nouns: CallerNouns, words: tuple[str, ...], end: int) -> dict[str, dict[str, tuple[int, int]]]:
    """The caller's things that are named before unit `end`: by kind and id, where each stands."""
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for edge in (edge for at in range(end) for edge in nouns.trie.scan(words, at) if edge.end <= end):
        noun = nouns.nouns[edge.symbol]
        if noun.id is not None:
            found.setdefault(noun.kind, {})[noun.id] = (edge.start, edge.end)
    return found
