"""From payees to forms: every way a payee may be called, as the strings that are compared.

A form has a spelling (Latin letters; folded romaji for Japanese) and a sound (see `phones`). A full name is a form of
its own payee; a part (a family or given name alone) is one form shared by everyone who has it. Exact keys are stricter
than forms: letters, strict kana or kanji.

Ten thousand payees are taken in at once, so this keeps plain lists of strings and numbers, no objects.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from schemas.payee import Payee
from services.payees import kana, kanji
from services.payees.data import name_rules
from services.payees.fold import has_kanji, is_japanese, japanese, words
from services.payees.phones import sayings

MAX_NAME: Final = 80
"""Characters of a name that are read."""
MAX_TOKENS: Final = 8
MAX_ALIASES: Final = 8
MAX_UNSURE: Final = 4
"""Readings kept of a payee whose name is written in kanji alone."""
_FIRST_LAST: Final = 2


class Keys(NamedTuple):
    """A word as it is spelled and the ways it sounds."""

    spelled: str
    sounds: tuple[str, ...]


@lru_cache(maxsize=65_536)
def keys(token: str) -> Keys:
    """The keys of a folded Latin word or a katakana word."""
    if token.isascii():
        return Keys(token, sayings(token))
    spelled = kana.romaji(token)
    return Keys(spelled, (kana.phones(spelled),))


def exact_key(tokens: Sequence[str]) -> str:
    """The key that only one name has: joined letters, or the strict kana."""
    joined = "".join(tokens)
    return joined if joined.isascii() else kana.strict(joined)


class Namings(NamedTuple):
    """What a payee is called: in full, in short (first and last), and by a part; exact keys besides; kanji readings."""

    full: list[tuple[str, ...]]
    short: list[tuple[str, ...]]
    parts: list[str]
    exact: list[str]
    readings: list[tuple[str, str]]


def latin_tokens(name: str) -> list[str]:
    """Words of a Latin name without titles; "Smith, John" is turned round."""
    rules = name_rules()
    if "," in name:
        family, _, rest = name.partition(",")
        if rest.strip().lower().rstrip(".") not in rules.company_words:
            name = f"{rest} {family}"
    tokens = words(name)[:MAX_TOKENS]
    if rules.titles.isdisjoint(tokens):
        return tokens
    return [token for token in tokens if token not in rules.titles] or tokens


def strip_company(tokens: list[str]) -> tuple[tuple[str, ...], bool]:
    """A company's name without its legal form, and whether it had one."""
    end = len(tokens)
    while end > 1 and tokens[end - 1] in name_rules().company_words:
        end -= 1
    return tuple(tokens[:end]), end < len(tokens)


def _latin(namings: Namings, name: str) -> None:
    tokens, company = strip_company(latin_tokens(name))
    if not tokens:
        return
    namings.full.append(tokens)
    if len(tokens) == 1:
        return
    rules = name_rules()
    if company or not rules.generic_words.isdisjoint(tokens):
        if tokens[0] not in rules.generic_words:
            namings.parts.append(tokens[0])
        return
    if len(tokens) > _FIRST_LAST:
        namings.short.append((tokens[0], tokens[-1]))
        namings.short.append(tokens[:2])
    namings.parts.extend([t for t in tokens if len(t) > 1 and t not in rules.particles])


def bare(name: str) -> tuple[str, bool]:
    """A Japanese name folded, without its legal form (株式会社, ㈱, カ）…); whether it had one."""
    rules = name_rules()
    folded = japanese(name, brackets=True)
    if not any(hint in folded for hint in rules.company_hints):
        return folded, False
    plain = folded
    for mark in rules.company_marks:
        plain = plain.replace(mark, " ")
    plain = japanese(plain)
    return (plain, plain != folded) if plain else (japanese(folded), False)


def reading_parts(reading: str, written: str) -> tuple[str, ...]:
    """(family, given) of a kana reading: by its own space, or by the kanji; one part when neither tells."""
    if " " in reading:
        return tuple(reading.split(" ")[:MAX_TOKENS])
    compact = written.replace(" ", "")
    end = kanji.split(compact, reading) if compact else 0
    return (reading[:end], reading[end:]) if end else (reading,)


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
        parts = reading_parts(reading, written)
        _kana(namings, parts, company)
        if written:
            namings.readings.append((written.replace(" ", ""), "".join(parts)))
            if len(parts) > 1 and written.count(" ") == len(parts) - 1:
                namings.readings.extend(zip(written.split(" "), parts, strict=True))
    else:
        for parts in kanji.readings(written, {})[:MAX_UNSURE] if has_kanji(written) else (tuple(written.split(" ")),):
            _kana(namings, parts, company)
    if written:
        namings.exact.append(written.replace(" ", ""))


