"""What the caller's own things are called beside their names: parts of them, and what may be said behind these."""

from collections.abc import Iterator
from itertools import islice, product
from re import compile as pattern
from typing import Final

from services.understanding.fast.ruleset.grammar import Grammar

_MOST: Final = 200
"""Ways that one thing may be called, at most: names are the bank's, and may be long."""
_MOST_WORDS: Final = 8
_LEAST: Final = 2
"""Characters of a part that stands alone, in a script without spaces."""
_LATIN: Final = pattern(r"[a-z]+")


def called_in_part(grammar: Grammar, kind: str, name: str) -> Iterator[tuple[str, ...]]:
    """The units of every part of a name that may stand for it."""
    words = grammar.units(name).words
    made = _of_words(grammar, kind, words) if grammar.spaced else _of_characters(grammar, kind, "".join(words))
    yield from islice((part for part in made if part != words), _MOST)


def said_behind(grammar: Grammar, kind: str, phrase: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """A phrase, and that with each of what may be said behind it."""
    return (phrase + tuple(behind) for behind in ("", *grammar.nouns.behind.get(kind, ())))


def _of_words(grammar: Grammar, kind: str, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Every stretch of the words in which more stands than what each thing of the kind is."""
    generic, words = set(grammar.nouns.generic.get(kind, ())), words[:_MOST_WORDS]
    for begin in range(len(words)):
        for end in range(begin + 1, len(words) + 1):
            if not generic.issuperset(words[begin:end]) and words[begin] not in generic:
                yield words[begin:end]


def _of_characters(grammar: Grammar, kind: str, name: str) -> Iterator[tuple[str, ...]]:
    """The name without what each thing of the kind is called, that said anew behind it, Latin letters as they sound."""
    nouns = grammar.nouns
    bases, of = [name, *_bare(nouns.generic.get(kind, ()), name)], grammar.accounts.of
    bases += [part for base in bases for part in base.split(of) if of and of in base and len(part) >= _LEAST]
    for base in dict.fromkeys(bases):
        for said in _as_they_sound(nouns.sounds, base):
            yield from said_behind(grammar, kind, tuple(said))
    first, found, _ = name.partition(of) if of else (name, "", "")
    if found and kind == "account":  # of the account for somebody: 「孫の口座」
        yield from (tuple(first + behind) for behind in nouns.behind.get(kind, ()) if behind.startswith(of))


def _bare(endings: tuple[str, ...], name: str) -> Iterator[str]:
    """The name without one or more of the endings."""
    for ending in endings:
        base = name.removesuffix(ending)
        if base != name and len(base) >= _LEAST:
            yield base
            yield from _bare(endings, base)


def _as_they_sound(sounds: dict[str, tuple[str, ...]], said: str) -> Iterator[str]:
    """What is written, and with Latin letters by their names or as the word is said."""
    yield said
    found = _LATIN.search(said)
    if found is None:
        return
    run = found.group()
    ways = sounds.get(run) or tuple(map("".join, islice(product(*(sounds.get(char, (char,)) for char in run)), 8)))
    for way in ways:
        yield said[: found.start()] + way + said[found.end() :]
