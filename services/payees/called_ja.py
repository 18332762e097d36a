"""What Japanese callers add to a name or call someone: 「健ちゃん」, 「三井住友の佐藤さん」, 「佐藤のほうの健」."""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from schemas.kana import TO_KATAKANA
from schemas.payee import Payee
from services.payees import kanji
from services.payees.banked import Banked, owners_by_bank
from services.payees.data import fold_word, japanese_finder, name_rules, relationship_words
from services.payees.fold import KANJI, has_kanji, is_japanese, japanese
from services.payees.namings import name_parts
from services.payees.spans_ja import denied

_LONGEST: Final = 12
"""Characters of a nickname with its ending."""
_PART, _RELATION = 6, 5
"""Characters of a part of a name, and of what its bearer is to the caller, at most."""
_HARD: Final = re.compile(f"[{KANJI}ァ-ヺー]")
_NAME: Final = f"[{KANJI}ァ-ヺー]{{1,8}}"


class Called:
    """The nicknames and the banks of one book."""

    def __init__(self, payees: Sequence[Payee], readings: Mapping[str, tuple[str, ...]]) -> None:
        self._nicknames: dict[str, dict[int, None]] = {}
        self._givens: dict[str, dict[int, set[str]]] = {}
        self._parts: dict[str, set[int]] = {}
        for owner, payee in enumerate(payees):
            own = () if fold_word(payee.relationship) in relationship_words() else (payee.relationship,)  # お花の先生
            for alias in (*payee.aliases, *own):
                for said in _sayings(alias, readings):
                    self._nicknames.setdefault(said, {})[owner] = None
            told = (" ".join(parts) for parts in name_parts(payee.name, payee.kana))
            for family, _, given in (said.partition(" ") for said in told if is_japanese(said)):
                for part in {family, given, family + given} - {""}:
                    self._parts.setdefault(part, set()).add(owner)
                if given:
                    self._givens.setdefault(given, {}).setdefault(owner, set()).add(family)
        self._begun = frozenset(part[:2] for part in self._parts)
        self._wholes = [(o, p.name) for o, p in enumerate(payees) if is_japanese(p.name) and " " not in p.name]
        self._banks = banks = owners_by_bank(payees, _bank_names, is_japanese)
        named = "|".join(re.escape(name) for name in sorted(banks, key=len, reverse=True))
        things = "|".join(map(re.escape, japanese_finder().of_a_bank))
        of, at = (
            f"(?:の|、?銀行[はがも]|(?<=[^0-9円万千、])、|(?<=さん)|(?<=さま)|(?<=くん)|(?<=[様君氏]))(?P<of>{named})(?:の?(?:口座|ほう|方|とこ))?の?(?=[にへ宛あでだや、。]|$)",
            f"(?P<at>{named})(?:さん|さま|様)?(?:の?(?:ほう|方))?の(?!{things}|ほう|方)",
        )
        other = rf"(?P<other>{named})(?:{_any_of(japanese_finder().not_at_bank)})(?:の?(?:ほう|方))?の"
        self._bank = re.compile(f"{of}|{at}|{other}") if banks else None
        self._everyone = frozenset(range(len(payees)))
        self._alone = re.compile(rf"(?:{named})(?=\s*$|{_any_of(japanese_finder().bank_alone)})") if banks else None

    def nickname(self, text: str) -> tuple[int, int, list[int]] | None:
        """Where a nickname of the book stands as it was entered, and who is called so."""
        if not self._nicknames:
            return None
        folded = _fold(text)
        for ending in _endings().finditer(folded):
            for begin in range(max(0, ending.end() - _LONGEST), ending.start()):
                owners = self._nicknames.get(folded[begin : ending.end()])
                inside = begin > 0 and _HARD.match(text[begin - 1]) and _HARD.match(text[begin])
                if owners and not inside and not denied(text, ending.end()):
                    return begin, ending.end(), list(owners)
        return None

    def parted(self, text: str, related: Callable[[str], Collection[int]]) -> tuple[int, int, list[int]] | None:
        """Where a given name stands apart from a family name or a relationship, and whose both are."""
        for found in _parted().finditer(text):
            for end, having in self._given_at(text, found.start("given"), found["given"]):
                for begin in range(found.start("of"), found.end("of")):
                    of = text[begin : found.end("of")]
                    owners = _owners(having, of, related)
                    if owners and not denied(text, end):
                        return begin, end, owners
        return self._added(text, related)

    def _added(self, text: str, related: Callable[[str], Collection[int]]) -> tuple[int, int, list[int]] | None:
        """Where a family name, or a relationship, is added behind a given name: 「健のほう、佐藤の」."""
        for found in _added_behind().finditer(text):
            owners = _owners(self._givens.get(found["given"], {}), found["of"], related)
            if owners and not denied(text, found.end()):
                return found.start(), found.end(), owners
        return self._with_relation(text, related)

    def _with_relation(self, text: str, related: Callable[[str], Collection[int]]) -> tuple[int, int, list[int]] | None:
        """Where a part of a name, as it is read too, stands beside what its bearer is: 「葵先輩」, 「孫のひかる」."""
        folded = _fold(text)
        begun = self._begun
        pieces = ((text[at : at + 2], folded[at : at + 2]) for at in range(len(text)))
        begins = [at for at, (one, two) in enumerate(pieces) if not begun.isdisjoint((one, two, one[:1], two[:1]))]
        for begin in begins:
            for end in range(min(len(text), begin + _PART), begin, -1):
                having = self._parts.get(text[begin:end]) or self._parts.get(folded[begin:end]) or set[int]()
                for size in range(_RELATION, 0, -1) if having else ():
                    owners = [owner for owner in related(text[end : end + size]) if owner in having]
                    if owners and not denied(text, end + size):
                        return begin, end + size, owners
                    of = begin - 1 - size
                    before = related(text[of : begin - 1]) if of >= 0 and _of(text, begin, end) else ()
                    owners = [owner for owner in before if owner in having]
                    if owners and not denied(text, end):
                        return of, end, owners
        return None

    def holding(self, said: str) -> list[int]:
        """Whose one long name ends with what was said, and is little more: 「資材センター」."""
        return [o for o, name in self._wholes if name.endswith(said) and len(name) < 2 * len(said)]

    def _given_at(self, text: str, start: int, said: str) -> Iterator[tuple[int, dict[int, set[str]]]]:
        """Given names of the book that are all of the word that begins at `start`, but for an honorific."""
        for end in range(start + len(said), start, -1):
            whole = _HARD.match(text, end) is None or _endings().match(text, end) is not None
            if whole and (having := self._givens.get(text[start:end])):
                yield end, having

    def bank(self, text: str) -> tuple[int, int, frozenset[int]] | None:
        """Where a bank of the book is named without a name, and who has an account there."""
        for found in self._alone.finditer(text) if self._alone is not None else ():
            if not denied(text, found.end()):
                return found.start(), found.end(), self._banks[found[0]]
        return None

    def banked(self, text: str, related: Callable[[str], Collection[int]]) -> Banked | None:
        """The utterance without the bank, or who is not meant, that is named in it, where it is one of the book's."""
        found = self._bank.search(text) if self._bank is not None else None
        if found is None:
            return self._not_that_one(text, related)
        if found["other"]:
            return Banked.without(text, found, self._everyone - self._banks[found["other"]])
        return Banked.without(text, found, self._banks[found["of"] or found["at"]])

    def _not_that_one(self, text: str, related: Callable[[str], Collection[int]]) -> Banked | None:
        """The utterance without who is said not to be meant before a name: 「大家さんじゃないほうの田中さん」."""
        for found in _not_that_one().finditer(text):
            for begin in range(found.start("of"), found.end("of")):
                names = text[begin : found.end("of")], text[begin : found.end("called")]
                owners = {owner for of in names for owner in (*related(of), *self._parts.get(of, ()))}
                if owners:
                    size = found.end() - begin
                    return Banked(text[:begin] + text[found.end() :], begin, size, self._everyone - owners)
        return None


