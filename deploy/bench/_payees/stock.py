"""Books of payees drawn from a stock of names in two halves, so that acceptance meets no name of development."""

import lzma
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from deploy.bench._payees.dice import Dice
from schemas.ids import PayeeId
from schemas.payee import Payee

HALVES: Final = ("development", "acceptance")
_FILE: Final = Path(__file__).with_name("names.tsv.xz")
_COMMON: Final = {"en_US": 8, "en_GB": 6, "es_MX": 3, "en_IN": 3, "en_PK": 2}
"""How many times likelier these cultures are than others."""


@dataclass(frozen=True, slots=True)
class Person:
    """A name as the book keeps it: Latin words, or kanji with its kana. Parts are in the order they are said."""

    language: str
    culture: str
    parts: tuple[str, ...]
    written: str = ""

    @property
    def said(self) -> str:
        """The name as it is spoken, in letters or katakana."""
        return " ".join(self.parts)


@dataclass(frozen=True, slots=True)
class Stock:
    """Given and family names of each culture."""

    names: dict[str, tuple[tuple[str, ...], tuple[str, ...]]]

    def person(self, dice: Dice, language: str) -> Person:
        """Somebody."""
        if language == "ja":
            given, family = self.names["ja_JP"]
            first, last = dice.one(given).split("/"), dice.one(family).split("/")
            return Person("ja", "ja_JP", (last[1], first[1]), f"{last[0]} {first[0]}")
        cultures = [culture for culture in self.names if culture != "ja_JP"]
        culture = dice.weighted(cultures, [_COMMON.get(culture, 1) for culture in cultures])
        given, family = self.names[culture]
        return Person("en", culture, (dice.one(given), dice.one(family)))

    def words(self) -> tuple[str, ...]:
        """Every Latin name, in an order that no hash seed changes."""
        latin = {n for culture, parts in self.names.items() if culture != "ja_JP" for names in parts for n in names}
        return tuple(sorted(latin))


@lru_cache(maxsize=2)
def stock(half: str) -> Stock:
    """A half of the stock: "development" or "acceptance"."""
    table: dict[str, dict[str, tuple[str, ...]]] = {}
    for line in lzma.decompress(_FILE.read_bytes()).decode().splitlines():
        if line.startswith(f"{half}\t"):
            _, culture, part, names = line.split("\t")
            table.setdefault(culture, {})[part] = tuple(names.split())
    return Stock({culture: (parts["given"], parts["family"]) for culture, parts in table.items() if len(parts) > 1})


def people(dice: Dice, half: str, language: str, size: int) -> list[Person]:
    """`size` people, no two of one name."""
    found: dict[str, Person] = {}
    while len(found) < size:
        person = stock(half).person(dice, language)
        found.setdefault(person.said, person)
    return list(found.values())


def book(persons: Sequence[Person]) -> list[Payee]:
    """The payees of a customer who knows these people."""
    return [
        Payee(PayeeId(f"p{n}"), p.written, kana=p.said) if p.written else Payee(PayeeId(f"p{n}"), p.said.title())
        for n, p in enumerate(persons)
    ]
