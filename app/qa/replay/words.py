"""Comparing what was said with what was heard: word and character errors after the same light normalisation."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

import jiwer

_PUNCTUATION = re.compile(r"[^\w\s'%$£€¥+]|_")
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Errors:
    """Edits against a reference of `length` tokens (words, or characters)."""

    edits: int
    length: int


def comparable(text: str, locale: str) -> str:
    """NFKC, lower case, no punctuation; Japanese without spaces."""
    plain = _PUNCTUATION.sub(" ", unicodedata.normalize("NFKC", text).casefold().replace("’", "'"))
    return _SPACES.sub("" if locale.startswith("ja") else " ", plain).strip()


@lru_cache(maxsize=65_536)
def word_errors(reference: str, heard: str, locale: str) -> Errors:
    """Word edits for languages with spaces; for Japanese the same as `character_errors`."""
    if locale.startswith("ja"):
        return character_errors(reference, heard, locale)
    said, got = comparable(reference, locale), comparable(heard, locale)
    if not said:
        return Errors(len(got.split()), 0)
    result = jiwer.process_words(said, got)
    return Errors(result.substitutions + result.deletions + result.insertions, len(said.split()))


@lru_cache(maxsize=65_536)
def character_errors(reference: str, heard: str, locale: str) -> Errors:
    """Character edits."""
    said, got = comparable(reference, locale), comparable(heard, locale)
    if not said:
        return Errors(len(got), 0)
    result = jiwer.process_characters(said, got)
    return Errors(result.substitutions + result.deletions + result.insertions, len(said))
