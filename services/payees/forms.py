"""From payees to forms: every way a payee may be called, as the strings that are compared.

A form has a spelling (Latin letters; folded romaji for Japanese) and a sound (see `phones`). A full name is a form of
its own payee; a part (a family or given name alone) is one form shared by everyone who has it.

Ten thousand payees are taken in at once, so this keeps plain lists of strings and numbers, no objects.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from datetime import date
from functools import cached_property, lru_cache
from itertools import islice
from math import log
from typing import Final, NamedTuple

from schemas.payee import Payee
from services.payees import kana
from services.payees.grams import Grams
from services.payees.namings import Namings, namings_of
from services.payees.phones import sayings

MAX_FITTING: Final = 30
"""Payees listed for a few spelled letters."""
_RECENT_DAYS: Final = 90.0
_LEAST: Final = 150
"""Forms of some sixty payees, the smallest books that calibration has seen; smaller ones are judged like them."""


class Keys(NamedTuple):
    """A word as it is spelled and the ways it sounds."""

    spelled: str
    sounds: tuple[str, ...]


class Written(NamedTuple):
    """How the book reads a name in kanji, and how many payees are written so."""

    readings: tuple[str, ...]
    owners: int


class Anatomy(NamedTuple):
    """What a form is made of."""

    words: list[str]
    key: str
    """See `exact_key`."""
    lengths: list[int]
    """How long the sound of each word is."""
    length: float
    """The natural log of the phones of them all."""


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


class Forms:
    """All forms of a book. Full and short names come first, each with one owner; then the parts, with many."""

    def __init__(self, payees: Sequence[Payee], recent: Sequence[float] = ()) -> None:
        self.spelled: list[str] = []
        self.sounds: list[str] = []
        self.words: list[str] = []
        self.recent = recent or [0.0] * len(payees)
        """Payee → how lately it was paid, 0 … 1."""
        self.parts: dict[str, list[int]] = {}
        """Family or given name → payees (positions in the book), the more `recent` first."""
        self.readings: dict[str, tuple[str, ...]] = {}
        """Kanji of a part → its readings in this book."""
        self._owner: list[int] = []
        self._readings_of: dict[str, dict[str, None]] = {}
        """Kanji of a whole name or alias → its readings in this book, joined."""
        self._first: dict[str, int] = {}
        """Spelling → the first full form spelled so."""
        self._further: dict[str, list[int]] = {}
        """Spelling → the other full forms spelled so."""
        self._named: dict[str, list[int]] = {}
        self._anatomies: dict[int, Anatomy] = {}
        self._whole: list[int] = []
        """Payee → its first full form."""
        for owner, payee in enumerate(payees):
            self._take(owner, namings_of(payee))
        if any(recent):
            for owners in self.parts.values():
                owners.sort(key=lambda owner: -recent[owner])
        self._begun = frozenset(name[:2] for name in self._named)
        self.full = len(self.spelled)
        """Forms at or past this place are parts."""
        self.vocabulary = frozenset(" ".join(self.words).split())
        """Every word of every name."""
        self._sorted = sorted(range(self.full), key=self.spelled.__getitem__)
        self._parts_spelled: dict[str, list[str]] = {}
        for part in self.parts:
            each = keys(part)
            self._parts_spelled.setdefault(each.spelled, []).append(part)
            for sound in each.sounds:
                self._append(part, each.spelled, sound, -1)
        self._sorted_parts = sorted(self._parts_spelled)
        self.grams = Grams(self.sounds)

    @cached_property
    def breadth(self) -> float:
        """How much there is to be mistaken for: the natural log of the number of forms."""
        return log(max(_LEAST, len(self.spelled)))

    def owners(self, form: int) -> Sequence[int]:
        """The payees a form may mean."""
        return (self._owner[form],) if form < self.full else self.parts[self.words[form]]

    def owner(self, form: int) -> int:
        """The one payee of a full form; -1 for a part."""
        return self._owner[form]

    def whole(self, owner: int) -> int:
        """The first full form of a payee."""
        return self._whole[owner]

    def named(self, key: str, spelled: str) -> list[int]:
        """Who has exactly this full name or alias: `key` is strict (see `exact_key`), `spelled` its loose spelling."""
        found = dict.fromkeys(self._named.get(key, ()))
        for form in self._spelled_so(spelled):
            if key.isascii() or kana.strict(self.words[form].replace(" ", "")) == key:
                found[self._owner[form]] = None
        return list(found)

    def is_whole_name(self, letters: str) -> bool:
        """Whether joined Latin words are somebody's full name or alias."""
        return letters in self._first

    def is_written(self, text: str) -> bool:
        """Whether somebody's full name or alias is written so in Japanese."""
        return text in self._named

    def begins_written(self, text: str) -> bool:
        """Whether somebody's full name or alias begins with these two characters in Japanese."""
        return text in self._begun

    def as_written(self, text: str) -> Sequence[int]:
        """Whose full name or alias is written so in Japanese."""
        return self._named.get(text, ())

    def is_name(self, letters: str) -> bool:
        """Whether joined Latin words are somebody's name, or a family or given name."""
        return letters in self._first or letters in self._parts_spelled

    def part_owners(self, spelled: str) -> list[int]:
        """Who has a family or given name of this spelling."""
        return [owner for part in self._parts_spelled.get(spelled, ()) for owner in self.parts[part]]

    def written(self, kanji: str) -> Written:
        """The stored readings of a whole name that is written like this, joined, and how many payees have it."""
        return Written(tuple(self._readings_of.get(kanji, ())), len(self._named.get(kanji, ())))

    def beginning(self, letters: str) -> list[int]:
        """Payees with a word of their name, or their joined name, that begins with these letters; at most a few."""
        found = dict[int, None]()
        parts = self._sorted_parts
        for at in range(bisect_left(parts, letters), len(parts)):
            if not parts[at].startswith(letters):
                break
            found |= dict.fromkeys(self.part_owners(parts[at]))
        found |= dict.fromkeys(self._owner[form] for form in self._beginning(letters))
        return list(found)[:MAX_FITTING]

    def abbreviated(self, letters: str) -> list[int]:
        """Payees whose words begin with these letters, one each; at most a few."""
        fitting = (
            self._owner[form]
            for form in self._beginning(letters[0])
            if [word[0] for word in self.words[form].split(" ")] == [*letters]
        )
        return list(dict.fromkeys(islice(fitting, MAX_FITTING)))

    def anatomy(self, form: int) -> Anatomy:
        """A form's words and what they come to; told once of each form that is weighed."""
        known = self._anatomies.get(form)
        if known is None:
            words, sound = self.words[form].split(" "), self.sounds[form]
            lengths, length = _word_lengths(words, sound), log(max(2, len(sound)) / 2)
            known = self._anatomies[form] = Anatomy(words, exact_key(words), lengths, length)
        return known

    def _spelled_so(self, spelled: str) -> Iterator[int]:
        """Full forms of one spelling."""
        first = self._first.get(spelled)
        if first is not None:
            yield first
            yield from self._further.get(spelled, ())

    def _beginning(self, letters: str) -> Iterator[int]:
        """Full forms that are spelled with these letters first, by the alphabet."""
        forms, spelled = self._sorted, self.spelled
        for at in range(bisect_left(forms, letters, key=spelled.__getitem__), len(forms)):
            if not spelled[forms[at]].startswith(letters):
                break
            yield forms[at]

    def _append(self, text: str, spelled: str, sound: str, owner: int) -> None:
        self.words.append(text)
        self.spelled.append(spelled)
        self.sounds.append(sound)
        self._owner.append(owner)

    def _take(self, owner: int, namings: Namings) -> None:
        self._whole.append(len(self.spelled))
        for tokens in namings.full:
            self._name(owner, tokens)
        for tokens in namings.short:
            self._name(owner, tokens)
        for key in namings.exact:
            _own(self._named, key, owner)
        for kanji, reading in namings.wholes:
            self._readings_of.setdefault(kanji, {})[reading] = None
        for part in namings.parts:
            _own(self.parts, part, owner)
        for written, reading in namings.readings:
            known = self.readings.get(written)
            if known is None:
                self.readings[written] = (reading,)
            elif reading not in known:
                self.readings[written] = (*known, reading)

    def _name(self, owner: int, tokens: Sequence[str]) -> None:
        spelled, sound, ways = "", "", 1
        each = [keys(token) for token in tokens]
        for token_spelled, sounds in each:
            spelled += token_spelled
            sound += sounds[0]
            ways = max(ways, len(sounds))
        text, form = " ".join(tokens), len(self.spelled)
        if self._first.setdefault(spelled, form) != form:
            self._further.setdefault(spelled, []).append(form)
        self._append(text, spelled, sound, owner)
        for way in range(1, ways):
            sound = "".join([k.sounds[way if way < len(k.sounds) else 0] for k in each])
            self._append(text, spelled, sound, owner)


def _word_lengths(words: Sequence[str], sound: str) -> list[int]:
    """How long the sound of each word of a form is."""
    if len(words) == 1:
        return [len(sound)]
    lengths, place = list[int](), 0
    for word in words:
        sounds = keys(word).sounds
        said = sounds[0] if len(sounds) == 1 else next((s for s in sounds if sound.startswith(s, place)), sounds[0])
        lengths.append(len(said))
        place += len(said)
    return lengths


def _own(table: dict[str, list[int]], key: str, owner: int) -> None:
    owners = table.get(key)
    if owners is None:
        table[key] = [owner]
    elif owners[-1] != owner:
        owners.append(owner)


def recency(payee: Payee, today: date | None) -> float:
    """1 for a payee paid today, falling to 0 in about a year; 0 when never paid or unknown."""
    if today is None or payee.last_paid is None:
        return 0.0
    days = max(0, (today - payee.last_paid).days)
    return float(2.0 ** (-days / _RECENT_DAYS))