def _alias(namings: Namings, alias: str) -> None:
    if not is_japanese(alias):
        tokens = tuple(latin_tokens(alias))
        if tokens:
            namings.full.append(tokens)
        return
    text = bare(alias)[0].replace(" ", "")
    namings.exact.append(text)
    namings.full.extend(kanji.readings(text, {})[:MAX_UNSURE] if has_kanji(text) else [(text,)])


def namings_of(payee: Payee) -> Namings:
    """Everything a payee may be called."""
    namings = Namings([], [], [], [], [])
    name = payee.name[:MAX_NAME]
    written = is_japanese(name)
    if payee.kana or written:
        _japanese(namings, name if written else "", payee.kana[:MAX_NAME])
    if not written:
        _latin(namings, name)
    for alias in payee.aliases[:MAX_ALIASES]:
        _alias(namings, alias)
    return namings


class Forms:
    """All forms of a book. Full and short names come first, each with one owner; then the parts, with many."""

    def __init__(self, payees: Sequence[Payee]) -> None:
        self.spelled: list[str] = []
        self.sounds: list[str] = []
        self.words: list[str] = []
        self.owner: list[int] = []
        self.exact: dict[str, list[int]] = {}
        self.parts: dict[str, list[int]] = {}
        self.readings: dict[str, tuple[str, ...]] = {}
        self.initials: dict[str, list[int]] = {}
        self.vocabulary: set[str] = set()
        """Every word of every name."""
        for owner, payee in enumerate(payees):
            self._take(owner, namings_of(payee))
        self.full = len(self.spelled)
        """Forms at or past this place are parts."""
        self.part_keys: dict[str, str] = {}
        for part in self.parts:
            each = keys(part)
            self.part_keys[exact_key((part,))] = part
            for sound in each.sounds:
                self._append(part, each.spelled, sound, -1)

    def owners(self, form: int) -> Sequence[int]:
        """Positions in the book of the payees a form may mean."""
        return (self.owner[form],) if form < self.full else self.parts[self.words[form]]

    def exact_owners(self, key: str) -> Sequence[int]:
        """Who has exactly this full name or alias."""
        return self.exact.get(key, ())

    def part_owners(self, key: str) -> Sequence[int]:
        """Who has exactly this family or given name."""
        return self.parts.get(self.part_keys.get(key, ""), ())

    def beginning(self, letters: str) -> Iterator[int]:
        """Payees with a word of their name, or the joined name, that begins with these letters; at most a few."""
        for part, owners in self.parts.items():
            if part.startswith(letters) or keys(part).spelled.startswith(letters):
                yield from owners
        for place in range(self.full):
            if self.spelled[place].startswith(letters):
                yield self.owner[place]

    def token_sounds(self, form: int) -> Iterator[str]:
        """The sounds of a form's words, which join to its sound."""
        sound, place = self.sounds[form], 0
        for word in self.words[form].split(" "):
            for each in keys(word).sounds:
                if sound.startswith(each, place):
                    yield each
                    place += len(each)
                    break

    def _append(self, text: str, spelled: str, sound: str, owner: int) -> None:
        self.words.append(text)
        self.spelled.append(spelled)
        self.sounds.append(sound)
        self.owner.append(owner)

    def _take(self, owner: int, namings: Namings) -> None:
        for tokens in namings.full:
            spelled = self._name(owner, tokens)
            _own(self.exact, spelled, owner)
            if not tokens[0].isascii():
                _own(self.exact, kana.strict("".join(tokens)), owner)
            elif len(tokens) > 1:
                _own(self.initials, "".join([token[0] for token in tokens]), owner)
        for tokens in namings.short:
            _own(self.exact, self._name(owner, tokens), owner)
        for key in namings.exact:
            _own(self.exact, key, owner)
        for part in namings.parts:
            _own(self.parts, part, owner)
        for written, reading in namings.readings:
            known = self.readings.get(written, ())
            if reading not in known:
                self.readings[written] = (*known, reading)

    def _name(self, owner: int, tokens: tuple[str, ...]) -> str:
        self.vocabulary.update(tokens)
        each = [keys(token) for token in tokens]
        text, spelled = " ".join(tokens), "".join([k.spelled for k in each])
        for way in range(max([len(k.sounds) for k in each])):
            sound = "".join([k.sounds[way if way < len(k.sounds) else 0] for k in each])
            self._append(text, spelled, sound, owner)
        return spelled


def _own(table: dict[str, list[int]], key: str, owner: int) -> None:
    owners = table.get(key)
    if owners is None:
        table[key] = [owner]
    elif owners[-1] != owner:
        owners.append(owner)
