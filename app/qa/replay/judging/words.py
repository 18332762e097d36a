"""Comparing what was said with what was heard: word and character errors, as written, and after our normalization."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import jiwer

from rules.bank import demo_customers
from rules.load import RuleFile, load
from schemas.errors import UnsupportedLocale
from schemas.span import Span, SpanKind, jsonable
from services.normalization import Normalizer

_PUNCTUATION = re.compile(r"[^\w\s'%$£€¥+]|_")
_SPACES = re.compile(r"\s+")
_AMOUNTS: Final = frozenset({SpanKind.MONEY, SpanKind.NUMBER, SpanKind.PERCENT})
NAME, AMOUNT, DIGITS = "names", "amounts", "digits"
KINDS: Final = (NAME, AMOUNT, DIGITS)
"""Kinds of words that are counted apart."""


@dataclass(frozen=True, slots=True)
class Errors:
    """Edits against a reference of `length` tokens (words, or characters), and of which sort they are."""

    edits: int
    length: int
    substitutions: int = 0
    deletions: int = 0
    insertions: int = 0


@dataclass(frozen=True, slots=True)
class NormalizedErrors:
    """A turn's hearing after normalization: errors, what was taken for what, and errors by the kind of word.

    In `misheard` an empty word stands for none: (said, "") was lost, ("", heard) was added.
    """

    errors: Errors
    misheard: tuple[tuple[str, str], ...]
    by_kind: dict[str, Errors]


class SpellingVariants(RuleFile):
    """rules/qa/spelling.yaml: by language, spellings of one word; the first of a line stands for all."""

    same: dict[str, tuple[tuple[str, ...], ...]]


def comparable(text: str, locale: str) -> str:
    """NFKC, lower case, no punctuation; Japanese without spaces."""
    plain = _PUNCTUATION.sub(" ", unicodedata.normalize("NFKC", text).casefold().replace("’", "'"))
    return _SPACES.sub("" if spaceless(locale) else " ", plain).strip()


def spaceless(locale: str) -> bool:
    """Whether words of a locale are not parted by spaces, so that characters are counted."""
    return locale.startswith("ja")


@lru_cache(maxsize=65_536)
def word_errors(reference: str, heard: str, locale: str) -> Errors:
    """Word edits for languages with spaces; for Japanese the same as `character_errors`."""
    if spaceless(locale):
        return character_errors(reference, heard, locale)
    return _word_edits(comparable(reference, locale), comparable(heard, locale))


def _word_edits(said: str, got: str) -> Errors:
    if not said:
        return Errors(len(got.split()), 0, insertions=len(got.split()))
    return _counted(jiwer.process_words(said, got), len(said.split()))


@lru_cache(maxsize=65_536)
def character_errors(reference: str, heard: str, locale: str) -> Errors:
    """Character edits."""
    said, got = comparable(reference, locale), comparable(heard, locale)
    if not said:
        return Errors(len(got), 0, insertions=len(got))
    return _counted(jiwer.process_characters(said, got), len(said))


def _counted(result: Any, length: int) -> Errors:
    edits = result.substitutions + result.deletions + result.insertions
    return Errors(edits, length, result.substitutions, result.deletions, result.insertions)


@lru_cache(maxsize=65_536)
def hearing(reference: str, heard: str, locale: str, payee: str | None = None) -> NormalizedErrors:
    """The errors that are left once both are written one way: $20 is twenty dollars, colour is color.

    `payee` is the id of the one who is named, by whose names the words are known that are names.
    """
    said, got = tokens(reference, locale, payee), tokens(heard, locale)
    words, others = [word for word, _ in said], [word for word, _ in got]
    if not words:
        return NormalizedErrors(
            Errors(len(others), 0, insertions=len(others)), tuple(("", word) for word in others), {}
        )
    result = jiwer.process_words(" ".join(words), " ".join(others))
    wrong: dict[int, str] = {}
    misheard: list[tuple[str, str]] = []
    for chunk in result.alignments[0]:
        if chunk.type == "equal":
            continue
        before, after = range(chunk.ref_start_idx, chunk.ref_end_idx), range(chunk.hyp_start_idx, chunk.hyp_end_idx)
        wrong |= dict.fromkeys(before, chunk.type)
        if chunk.type == "substitute":
            misheard += [(words[i], others[j]) for i, j in zip(before, after, strict=True)]
        else:
            misheard += [(words[i], "") for i in before] + [("", others[j]) for j in after]
    return NormalizedErrors(_counted(result, len(words)), tuple(misheard), _by_kind([kind for _, kind in said], wrong))


def _by_kind(kinds: list[str], wrong: dict[int, str]) -> dict[str, Errors]:
    found = {}
    for kind in KINDS:
        places = [i for i, name in enumerate(kinds) if name == kind]
        if places:
            lost = sum(wrong.get(i) == "delete" for i in places)
            edits = sum(i in wrong for i in places)
            found[kind] = Errors(edits, len(places), edits - lost, lost, 0)
    return found


@lru_cache(maxsize=65_536)
def tokens(text: str, locale: str, payee: str | None = None) -> tuple[tuple[str, str], ...]:
    """The words (characters in Japanese) of a text, each with its kind; a typed expression is one word, its value."""
    names = _name_words(payee, locale) if payee else frozenset()
    found: list[tuple[str, str]] = []
    at = 0
    for span in _spans(text, locale):
        found += _plain(text[at : span.start], locale, names)
        found += _valued(span, locale)
        at = span.end
    return (*found, *_plain(text[at:], locale, names))


def _spans(text: str, locale: str) -> tuple[Span, ...]:
    try:
        return Normalizer.for_locale(locale).normalize(text)
    except UnsupportedLocale:
        return ()


def _valued(span: Span, locale: str) -> Iterator[tuple[str, str]]:
    kind = DIGITS if span.kind is SpanKind.DIGITS else AMOUNT if span.kind in _AMOUNTS else ""
    value = jsonable(span.value)
    said = "".join(str(v) for v in value.values() if v is not None) if isinstance(value, dict) else str(value)
    if spaceless(locale) or kind == DIGITS:
        for character in said:
            yield character, kind
    else:
        yield said, kind


def _plain(text: str, locale: str, names: frozenset[str]) -> Iterator[tuple[str, str]]:
    plain, same = comparable(text, locale), _same(locale[:2])
    for word in plain if spaceless(locale) else plain.split():
        kind = NAME if word in names or word.removesuffix("'s") in names else ""
        for part in same.get(word, word).split():
            yield part, kind


@lru_cache(maxsize=16)
def _same(language: str) -> dict[str, str]:
    lines = load("qa/spelling.yaml", SpellingVariants).same.get(language, ())
    return {other: first for first, *others in lines for other in others}


@lru_cache(maxsize=4_096)
def _name_words(payee: str, locale: str) -> frozenset[str]:
    """The words by which a payee of the demo bank is named; in Japanese the characters."""
    texts = [
        text
        for customer in demo_customers()
        for known in customer.payees
        if known.id == payee
        for text in (known.name, known.kana, *known.aliases)
    ]
    plain = [comparable(text, locale) for text in texts]
    return frozenset(word for text in plain for word in (text if spaceless(locale) else text.split()))
