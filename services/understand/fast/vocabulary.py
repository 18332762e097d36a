"""The caller's own nouns: which words mean which account, card or bill, and which mean one they do not have."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from schemas.intent import Context
from services.understand.fast.grammar import Grammar
from services.understand.fast.lattice import Trie


@dataclass(frozen=True, slots=True)
class Noun:
    """A thing named: its kind ("account", "card", "bill") and its id, or None when no single thing carries the name."""

    kind: str
    id: str | None
    owned: int = 0


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A trie whose symbols index `nouns`."""

    trie: Trie
    nouns: tuple[Noun, ...]


@dataclass(frozen=True, slots=True)
class _Thing:
    id: str
    name: str


@lru_cache(maxsize=256)
def _compiled(grammar: Grammar, kinds: tuple[tuple[str, tuple[_Thing, ...]], ...]) -> Vocabulary:
    words: dict[tuple[str, tuple[str, ...]], set[str]] = {}
    for kind, things in kinds:
        names = {thing.id: grammar.units(thing.name).words for thing in things}
        for phrases in getattr(grammar.nouns, kind + "s").values():
            spoken = [grammar.units(phrase).words for phrase in phrases]
            owners = {owner for owner, name in names.items() if any(_within(phrase, name) for phrase in spoken)}
            for phrase in spoken:
                words.setdefault((kind, phrase), set()).update(owners)
        for owner, name in names.items():
            if name:
                words[kind, name] = {owner}
    trie = Trie()
    nouns: list[Noun] = []
    for (kind, phrase), ids in words.items():
        trie.add(phrase, len(nouns))
        nouns.append(Noun(kind, next(iter(ids)) if len(ids) == 1 else None, len(ids)))
    return Vocabulary(trie, tuple(nouns))


def _within(phrase: tuple[str, ...], name: tuple[str, ...]) -> bool:
    size = len(phrase)
    return any(name[i : i + size] == phrase for i in range(len(name) - size + 1))


def _things(rows: Iterable[tuple[str, str]]) -> tuple[_Thing, ...]:
    return tuple(_Thing(id_, name) for id_, name in rows)


def vocabulary(grammar: Grammar, context: Context) -> Vocabulary:
    """The nouns of this caller. Built once for each set of names; never shared between different ones."""
    return _compiled(
        grammar,
        (
            ("account", _things((a.id, a.name) for a in context.accounts)),
            ("card", _things((c.id, c.name) for c in context.cards)),
            ("bill", _things((b.id, b.name) for b in context.bills)),
        ),
    )