def _fold(text: str) -> str:
    """The text, a character a character: width folded, hiragana as katakana."""
    if unicodedata.is_normalized("NFKC", text):
        return text.translate(TO_KATAKANA)
    each = (unicodedata.normalize("NFKC", char) for char in text)
    return "".join(one if len(one) == 1 else char for one, char in zip(each, text, strict=True)).translate(TO_KATAKANA)


def _of(text: str, begin: int, end: int) -> bool:
    """Whether a name stands behind 「の」, and ends where a particle or an honorific begins."""
    return text[begin - 1] == "の" and (_ends().match(text, end) or _endings().match(text, end)) is not None


@lru_cache(maxsize=1)
def _ends() -> re.Pattern[str]:
    return re.compile(f"{_any_of(japanese_finder().payee_particles)}|{_any_of(japanese_finder().other_particles)}|$")


def _any_of(words: Sequence[str]) -> str:
    return "|".join(map(re.escape, words))


def _owners(having: Mapping[int, Collection[str]], of: str, related: Callable[[str], Collection[int]]) -> list[int]:
    """Of the owners of a given name, each with its families, those whose family or relationship is `of`."""
    return [owner for owner, families in having.items() if of in families or owner in related(of)]


@lru_cache(maxsize=1)
def _parted() -> re.Pattern[str]:
    """A family name, or a relationship, apart from a given name."""
    rules = japanese_finder()
    between = f"(?:{_any_of(rules.parted_honorifics)})?(?:{_any_of(rules.parted_places)})?の"
    return re.compile(f"(?P<of>{_NAME}?){between}(?=(?P<given>{_NAME}))")


