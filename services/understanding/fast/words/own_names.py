"""What the caller's own things are called beside their names: parts of them, and what may be said behind these."""

from collections.abc import Iterator
from itertools import combinations_with_replacement, islice, product
from re import compile as pattern
from typing import Final

from schemas.kana import TO_HIRAGANA
from services.understanding.fast.ruleset.grammar import Grammar

_MOST, _MOST_WORDS, _MOST_WAYS = 200, 8, 8
"""Ways that one thing may be called, its words, ways to read its letters, at most: names are the bank's."""
_LEAST: Final = 2
"""Characters of a part, in a script without spaces."""
_LATIN: Final = pattern(r"[a-z]+")
_SCRIPTS: Final = pattern(r"[a-z]+|[ァ-ヺー]+|[一-鿿々]+")


def called_in_part(grammar: Grammar, kind: str, name: str) -> Iterator[tuple[str, ...]]:
    """The units of every part of a name that may stand for it."""
    words = grammar.units(name).words
    made = _of_words(grammar, kind, words) if grammar.spaced else _of_characters(grammar, kind, "".join(words))
    yield from islice((part for part in made if part != words), _MOST)


def said_behind(grammar: Grammar, kind: str, phrase: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """A phrase, and that with each of what may be said behind it."""
    return (phrase + tuple(behind) for behind in ("", *grammar.nouns.behind.get(kind, ())))


def _of_words(grammar: Grammar, kind: str, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Every stretch of the words that begins with more than what each thing of the kind is: but "home depot"."""
    size, generic = min(len(words), _MOST_WORDS), grammar.nouns.generic.get(kind, ())
    for begin in range(size):
        first = kind == "bill" and begin == 0 and words[1:2] and words[1] not in generic
        for end in range(begin + (2 if words[begin] in generic else 1), size + 1):
            if words[begin] not in generic or first:
                yield words[begin:end]


def _of_characters(grammar: Grammar, kind: str, name: str) -> Iterator[tuple[str, ...]]:
    """The name without what each thing of the kind is called, or just whose it is: 「孫の口座」, for 孫の学費用."""
    nouns, of = grammar.nouns, grammar.cues.of
    for base in dict.fromkeys((name, *_bare(nouns.generic.get(kind, ()), name))):
        for said in _as_they_sound(nouns.sounds, base):
            yield from said_behind(grammar, kind, tuple(said))
    if kind == "card":
        yield from _of_a_card(grammar, name)
    if kind == "bill":
        for part in _stretches(name, {*nouns.generic.get(kind, ()), *nouns.called}):
            yield from said_behind(grammar, kind, tuple(part))
    if of and of in name and kind == "account":
        whose = name.partition(of)[0]
        yield from (tuple(whose + behind) for behind in nouns.behind.get(kind, ()) if behind.startswith(of))


def _of_a_card(grammar: Grammar, name: str) -> Iterator[tuple[str, ...]]:
    """A card's name up to where the script changes: 「Visa」; of one in kanji its first word: 「鶴屋のカード」."""
    nouns, head = grammar.nouns, _SCRIPTS.match(name)
    part = head.group() if head is not None else ""
    if len(part) >= _LEAST and name.removeprefix(part) not in ("", *nouns.generic.get("card", ())):
        for said in _as_they_sound(nouns.sounds, part):
            yield from said_behind(grammar, "card", tuple(said))
    if len(part) > _LEAST and part > "一":
        yield from (tuple(part[:_LEAST] + behind) for behind in nouns.behind.get("card", ()))


def _stretches(name: str, common: set[str]) -> Iterator[str]:
    """What begins and ends where the script changes, but for what others are called too: 介護ベッド, ベッド."""
    runs = list(_SCRIPTS.finditer(name))
    for first, last in combinations_with_replacement(runs, 2):
        part = name[first.start() : last.end()]
        one = len(part) > _LEAST or part > "一"
        if part != name and one and not any(run.group() in common for run in (first, last)):
            yield part


def _bare(endings: tuple[str, ...], name: str) -> Iterator[str]:
    """The name without one or more of the endings."""
    for base in (name.removesuffix(ending) for ending in endings):
        if base != name and len(base) >= _LEAST:
            yield base
            yield from _bare(endings, base)


def _as_they_sound(sounds: dict[str, tuple[str, ...]], said: str) -> Iterator[str]:
    """What is written, with Latin letters by their names or as the word is said, and what is katakana in hiragana."""
    for way in _spoken(sounds, said):
        yield way
        if len(way) > _LEAST and (soft := way.translate(TO_HIRAGANA)) != way:
            yield soft


def _spoken(sounds: dict[str, tuple[str, ...]], said: str) -> Iterator[str]:
    yield said
    run = found.group() if (found := _LATIN.search(said)) else ""
    letters = product(*(sounds.get(char, ()) for char in run)) if run else ()
    for way in sounds.get(run) or map("".join, islice(letters, _MOST_WAYS)):
        yield said.replace(run, way, 1)
