"""The caller's own nouns: which words mean which account, card or bill, and which mean one they do not have."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from schemas.intent import Context
from schemas.payee import PayeeMatch
from services.understanding.fast.patterns.lattice import Trie
from services.understanding.fast.ruleset.grammar import Grammar
from services.understanding.fast.words.common_nouns import KINDS, Called, CommonNouns, common_nouns
from services.understanding.fast.words.own_names import called_in_part


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


_Kinds: TypeAlias = tuple[tuple[str, tuple[_Thing, ...]], ...]


@lru_cache(maxsize=256)
def _compiled(grammar: Grammar, kinds: _Kinds) -> CallerNouns:
    common, own = common_nouns(grammar), dict[Called, int]()
    words, parts = dict[int, frozenset[str]](), dict[int, frozenset[str]]()
    for kind, things in kinds:
        names = {thing.id: grammar.units(thing.name).words for thing in things}
        words |= common.owners(kind, names)
        for owner, name in names.items():
            if name:
                words[_number(common, own, (kind, name))] = frozenset((owner,))
    first_part = len(common.numbers) + len(own)
    for called, owners in _in_part(grammar, kinds):
        if (part := _number(common, own, called)) not in words:
            parts[part] = parts[part] | owners if part in parts else owners
    nouns, trie = [*_nobodys(grammar), *(Noun(kind, None) for kind, _ in own)], Trie()
    _assign(nouns, words, in_part=False)
    _assign(nouns, parts, in_part=True)
    for (_, phrase), number in own.items():
        trie.add(phrase, number)
    trie = common.trie.joined(trie, lambda number: (number >= first_part, KINDS.index(nouns[number].kind)))
    units = frozenset(unit for _, things in kinds for thing in things for unit in grammar.units(thing.name).words)
    return CallerNouns(trie, tuple(nouns), units)


def _number(common: CommonNouns, own: dict[Called, int], called: Called) -> int:
    """What a phrase is read as: of what only this caller's things are called, the next number that is free."""
    known = common.numbers.get(called)
    return own.setdefault(called, len(common.numbers) + len(own)) if known is None else known


def _assign(nouns: list[Noun], owned: dict[int, frozenset[str]], *, in_part: bool) -> None:
    """Let phrases mean whose they are; many of them mean the same."""
    made: dict[tuple[str, frozenset[str]], Noun] = {}
    for number, ids in owned.items():
        kind = nouns[number].kind
        if (noun := made.get((kind, ids))) is None:
            only = next(iter(ids)) if len(ids) == 1 else None
            noun = made[kind, ids] = Noun(kind, only, len(ids), in_part)
        nouns[number] = noun


@lru_cache(maxsize=8)
def _nobodys(grammar: Grammar) -> tuple[Noun, ...]:
    """What the rules' phrases mean where none of them is anything of the caller's."""
    return tuple(Noun(kind, None) for kind, _ in common_nouns(grammar).numbers)


def _in_part(grammar: Grammar, kinds: _Kinds) -> Iterator[tuple[Called, frozenset[str]]]:
    """What else than by its name a thing is called, and whose that is; a card's bill is called as the card is."""
    cards = {thing.name for kind, things in kinds for thing in things if kind == "card"}
    for kind, things in kinds:
        for thing in things:
            owners = frozenset((thing.id,))
            for like in (kind, "card") if kind == "bill" and thing.name in cards else (kind,):
                for called in called_in_part(grammar, like, thing.name):
                    yield (kind, called), owners


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