@lru_cache(maxsize=1)
def _not_that_one() -> re.Pattern[str]:
    """Who is not meant, before the name of who is."""
    rules = japanese_finder()
    denied, places = _any_of(rules.not_at_bank), _any_of(rules.parted_places)
    called = f"(?P<called>(?:{_any_of(rules.parted_honorifics)})?)"
    return re.compile(f"(?P<of>{_NAME}?){called}(?:{denied})(?:の?(?:{places}))?の(?={_NAME})")


@lru_cache(maxsize=1)
def _added_behind() -> re.Pattern[str]:
    """A given name, and behind a mark the family name or the relationship of whom is meant."""
    rules = japanese_finder()
    called, places = f"(?:{_any_of(rules.parted_honorifics)})?", _any_of(rules.parted_places)
    behind = f"(?:の?(?:{places})|の(?=[、。]|$))"
    return re.compile(
        f"(?<![{KANJI}ァ-ヺー])(?P<given>{_NAME}){called}(?:{places})?[、。]\\s*(?P<of>{_NAME}?){called}{behind}"
    )


@lru_cache(maxsize=1)
def _endings() -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, name_rules().honorifics)))


def _sayings(alias: str, readings: Mapping[str, tuple[str, ...]]) -> list[str]:
    """How an alias that ends like a name with an honorific may be written when heard; none for any other."""
    folded = japanese(alias)
    ending = next((end for end in name_rules().honorifics if folded.endswith(end) and folded != end), "")
    if not ending:
        return []
    stem = folded.removesuffix(ending).strip()
    read = kanji.readings(stem, readings) if has_kanji(stem) else ()
    return [stem.replace(" ", "") + ending, *("".join(parts) + ending for parts in read)]


def _bank_names(bank: str) -> tuple[str, ...]:
    """A bank's name with, without, and with a short form of what every bank is called: みなと信用金庫, みなと."""
    rules = japanese_finder()
    word = next((word for word in rules.bank_words if bank.endswith(word)), "")
    short = bank.removesuffix(word)
    heard = rules.bank_sounds.get(short)
    spoken = (heard, heard.translate(TO_KATAKANA)) if heard else ()
    ends = (word, *rules.bank_short.get(word, ()), "")
    each = [name + end for name in (short, *spoken) for end in ends]
    each += ends[:-1] if word and word != rules.bank_common else []
    return (bank, *dict.fromkeys(each)) if len(short) > 1 else (bank,)
