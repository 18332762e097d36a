"""Text preparation: a reply in words that an engine can't misread, and where in the reply each of them stands.

Pure: the same text and locale give the same words. What an engine would have to guess (amounts, dates, times, digits,
currencies, abbreviations, names with a reading) is put into words here; all else is left as it is written.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from schemas.ids import Locale, language
from services.speech.readers_en import english_readers
from services.speech.readers_ja import japanese_readers, said_again
from services.speech.reading import Reader

MAX_CHARS: Final = 2400
"""No text is longer; what is cut off is not spoken."""

_NARROW: Final = {
    wide: narrow
    for narrow, wide in zip(range(0x21, 0x7F), range(0xFF01, 0xFF5F), strict=True)
    if chr(narrow) in "%$+,-./0123456789:"
}
"""Figures and their signs are read in either width."""


@dataclass(frozen=True, slots=True)
class SpokenForm:
    """`words` are said for `text[start:end]`; `read` where a rule made them, so that they are never cut apart."""

    start: int
    end: int
    words: str
    read: bool


def prepare(text: str, locale: Locale) -> tuple[SpokenForm, ...]:
    """What is said for `text`, from its first character to its last, without gap or overlap."""
    text = _narrow(text)
    return tuple(_filled(text, _read(text, _readers(locale))))


def spoken(text: str, locale: Locale) -> str:
    """`text` in words, in one string."""
    return "".join(said.words for said in prepare(text, locale))


def again(sentence: str, locale: Locale) -> str:
    """What is said once more behind a sentence, in words that stand nowhere in the text; mostly nothing."""
    return said_again(_narrow(sentence)) if language(locale) == "ja" else ""


def _narrow(text: str) -> str:
    return text[:MAX_CHARS].translate(_NARROW)


@lru_cache(maxsize=16)
def _readers(locale: Locale) -> Sequence[Reader]:
    match language(locale):
        case "en":
            return english_readers(locale)
        case "ja":
            return japanese_readers()
        case _:  # a language without rules of its own is left to the engine
            return ()


def _read(text: str, readers: Sequence[Reader]) -> Iterator[SpokenForm]:
    """What rules read, left to right: the leftmost form, and of several there the one that comes first in order."""
    at = 0
    nearest: list[re.Match[str] | None] = [pattern.search(text) for pattern, _ in readers]
    while True:
        for index, found in enumerate(nearest):
            if found is not None and found.start() < at:
                nearest[index] = readers[index][0].search(text, at)
        starts = [(found.start(), index) for index, found in enumerate(nearest) if found is not None]
        if not starts:
            return
        start, index = min(starts)
        found = nearest[index]
        assert found is not None
        words = readers[index][1](found)
        if words is None:
            nearest[index] = readers[index][0].search(text, start + 1)
            continue
        yield SpokenForm(start, found.end(), words, read=True)
        at = found.end()


def _filled(text: str, found: Iterator[SpokenForm]) -> Iterator[SpokenForm]:
    at = 0
    for said in found:
        if said.start > at:
            yield SpokenForm(at, said.start, text[at : said.start], read=False)
        yield said
        at = said.end
    if at < len(text):
        yield SpokenForm(at, len(text), text[at:], read=False)
