"""From a payee to what it may be called: the words of its name, in full, in short and in part."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from schemas.payee import Payee
from services.payees import kana, kanji
from services.payees.data import alike_relationships, fold_word, name_rules, relationship_words
from services.payees.fold import has_kanji, is_japanese, japanese, words

MAX_NAME: Final = 80
"""Characters of a name that are read."""
MAX_TOKENS: Final = 8
MAX_ALIASES: Final = 8
MAX_UNSURE: Final = 4
"""Readings kept of a payee whose name is written in kanji alone."""
_FIRST_LAST: Final = 2
_LEAST_SHORT: Final = 3
"""Characters of a company's name without its trade."""


class Namings(NamedTuple):
    """What a payee is called: in full, in short (first and last), and by a part; other exact keys; kanji read.

    `readings` are of parts of the name, `wholes` of all of it or of an alias, joined.
    """

    full: list[tuple[str, ...]]
    short: list[tuple[str, ...]]
    parts: list[str]
    exact: list[str]
    readings: list[tuple[str, str]]
    wholes: list[tuple[str, str]]


def latin_tokens(name: str) -> list[str]:
    """Words of a Latin name without titles; "Smith, John" is turned round."""
    rules = name_rules()
    if "," in name:
        family, _, rest = name.partition(",")
        if rest.strip().lower().rstrip(".") not in rules.company_words:
            name = f"{rest} {family}"
    tokens = words(name)[:MAX_TOKENS]
    if rules.marked.isdisjoint(tokens):
        return tokens
    return untitled(tokens)


def untitled(tokens: list[str]) -> list[str]:
    """Words of a name without the titles before it; Danny Lord keeps his name."""
    begin = next((place for place, token in enumerate(tokens) if token not in name_rules().titles), 0)
    return tokens[begin:]


def strip_company(tokens: list[str]) -> tuple[list[str], bool]:
    """A company's name without its legal form, and whether it had one."""
    end = len(tokens)
    while end > 1 and tokens[end - 1] in name_rules().company_words:
        end -= 1
    return tokens[:end], end < len(tokens)


def _latin(namings: Namings, name: str) -> None:
    rules, tokens = name_rules(), latin_tokens(name)
    plain, company = rules.marked.isdisjoint(tokens), False
    if not plain:
        tokens, company = strip_company(tokens)
    if not tokens:
        return
    namings.full.append(tuple(tokens))
    if len(tokens) == 1:
        return
    if company or not (plain or rules.generic_words.isdisjoint(tokens)):
        if tokens[0] not in rules.generic_words:
            namings.parts.append(tokens[0])
        return
    if len(tokens) > _FIRST_LAST:
        namings.short.append((tokens[0], tokens[-1]))
        namings.short.append(tuple(tokens[:2]))
    namings.parts.extend([t for t in tokens if len(t) > 1 and (plain or t not in rules.particles)])


@lru_cache(maxsize=1)
def _company_hints() -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, name_rules().company_hints)))


def bare(name: str) -> tuple[str, bool]:
    """A Japanese name folded, without its legal form (株式会社, ㈱, カ）…); whether it had one."""
    folded = japanese(name, brackets=True)
    if _company_hints().search(folded) is None:
        return folded, False
    plain = folded
    for mark in name_rules().company_marks:
        plain = plain.replace(mark, " ")
    plain = japanese(plain)
    return (plain, plain != folded) if plain else (japanese(folded), False)


