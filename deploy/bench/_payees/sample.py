"""Callers: who says which name, of whom the book may know nothing, in which words."""

import lzma
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from rapidfuzz import process
from rapidfuzz.fuzz import ratio

from deploy.bench._payees import noise
from deploy.bench._payees.dice import Dice
from deploy.bench._payees.stock import HALVES, Person, people, stock
from services.payees.data import nicknames
from services.payees.forms import keys

_TEMPLATES: Final = {
    "en": (
        *("{}", "send fifty to {}", "pay {} twenty dollars", "transfer one hundred pounds to {} tomorrow"),
        *("can you give {} thirty five please", "i want to send two hundred to my friend {} on friday"),
        *("make a payment to {}", "um send money to {}", "wire five thousand dollars to {} from my savings"),
    ),
    "ja": (
        *("{}", "{}さんに五千円振り込んで", "{}に一万円送金して", "明日{}さんへ三万円送ってください"),
        *("友達の{}さんに二千円払って", "{}様に十万円お願いします", "えっと{}さんに送金したい"),
    ),
}
_NICKNAMED: Final = 0.06
_DOUBLES: Final = 0.5
_POOL: Final = 600
_NEAREST: Final = 6
_STRANGERS: Final = 0.2
_LARGE: Final = 10_000
_DEVELOPMENT: Final = (
    ("en", _LARGE, 1, 1200, 0.04),
    ("ja", _LARGE, 1, 1800, 0.04),
    ("en", 1000, 1, 500, 0.04),
    ("en", 60, 20, 50, 0.35),
    ("ja", 60, 30, 50, 0.35),
)
"""Language, payees, books, calls about each, share of calls by one part of a name."""
_OVERHEARD: Final = (60, 400, _LARGE)
_HEARD: Final = {
    "development": Path(__file__).with_name("heard_en.tsv.xz"),
    "acceptance": Path(__file__).with_name("heard_en_acceptance.tsv.xz"),
}
_KNOWN_SHARE: Final = 2
"""A book knows at most one overheard caller for so many payees."""


@dataclass(frozen=True, slots=True)
class PayeeNaming:
    """What was heard when somebody named a payee; `meant` is a place in the book, None for a stranger."""

    language: str
    meant: int | None
    names: tuple[str, ...]
    utterances: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """One book and the calls about it."""

    persons: tuple[Person, ...]
    calls: tuple[PayeeNaming, ...]


@lru_cache(maxsize=1)
def recogniser() -> noise.NoisyRecogniser:
    """One recogniser for all: it knows the names of both halves, and other words."""
    names = sorted({name for half in HALVES for name in stock(half).words()})
    return noise.NoisyRecogniser(names, Dice(5))


@lru_cache(maxsize=2)
def _readings(half: str) -> tuple[str, ...]:
    return tuple(sorted({entry.split("/")[1] for names in stock(half).names["ja_JP"] for entry in names}))


def hear(person: Person, parts: Sequence[str], half: str, dice: Dice) -> list[str]:
    """The n-best list of a person's name, or of some parts of it."""
    line = noise.DEVELOPMENT if half == "development" else noise.ACCEPTANCE
    if person.language == "ja":
        return noise.japanese(parts, _readings(half), line, dice)
    return noise.english(parts, recogniser(), line, dice)


def _double(person: Person, half: str, dice: Dice) -> Person:
    """Somebody who is nearly called like this person: one name the same, the other alike in sound."""
    place = dice.below(len(person.parts))
    pool = _readings(half) if person.language == "ja" else stock(half).words()
    sound = keys(person.parts[place]).sounds[0]
    others = dice.some(pool, _POOL)
    near = process.extract(sound, [keys(other).sounds[0] for other in others], scorer=ratio, limit=_NEAREST)
    alike = [others[at] for _, _, at in near if others[at] != person.parts[place]] or others[:1]
    parts = list(person.parts)
    parts[place] = dice.one(alike)
    return Person(person.language, person.culture, tuple(parts))


def _said_parts(person: Person, known: Collection[str], parts: float, dice: Dice) -> Sequence[str]:
    """What of a name is said: all of it, one part, or a nickname and the rest."""
    luck = dice.luck()
    if luck < parts:
        return (dice.one(person.parts),)
    other = nicknames().get(person.parts[0], ())
    if other and luck > 1.0 - _NICKNAMED:
        nick = (dice.one(other), *person.parts[1:])
        return person.parts if " ".join(nick) in known else nick
    return person.parts


def setting(
    half: str, language: str, *, payees: int, calls: int, strangers: float, parts: float, dice: Dice
) -> Setting:
    """A book of `payees` people and `calls` about it.

    A share of the calls is about strangers, half of them doubles of a payee; a share `parts` says one part of a name.
    """
    persons = people(dice, half, language, payees)
    known = {person.said for person in persons}
    pieces = {part for person in persons for part in person.parts}
    made: list[PayeeNaming] = []
    while len(made) < calls:
        meant: int | None = dice.below(payees)
        person = persons[meant or 0]
        if dice.chance(strangers):
            meant = None
            double = dice.chance(_DOUBLES)
            person = _double(person, half, dice) if double else stock(half).person(dice, language)
        said = _said_parts(person, known, parts, dice)
        if meant is None and (person.said in known or (len(said) == 1 and said[0] in pieces)):
            continue
        names = tuple(hear(person, said, half, dice))
        template = dice.one(_TEMPLATES[language])
        made.append(PayeeNaming(language, meant, names, tuple(template.format(name) for name in names)))
    return Setting(tuple(persons), tuple(made))


@lru_cache(maxsize=2)
def _heard(half: str) -> dict[str, tuple[str, ...]]:
    """Name → what the bundled recogniser heard."""
    lines = (
        line.split("\t") for line in lzma.decompress(_HEARD[half].read_bytes()).decode().splitlines() if line[0] != "#"
    )
    return {name: tuple(hypotheses.split("|")) for name, hypotheses in lines}


def overheard(half: str, payees: int, dice: Dice) -> list[Setting]:
    """Names that offline voices spoke and the bundled recogniser heard, each in one of as many books as that takes.

    One in five is a stranger to its book; every second stranger has a double in it.
    """
    names = dice.some(list(_heard(half)), len(_heard(half)))
    size = payees // _KNOWN_SHARE
    return [_overheard(half, names[at : at + size], payees, dice) for at in range(0, len(names), size)]


def _overheard(half: str, names: Sequence[str], payees: int, dice: Dice) -> Setting:
    strangers = {name for name in names if dice.chance(_STRANGERS)}
    persons: dict[str, Person] = {}
    for name in names:
        person = Person("en", "heard", tuple(name.split()))
        if name in strangers and dice.chance(_DOUBLES):
            person = _double(person, half, dice)
        if person.said not in strangers:
            persons.setdefault(person.said, person)
    for person in people(dice, half, "en", payees):
        if len(persons) < payees and person.said not in strangers:
            persons.setdefault(person.said, person)
    places = {name: place for place, name in enumerate(persons)}
    calls = [PayeeNaming("en", places.get(name), _heard(half)[name], _heard(half)[name]) for name in names]
    return Setting(tuple(persons.values()), tuple(calls))


def development(dice: Dice) -> list[Setting]:
    """What the calibration is fitted on: small and large books, and the overheard names in books of three sizes."""
    made = [
        setting("development", language, payees=payees, calls=calls, strangers=_STRANGERS, parts=parts, dice=dice)
        for language, payees, books, calls, parts in _DEVELOPMENT
        for _ in range(books)
    ]
    return [*made, *(each for payees in _OVERHEARD for each in overheard("development", payees, dice))]
