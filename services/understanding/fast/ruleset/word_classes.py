"""The words that the code of understanding knows by their part: rules/intents/LANGUAGE/words.yaml, compiled."""

from dataclasses import dataclass, fields
from typing import Any

from services.understanding.fast.patterns.lattice import Trie
from services.understanding.fast.patterns.units import by_word
from services.understanding.fast.ruleset.lexicon import lexicon, phrases_of
from services.understanding.fast.ruleset.rules import NounsFile, WordsFile


@dataclass(frozen=True, eq=False)
class WordClasses:
    """Closed classes of words, each a unit of its own; and of conjunctions each as its units."""

    leading_particles: frozenset[str]
    maybe_particles: frozenset[str]
    one: tuple[str, ...]
    ones: frozenset[str]
    others: frozenset[str]
    onto: frozenset[str]
    outof: frozenset[str]
    whose: frozenset[str]
    being: frozenset[str]
    at_number: frozenset[str]
    after_verbs: frozenset[str]
    sound_alike: frozenset[str]
    possessives: tuple[str, ...]
    titles: tuple[str, ...]
    as_much: tuple[str, ...]
    asks: tuple[str, ...]
    having: frozenset[str]
    before_me: frozenset[str]
    each_of: frozenset[str]
    any_one: frozenset[str]
    joining: frozenset[str]
    reaching: frozenset[str]
    callers: frozenset[str]
    mine: frozenset[str]
    for_caller: frozenset[str]
    doers: frozenset[str]
    levels: frozenset[str]
    subjects: frozenset[str]
    finite: frozenset[str]
    owing: frozenset[str]
    passing: frozenset[str]
    omitted: frozenset[str]
    uncounted: frozenset[str]
    them: frozenset[str]
    light: frozenset[str]
    governing: frozenset[str]
    favours: frozenset[str]
    settling: frozenset[str]
    asking: frozenset[str]
    weak_nouns: frozenset[str]
    joins: frozenset[tuple[str, ...]]
    noun_conjunctions: frozenset[tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class Phrases:
    """Words and phrases that are looked for from a unit on."""

    conjunctions: Trie
    requests: Trie
    tellings: Trie
    asides: Trie
    asides_unasked: Trie
    closings: Trie
    holds: Trie
    counted: Trie
    twists: Trie
    objecting: Trie
    relative: Trie
    not_names: Trie
    mentioning: Trie
    declining: Trie
    pricing: Trie
    summing: Trie
    alarms: Trie


def word_classes(words: WordsFile, nouns: NounsFile) -> WordClasses:
    """The closed classes of a language."""
    made: dict[str, Any] = {name: frozenset(getattr(words, name)) for name in _given(WordClasses)}
    made |= {
        "one": words.one,
        **{name: getattr(words, name) for name in ("possessives", "titles", "as_much", "asks")},
        "ones": made["ones"] | _last_words(nouns),
        "joins": frozenset(p for text in words.conjunctions for p in phrases_of(text, words)),
        "noun_conjunctions": frozenset(p for text in words.noun_conjunctions for p in phrases_of(text, words)),
    }
    return WordClasses(**made)


def phrases(words: WordsFile) -> Phrases:
    """The phrases of a language."""
    asides = words.asides and words.asides + words.fillers + words.conjunctions
    said: dict[str, tuple[str, ...]] = {name: getattr(words, name) for name in _given(Phrases)}
    said |= {"asides": asides, "asides_unasked": asides + words.answers}
    return Phrases(**{name: lexicon([(1, each)], words) for name, each in said.items()})


def _given(compiled: type[WordClasses | Phrases]) -> list[str]:
    """What of it is a list of the file."""
    return [each.name for each in fields(compiled) if each.name in WordsFile.model_fields]


def _last_words(nouns: NounsFile) -> frozenset[str]:
    """The words that the kinds of bills, accounts and cards end with: "the electric one"."""
    kinds = (*nouns.bills.values(), *nouns.accounts.values(), *nouns.cards.values())
    return frozenset(words[-1] for phrases in kinds for phrase in phrases if (words := by_word(phrase).words))