def name_parts(written: str, reading: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(family, given) of a name and of its kana: by their own spaces, or by the kanji; one part when neither tells."""
    parts = tuple(written.split(" "))
    if " " in reading:
        return parts, tuple(reading.split(" ")[:MAX_TOKENS])
    compact = "".join(parts)
    end, read = kanji.split(compact, reading) if compact else (0, 0)
    if not end:
        return parts, (reading,)
    return (compact[:end], compact[end:]) if len(parts) == 1 else parts, (reading[:read], reading[read:])


def _kana(namings: Namings, parts: tuple[str, ...], company: bool) -> None:
    namings.full.append(parts)
    if len(parts) > 1 and not company:
        namings.exact.append("".join([kana.romaji(part) for part in reversed(parts)]))
        namings.parts.extend([part for part in parts if len(part) > 1])


def _japanese(namings: Namings, name: str, stored: str) -> None:
    written, company = bare(name) if name else ("", False)
    reading, marked = bare(stored) if stored else ("", False)
    company = company or marked
    if reading:
        names, parts = name_parts(written, reading)
        _kana(namings, parts, company)
        if len(parts) == len(names) > 1:
            namings.readings.extend(zip(names, parts, strict=True))
        read: Sequence[tuple[str, ...]] = (parts,)
    else:
        read = _read(written)
        for parts in read:
            _kana(namings, parts, company)
    _written(namings, written, read)


def _read(text: str) -> Sequence[tuple[str, ...]]:
    """The readings of a name that is stored without one."""
    return kanji.readings(text, {})[:MAX_UNSURE] if has_kanji(text) else (tuple(text.split(" ")),)


def _written(namings: Namings, text: str, read: Sequence[tuple[str, ...]]) -> None:
    compact = text.replace(" ", "")
    if compact:
        namings.exact.extend((compact, *shorter(text)))
        namings.wholes.extend([(compact, "".join(parts)) for parts in read])


def shorter(name: str) -> Iterator[str]:
    """What a company is called without the word for its trade at the end: 高木自転車 for 高木自転車商会."""
    endings = name_rules().company_endings if " " not in name else ()
    return (name.removesuffix(end) for end in endings if name.endswith(end) and len(name) - len(end) >= _LEAST_SHORT)


def _alias(namings: Namings, alias: str, name: str, kana_: str) -> None:
    if not is_japanese(alias):
        tokens, whole = tuple(latin_tokens(alias)), namings.full[0] if namings.full else ()
        if tokens:
            namings.full.append(tokens)
        if len(tokens) == 1 < len(whole) and whole[-1] in namings.parts and tokens[0] not in whole:
            namings.short.append((tokens[0], whole[-1]))  # "gwen pruitt"
        return
    text = bare(alias)[0].replace(" ", "")
    read = _read(text)
    if text in name:  # a part of the name is read as there: 誠 of オカモトマコト is no サトシ
        spoken = japanese(kana_).replace(" ", "")
        read = [parts for parts in read if "".join(parts) in spoken] or read
    namings.full.extend(read)
    _written(namings, text, read)


def namings_of(payee: Payee) -> Namings:
    """Everything a payee may be called."""
    namings = Namings([], [], [], [], [], [])
    name = payee.name[:MAX_NAME]
    written = is_japanese(name)
    if payee.kana or written:
        _japanese(namings, name if written else "", payee.kana[:MAX_NAME])
    if not written:
        _latin(namings, name)
    for alias in payee.aliases[:MAX_ALIASES]:
        _alias(namings, alias, payee.name, payee.kana)
    return namings


def relations(payees: Sequence[Payee]) -> dict[str, tuple[int, ...]]:
    """Relationship → the payees who have it, whatever word the customer keeps it under; and a company's short name."""
    table: dict[str, tuple[int, ...]] = {}
    known, written = relationship_words(), sorted(bare(payee.name)[0] for payee in payees)
    for owner, payee in enumerate(payees):
        if payee.relationship:
            key = fold_word(payee.relationship)
            for name in alike_relationships(known.get(key, key)):
                table[name] = (*table.get(name, ()), owner)
        for name in set(shorter(bare(payee.name)[0])) if is_japanese(payee.name) else ():
            at = bisect_left(written, name) + 1
            if not any(other.startswith(name) for other in written[at : at + 1]):  # nobody else may be meant
                table[name] = (*table.get(name, ()), owner)
    return table
