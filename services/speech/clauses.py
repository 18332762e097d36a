"""A prepared text in clauses: what is synthesised in one go, so that the first sound leaves before the rest is made."""

from collections.abc import Iterator
from dataclasses import dataclass

from schemas.ids import Locale, language
from services.speech.rules import Cuts, cuts
from services.speech.text import again, prepare


@dataclass(frozen=True, slots=True)
class SpeechClause:
    """`words` are spoken in one go; `end` characters of the text have been said when they are over."""

    words: str
    end: int


def clauses(text: str, locale: Locale) -> tuple[SpeechClause, ...]:
    """The clauses of a text; the last one ends where the text does. None where there is nothing to be said.

    What is said once more behind a sentence is a clause that ends where the sentence does.
    """
    where = cuts(language(locale))
    found = [clause for clause in _said(text, locale, where) if any(map(str.isalnum, clause.words))]
    if found:
        found[-1] = SpeechClause(found[-1].words, len(text))
    return tuple(found)


def _said(text: str, locale: Locale, where: Cuts) -> Iterator[SpeechClause]:
    """All clauses, each sentence's followed by what is said of it once more."""
    begun = 0
    for clause in _cut(text, locale, where):
        yield clause
        if clause.end == len(text) or text[clause.end - 1] in where.sentence:
            yield SpeechClause(again(text[begun : clause.end], locale), clause.end)
            begun = clause.end


def _cut(text: str, locale: Locale, where: Cuts) -> Iterator[SpeechClause]:
    """Cut after marks between what rules have read: never inside an amount, a date or a string of digits.

    Nor right behind one, but for a sentence's end: the last sound before a cut is the weakest.
    """
    words, begun, figure = "", 0, -1
    for said in prepare(text, locale):
        if said.read:
            words, figure = words + said.words, said.end
            continue
        for at, character in enumerate(said.words, start=said.start):
            words += character
            if _ends(text, at, begun, where) and (at != figure or text[at] in where.sentence):
                yield SpeechClause(words.strip(), at + 1)
                words, begun = "", at + 1
    yield SpeechClause(words.strip(), len(text))


def _ends(text: str, at: int, begun: int, where: Cuts) -> bool:
    after = text[at + 1 : at + 2]
    if where.blank and after and not after.isspace():
        return False
    if text[at] in where.sentence:
        return after not in where.sentence or not after
    least = where.least if begun else where.first
    return text[at] in where.pause and at + 1 - begun >= least and len(text) - at >= where.least
