"""The rules of payee search: typed, validated at load, one place to read them from."""

from functools import cached_property, lru_cache
from typing import Final

from pydantic import Field

from rules.load import RuleFile, load, load_table
from schemas.ids import Locale, language
from services.payees.fold import is_japanese, japanese, words

_HONORIFIC: Final = "サン"


class NameRules(RuleFile):
    """What surrounds a name inside the name itself, whatever the locale."""

    titles: frozenset[str]
    particles: frozenset[str]
    company_words: frozenset[str]
    company_marks: tuple[str, ...]
    company_hints: tuple[str, ...]
    company_endings: tuple[str, ...] = ()
    generic_words: frozenset[str]
    honorifics: tuple[str, ...]

    @cached_property
    def marked(self) -> frozenset[str]:
        """Latin words that are more, or less, than a part of a person's name: most names have none."""
        return self.titles | self.particles | self.company_words | self.generic_words


class Relationships(RuleFile):
    """Relationship → the words for it, in every language; a broader one → the narrower ones it may mean."""

    broader: dict[str, tuple[str, ...]]
    relationships: dict[str, tuple[str, ...]]


class SpellingRules(RuleFile):
    """How letters are said aloud."""

    letters: dict[str, tuple[str, ...]]
    alphabet: dict[str, str]
    connectors: frozenset[str]
    doubles: dict[str, int]


class FinderRules(RuleFile):
    """What the finders of every language need."""

    ending: str = Field(description="how the last digits of an account are said; {digits} stand apart")


class EnglishFinder(FinderRules):
    """The part that English words play around a name; a word has the first kind that lists it.

    What is always written with a `capital` letter is no name for it.
    """

    verb: frozenset[str]
    lead: frozenset[str]
    weak_lead: frozenset[str]
    possessive: frozenset[str]
    describer: frozenset[str]
    filler: frozenset[str]
    denial: tuple[str, ...]
    stop: frozenset[str]
    common: frozenset[str]
    capital: frozenset[str]
    at_a_bank: tuple[str, ...]
    of_a_bank: tuple[str, ...]
    bank_words: tuple[str, ...]
    spelled: dict[str, str]
    with_letter: tuple[str, ...]
    letter_hint: str
    ending_in: tuple[str, ...] = ()
    digits: dict[str, str] = Field(default_factory=dict)
    articles: frozenset[str]

    @cached_property
    def kinds(self) -> dict[str, str]:
        """Word → its kind."""
        kinds: dict[str, str] = {}
        for kind in ("verb", "lead", "weak_lead", "possessive", "describer", "filler", "stop", "common"):
            for word in getattr(self, kind):
                kinds.setdefault(word, kind)
        return kinds

    @cached_property
    def denials(self) -> dict[str, list[list[str]]]:
        """First word → the denials that begin with it, in order."""
        begun: dict[str, list[list[str]]] = {}
        for said in map(str.split, self.denial):
            begun.setdefault(said[0], []).append(said)
        return begun


class JapaneseFinder(FinderRules):
    """The pieces of text around a Japanese name."""

    honorifics: tuple[str, ...]
    payee_particles: tuple[str, ...]
    regional_particles: tuple[str, ...]
    other_particles: tuple[str, ...]
    leading_particles: tuple[str, ...]
    inner_particles: tuple[str, ...]
    paying: tuple[str, ...]
    carriers: tuple[str, ...]
    denials: tuple[str, ...]
    describers: tuple[str, ...]
    own: tuple[str, ...]
    owners: tuple[str, ...]
    no_owners: tuple[str, ...]
    owners_places: tuple[str, ...]
    closings: tuple[str, ...]
    of_a_bank: tuple[str, ...]
    bank_words: tuple[str, ...]
    bank_common: str
    not_at_bank: tuple[str, ...]
    bank_short: dict[str, tuple[str, ...]]
    bank_sounds: dict[str, str]
    parted_honorifics: tuple[str, ...]
    parted_places: tuple[str, ...]
    bank_alone: tuple[str, ...]
    own_kana: tuple[str, ...]


@lru_cache(maxsize=1)
def name_rules() -> NameRules:
    """Titles, particles, company forms, honorifics."""
    return load("payees/names.yaml", NameRules)


@lru_cache(maxsize=1)
def spelling_rules() -> SpellingRules:
    """Letter names and spelling alphabets."""
    return load("payees/spelling.yaml", SpellingRules)


@lru_cache(maxsize=1)
def english_finder() -> EnglishFinder:
    """Carrier words of English."""
    return load("payees/finder_en.yaml", EnglishFinder)


@lru_cache(maxsize=1)
def japanese_finder() -> JapaneseFinder:
    """Carrier pieces of Japanese."""
    return load("payees/finder_ja.yaml", JapaneseFinder)


def finder_rules(locale: Locale) -> FinderRules:
    """What the finder of a locale knows; English where a language has none of its own."""
    return japanese_finder() if language(locale) == "ja" else english_finder()


@lru_cache(maxsize=1)
def _relationships() -> Relationships:
    return load("payees/relationships.yaml", Relationships)


@lru_cache(maxsize=1)
def relationship_words() -> dict[str, str]:
    """Folded word → relationship. お兄さん also counts without its honorific, which is not taken for part of a name."""
    words: dict[str, str] = {}
    for name, said in _relationships().relationships.items():
        for word in (name, *said):
            folded = fold_word(word)
            for form in (folded, folded.removesuffix(_HONORIFIC)):
                words.setdefault(form, name)
    return words


def relations_written() -> frozenset[str]:
    """The Japanese words for relationships, as they are written."""
    said = (word for words in _relationships().relationships.values() for word in words)
    return frozenset(word for word in said if is_japanese(word))


@lru_cache(maxsize=1)
def relationship_starts() -> frozenset[str]:
    """What a relationship of several words may begin with: every part of one from its first letter on."""
    return frozenset(word[:size] for word in relationship_words() for size in range(2, len(word)))


def alike_relationships(relationship: str) -> tuple[str, ...]:
    """A relationship with the broader and the narrower ones that may mean the same person."""
    broader = _relationships().broader
    wider = (each for each, narrower in broader.items() if relationship in narrower)
    return (relationship, *broader.get(relationship, ()), *wider)


def fold_word(text: str) -> str:
    """One folding for words of either script, without spaces."""
    return japanese(text).replace(" ", "") if is_japanese(text) else "".join(words(text))


def unpossessed(text: str) -> str:
    """A phrase without "my" before it: "my landlord" → "landlord", うちの大家さん → 大家さん."""
    first, _, rest = text.strip().partition(" ")
    if rest and first.lower() in english_finder().possessive:
        return rest
    for own in japanese_finder().own if not text.isascii() else ():
        text = text.removeprefix(own)
    return text


def relation_key(text: str) -> str:
    """What may be a relationship, folded, and without "my" before it."""
    return fold_word(unpossessed(text))


@lru_cache(maxsize=1)
def nicknames() -> dict[str, tuple[str, ...]]:
    """Given name → the other names of the groups it belongs to, full names first."""
    table: dict[str, tuple[str, ...]] = {}
    for (row,) in load_table("payees/nicknames.tsv")[1]:
        group = row.split()
        for name in group:
            others = (other for other in group if other != name)
            table[name] = tuple(dict.fromkeys((*table.get(name, ()), *others)))
    return table
