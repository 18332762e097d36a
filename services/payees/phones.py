"""How Latin words sound, as strings of two characters a phone: its class, then its detail.

Two phones of one class differ in one character of two, so an edit distance over these strings is a graded distance
over sounds: "t" and "d" are half alike, "t" and "k" are not.
"""

import lzma
import re
from functools import lru_cache
from typing import Final

from rules.kept import kept
from rules.load import load_table, read

MAX_WORD: Final = 32
"""Letters of a word that are read; names are shorter."""
MAX_SAYINGS: Final = 3
_VOWEL: Final = "V"


@lru_cache(maxsize=1)
def _codes() -> dict[str, str]:
    codes = {phone: kind + detail for phone, kind, detail, _ in load_table("payees/phones.tsv")[1]}
    return codes | {"ER": codes["AH"] + codes["R"]}


@lru_cache(maxsize=128)
def code(phone: str) -> str:
    """The two (for ER: four) characters of an ARPAbet phone."""
    return _codes()[phone]


@lru_cache(maxsize=1)
def _letters() -> dict[str, tuple[re.Pattern[str], tuple[str, ...]]]:
    """For each letter one alternation of its rules, and what the n-th of them sounds like."""
    rules: dict[str, list[tuple[str, str]]] = {}
    for row in load_table("payees/letters.tsv")[1]:
        pattern, sounds = row[0], row[1] if len(row) > 1 else ""
        rules.setdefault(pattern.lstrip("^")[0], []).append((pattern, "".join(code(p) for p in sounds.split())))
    return {
        letter: (re.compile("|".join(f"({pattern})" for pattern, _ in each)), tuple(s for _, s in each))
        for letter, each in rules.items()
    }


@lru_cache(maxsize=32_768)
def by_letters(word: str) -> str:
    """Phones by spelling rules alone; characters other than a–z are silent."""
    rules, sounds, place = _letters(), [], 0
    word = word[:MAX_WORD]
    while place < len(word):
        rule = rules.get(word[place])
        found = rule[0].match(word, place) if rule else None
        if rule is None or found is None:
            place += 1
            continue
        sounds.append(rule[1][(found.lastindex or 1) - 1])
        place = found.end()
    return "".join(sounds)


@lru_cache(maxsize=1)
def _respelled() -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for name, *sayings in load_table("payees/respellings.tsv")[1]:
        said = tuple("".join(_plain(word) for word in saying.split()) for saying in sayings)
        table[name] = (*table.get(name, ()), *(s for s in said if s not in table.get(name, ())))
    return table


@lru_cache(maxsize=1)
def lexicon() -> dict[str, str]:
    """Word → phones, for the words that spelling rules get wrong."""
    return kept("phones", _unpacked)


def _unpacked() -> dict[str, str]:
    _, _, letters, *entries = lzma.decompress(read("payees/lexicon.xz")).decode("ascii").splitlines()
    codes = {ord(pair[0]): code(pair[2:]) for pair in letters.split()}
    return {word: sounds.translate(codes) for word, _, sounds in (entry.partition(" ") for entry in entries)}


def _plain(word: str) -> str:
    return lexicon().get(word) or by_letters(word)


@lru_cache(maxsize=32_768)
def sayings(word: str) -> tuple[str, ...]:
    """The ways a folded word is said, likeliest first; at least one, at most three."""
    special = _respelled().get(word)
    if special is None:
        return (_plain(word),)
    return special[:MAX_SAYINGS]


@lru_cache(maxsize=1)
def _features() -> dict[str, str]:
    return {kind + detail: features for _, kind, detail, features in load_table("payees/phones.tsv")[1]}


@lru_cache(maxsize=32_768)
def features(sound: str) -> str:
    """The features of a sound, one character each: a recogniser that does not know a name keeps most of them."""
    table = _features()
    return "".join([table[sound[at : at + 2]] for at in range(0, len(sound), 2)])


@lru_cache(maxsize=32_768)
def consonants(sound: str) -> str:
    """The classes of the consonants of a sound: in Japanese, where every name has vowels, these tell more."""
    return "".join([kind for kind in sound[::2] if kind != _VOWEL])
