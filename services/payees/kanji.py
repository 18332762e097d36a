"""Kanji to readings: never one, always the set a name may have. What the customer's own book says comes first."""

import lzma
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final

from rules.load import load_table, read
from services.payees.fold import has_kanji

MAX_READINGS: Final = 12
"""Readings of one heard name that are tried."""
_MAX_SURNAME: Final = 4
_MAX_NAME: Final = 10

Book = Mapping[str, tuple[str, ...]]


@lru_cache(maxsize=1)
def surnames() -> dict[str, tuple[str, ...]]:
    """Kanji of a family name → its readings, likeliest first."""
    table: dict[str, tuple[str, ...]] = {}
    for kanji, readings in (*load_table("payees/readings_more.tsv")[1], *_rows("payees/surnames_ja.xz")):
        table[kanji] = _distinct((*table.get(kanji, ()), *readings.split()))
    return table


def _rows(path: str) -> Iterator[tuple[str, str]]:
    """The two columns of a compressed table."""
    for row in lzma.decompress(read(path)).decode("utf-8").splitlines():
        if not row.startswith("#"):
            one, _, other = row.partition("\t")
            yield one, other


@lru_cache(maxsize=1)
def givens() -> dict[str, list[str]]:
    """Kanji of a given name → its readings."""
    table: dict[str, list[str]] = {}
    for reading, forms in _rows("payees/given_ja.xz"):
        for form in forms.split(" "):
            table.setdefault(form, []).append(reading)
    return table


def _distinct(readings: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(readings))


def surname(text: str, book: Book) -> tuple[str, ...]:
    """Readings of a family name; kana reads as itself."""
    if not has_kanji(text):
        return (text,)
    return _distinct((*book.get(text, ()), *surnames().get(text, ())))


def given(text: str, book: Book) -> tuple[str, ...]:
    """Readings of a given name; kana reads as itself."""
    if not has_kanji(text):
        return (text,)
    return _distinct((*book.get(text, ()), *givens().get(text, ())))


def split(text: str, kana: str) -> tuple[int, int]:
    """Where the family name ends in an unspaced name and in its unspaced reading (0: unknown)."""
    for end in range(min(_MAX_SURNAME, len(text) - 1), 0, -1):
        for reading in surnames().get(text[:end], ()):
            if kana.startswith(reading) and len(kana) > len(reading):
                return end, len(reading)
    return 0, 0


def readings(text: str, book: Book) -> tuple[tuple[str, ...], ...]:
    """The readings of a folded name in kanji (or a mix with kana), each as (family, given) or as one part."""
    parts = text.split(" ")
    if len(parts) > 1:
        first, rest = surname(parts[0], book), given("".join(parts[1:]), book)
        return tuple((f, g) for f in first for g in rest)[:MAX_READINGS]
    text = text[:_MAX_NAME]
    found = [(reading,) for reading in _distinct((*surname(text, book), *givens().get(text, ())))]
    pairs = [
        (family, name)
        for end in range(min(_MAX_SURNAME, len(text) - 1), 0, -1)
        for family in surname(text[:end], book)
        for name in given(text[end:], book)
    ]
    known = tuple(dict.fromkeys((*found[:MAX_READINGS], *pairs)))[:MAX_READINGS]
    return known or _company(text, book)


@lru_cache(maxsize=1)
def _company_words() -> tuple[tuple[str, str], ...]:
    """Company words with their readings, longest first."""
    rows = ((row[0], row[1]) for row in load_table("payees/readings_words.tsv")[1])
    return tuple(sorted(rows, key=lambda row: -len(row[0])))


def _company(text: str, book: Book) -> tuple[tuple[str, ...], ...]:
    """Readings of a family name with a company word after it: ヤマダ商店."""
    for word, reading in _company_words():
        head = text.removesuffix(word)
        if head and head != text:
            return tuple((family + reading,) for family in surname(head, book))[:MAX_READINGS]
    return ()
