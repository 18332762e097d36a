"""The words that the code of understanding knows by their part: rules/intents/LANGUAGE/words.yaml, compiled."""

from dataclasses import dataclass

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
    return WordClasses(
        leading_particles=frozenset(words.leading_particles),
        maybe_particles=frozenset(words.maybe_particles),
        one=tuple(words.one),
        ones=frozenset(words.ones) | _last_words(nouns),
        others=frozenset(words.others),
        onto=frozenset(words.onto),
        outof=frozenset(words.outof),
        whose=frozenset(words.whose),
        being=frozenset(words.being),
        at_number=frozenset(words.at_number),
        after_verbs=frozenset(words.after_verbs),
        subjects=frozenset(words.subjects),
        finite=frozenset(words.finite),
        owing=frozenset(words.owing),
        passing=frozenset(words.passing),
        omitted=frozenset(words.omitted),
        uncounted=frozenset(words.uncounted),
        them=frozenset(words.them),
        light=frozenset(words.light),
        governing=frozenset(words.governing),
        favours=frozenset(words.favours),
        settling=frozenset(words.settling),
        asking=frozenset(words.asking),
        weak_nouns=frozenset(words.weak_nouns),
        joins=frozenset(p for text in words.conjunctions for p in phrases_of(text, words)),
        noun_conjunctions=frozenset(p for text in words.noun_conjunctions for p in phrases_of(text, words)),
    )


def phrases(words: WordsFile) -> Phrases:
    """The phrases of a language."""

    def compiled(said: tuple[str, ...]) -> Trie:
        return lexicon([(1, said)], words)

    asides = words.asides and words.asides + words.fillers + words.conjunctions
    return Phrases(
        conjunctions=compiled(words.conjunctions),
        requests=compiled(words.requests),
        tellings=compiled(words.tellings),
        asides=compiled(asides),
        asides_unasked=compiled(asides + words.answers),
        closings=compiled(words.closings),
        holds=compiled(words.holds),
        counted=compiled(words.counted),
        twists=compiled(words.twists),
        objecting=compiled(words.objecting),
        relative=compiled(words.relative),
        not_names=compiled(words.not_names),
        mentioning=compiled(words.mentioning),
        declining=compiled(words.declining),
        pricing=compiled(words.pricing),
        summing=compiled(words.summing),
        alarms=compiled(words.alarms),
    )


def _last_words(nouns: NounsFile) -> frozenset[str]:
    """The words that the kinds of bills, accounts and cards end with: "the electric one"."""
    kinds = (*nouns.bills.values(), *nouns.accounts.values(), *nouns.cards.values())
    return frozenset(words[-1] for phrases in kinds for phrase in phrases if (words := by_word(phrase).words))
