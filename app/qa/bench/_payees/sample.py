"""Callers: who says which name, of whom the book may know nothing, in which words."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from rapidfuzz import process
from rapidfuzz.fuzz import ratio

from app.qa.bench._payees import noise
from app.qa.bench._payees.dice import Dice
from app.qa.bench._payees.stock import Person, people, stock
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
    ("en", _LARGE, 1200, 0.04),
    ("ja", _LARGE, 900, 0.04),
    ("en", 1000, 500, 0.04),
    ("en", 60, 700, 0.35),
    ("ja", 60, 500, 0.35),
)
_HEARD: Final = Path(__file__).with_name("heard_en.tsv")
_HALVES: Final = ("development", "acceptance")


@dataclass(frozen=True, slots=True)
class Call:
    """What was heard when somebody named a payee; `meant` is a place in the book, None for a stranger."""

    language: str
    meant: int | None
    names: tuple[str, ...]
    utterances: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """One book and the calls about it."""

    persons: tuple[Person, ...]
    calls: tuple[Call, ...]


@lru_cache(maxsize=1)
def recogniser() -> noise.Recogniser:
    """One recogniser for all: it knows the names of both halves, and other words."""
    names = sorted({name for half in _HALVES for name in stock(half).words()})
    return noise.Recogniser(names, Dice(5))


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
    made: list[Call] = []
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
        made.append(Call(language, meant, names, tuple(template.format(name) for name in names)))
    return Setting(tuple(persons), tuple(made))


def overheard(dice: Dice) -> Setting:
    """Names that offline voices spoke and a real recogniser heard; one in five is a stranger to a book of 10,000."""
    lines = (line.split("\t") for line in _HEARD.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    heard = [(name, tuple(hypotheses.split("|"))) for name, hypotheses in lines]
    names = list(dict.fromkeys(name for name, _ in heard))
    strangers = set(dice.some(names, int(len(names) * _STRANGERS)))
    persons = [Person("en", "heard", tuple(name.split())) for name in names if name not in strangers]
    others = people(dice, "development", "en", _LARGE - len(persons))
    persons.extend(person for person in others if person.said not in set(names))
    places = {person.said: place for place, person in enumerate(persons)}
    calls = [Call("en", places.get(name), hypotheses, hypotheses) for name, hypotheses in heard]
    return Setting(tuple(persons), tuple(calls))


def development(dice: Dice) -> list[Setting]:
    """What the calibration is fitted on: large, middling and small books, and the overheard names."""
    made = [
        setting("development", language, payees=payees, calls=calls, strangers=_STRANGERS, parts=parts, dice=dice)
        for language, payees, calls, parts in _DEVELOPMENT
    ]
    return [*made, overheard(dice)]
