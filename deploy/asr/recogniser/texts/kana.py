"""The phones of Japanese in katakana, in flite's names (kana.yaml)."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from recogniser.voices.segment import PAUSE

TABLE = Path(__file__).parent / "kana.yaml"
_KANA = re.compile("[ァ-ヺ]")


def written_in(text: str) -> bool:
    """Whether a text is in katakana."""
    return bool(_KANA.search(text))


def words(text: str) -> list[list[str]]:
    """Phones of each word of a text with spaces between words; KeyError for what is no katakana."""
    return [_word(word) for word in text.split()]


def phones(text: str) -> list[str]:
    """All of them, with a pause before and behind, and none beside another."""
    said = [phone for word in words(text) for phone in word]
    behind = [*said[1:], PAUSE]
    return [PAUSE, *(phone for phone, after in zip(said, behind, strict=True) if {phone, after} != {PAUSE}), PAUSE]


def _word(word: str) -> list[str]:
    """A long vowel is said twice, and so is a consonant after its sign; one that nothing follows is not said."""
    told = _read()
    out: list[str] = []
    doubled = False
    at = 0
    while at < len(word):
        size = 2 if word[at : at + 2] in signs() else 1
        sign = word[at : at + size]
        at += size
        if sign == told["double"]:
            doubled = True
            continue
        said = out[-1:] if sign == told["long"] else [*signs()[sign]]
        out += said[:1] * doubled + said
        doubled = False
    return out


@cache
def _read() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(TABLE.read_text(encoding="utf-8"))
    return read


@cache
def signs() -> dict[str, tuple[str, ...]]:
    """The phones of each sign."""
    told = _read()
    found = {
        sign: (*before.split(), vowel)
        for before, signs in told["rows"].items()
        for sign, vowel in zip(signs, told["vowels"], strict=True)
        if sign
    }
    return found | {sign: tuple(said.split()) for sign, said in told["signs"].items()}
