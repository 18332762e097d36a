"""Names spelled aloud: "N as in November, G, U", "en gee you", "double L", 朝日のア."""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from services.payees.data import spelling_rules

MIN_LETTERS: Final = 2
MAX_LETTERS: Final = 40


class Spelled(NamedTuple):
    """What was spelled, and what was said before and after it."""

    letters: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    single: bool
    """Whether only bare letters were said: then they may be initials."""


@lru_cache(maxsize=1)
def _letter_names() -> dict[str, str]:
    names = {name: letter for letter, said in spelling_rules().letters.items() for name in said}
    return names | {letter: letter for letter in spelling_rules().letters}


@lru_cache(maxsize=1)
def _openers() -> frozenset[str]:
    """Every word that a spelling may begin or go on with: fewer than two, and nothing was spelled."""
    rules = spelling_rules()
    return frozenset({*_letter_names(), *rules.alphabet, *rules.doubles, *rules.connectors})


def _letter(tokens: list[str], at: int) -> tuple[str, int]:
    """The letters that begin at a word, and how many words they took (0: none)."""
    rules, names = spelling_rules(), _letter_names()
    word = tokens[at]
    if word in rules.doubles:
        if at + 1 >= len(tokens):
            return "", 0
        letter, used = _letter(tokens, at + 1)
        return letter[:1] * rules.doubles[word] + letter[1:], used + 1 if used else 0
    letter = names.get(word, "")
    explained = _explained(tokens, at + 1)
    if letter and explained and explained[0] == letter:
        return letter, 1 + explained[1]
    if len(word) == 1 or letter:
        return letter, 1 if letter else 0
    return (rules.alphabet[word], 1) if word in rules.alphabet else ("", 0)


def _explained(tokens: list[str], at: int) -> tuple[str, int] | None:
    """What "as in November" stands for: its initial and its length in words."""
    end = at
    while end < len(tokens) and end - at < 2 and tokens[end] in spelling_rules().connectors:  # noqa: PLR2004 - "as in"
        end += 1
    if end == at or end >= len(tokens):
        return None
    return tokens[end][0], end - at + 1


def spelled(tokens: list[str]) -> Spelled | None:
    """The longest run of spoken letters among folded words, if it is long enough to be one."""
    if sum([token in _openers() for token in tokens]) < MIN_LETTERS:
        return None
    best: Spelled | None = None
    start = 0
    while start < len(tokens):
        place, letters, plain = start, "", 0
        while place < len(tokens) and len(letters) < MAX_LETTERS:
            letter, used = _letter(tokens, place)
            if not used:
                break
            plain += used == 1 and len(tokens[place]) == 1
            letters, place = letters + letter, place + used
        surely = plain >= MIN_LETTERS or place - start > len(letters) or len(letters) > MIN_LETTERS
        if len(letters) >= MIN_LETTERS and surely and (best is None or len(letters) > len(best.letters)):
            best = Spelled(letters, tuple(tokens[:start]), tuple(tokens[place:]), plain == len(letters))
        start = max(place, start + 1)
    return best


_KANA_SPELLED: Final = re.compile(r"[ァ-ヺー一-鿿]{2,6}?ノ([ァ-ヺ])(?=[ァ-ヺー一-鿿]{2,6}?ノ[ァ-ヺ]|、|\s|$)")


def spelled_kana(folded: str) -> str:
    """A reading spelled with the telephone alphabet (朝日のア、イロハのイ), or ""."""
    found = _KANA_SPELLED.findall(folded.replace(" ", ""))
    return "".join(found) if len(found) >= MIN_LETTERS else ""
