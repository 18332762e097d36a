"""A prepared text in clauses: what is synthesised in one go, so that the first sound leaves before the rest is made."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from schemas.ids import Locale, language
from services.speech.engine import GOES_ON, RUNS_ON
from services.speech.rules import Cuts, cuts
from services.speech.text import again, prepare


@dataclass(frozen=True, slots=True)
class SpeechClause:
    """`words` are spoken in one go; `end` characters of the text have been said when they are over."""

    words: str
    end: int


def clauses(text: str, locale: Locale) -> tuple[SpeechClause, ...]:
    """The clauses of a text; the last one ends where the text does. None where there is nothing to be said.

    What opens a sentence is a clause that ends where the sentence begins; what is said once more, where it ends.
    """
    where = cuts(language(locale))
    found = [clause for clause in _said(text, locale, where) if any(map(str.isalnum, clause.words))]
    if found:
        found[-1] = SpeechClause(found[-1].words, len(text))
    return tuple(found)


def _said(text: str, locale: Locale, where: Cuts) -> Iterator[SpeechClause]:
    """All clauses, each sentence's behind what opens it, and followed by what is said of it once more."""
    begun, first = 0, True
    for clause in _cut(text, locale, where):
        if first:
            yield SpeechClause(_opening(text, begun, where), begun)
        yield clause
        first = clause.end > begun and (clause.end == len(text) or text[clause.end - 1] in where.sentence)
        if first:
            yield SpeechClause(again(text[begun : clause.end], locale), clause.end)
            begun = clause.end


def _opening(text: str, begun: int, where: Cuts) -> str:
    return next((words for words, how in where.openings.items() if re.compile(how).match(text, begun)), "")


def _cut(text: str, locale: Locale, where: Cuts) -> Iterator[SpeechClause]:
    """Cut after marks between what rules have read: never inside an amount, a date or a string of digits.

    Nor right behind one, but for a sentence's end: the last sound before a cut is the weakest. A sentence with a lead
    is cut where its parts begin instead.
    """
    words, begun, figure, (inner, led) = "", 0, -1, _inner(text, where)
    for said in prepare(text, locale):
        pieces = [(said.start, said.words)] if said.read else enumerate(said.words, start=said.start)
        for at, piece in pieces:
            if at in inner:
                yield SpeechClause(_going_on(words.strip(), where, GOES_ON), at)
                words, begun = "", at
            words += piece
            if said.read:
                *parts, words = re.split(where.within, words) if where.within and at in led else [words]
                yield from (SpeechClause(_going_on(part.strip(), where, RUNS_ON), at) for part in parts)
                figure = said.end
            elif _ends(text, at, begun, where) and (at != figure or text[at] in where.sentence):
                yield SpeechClause(words.strip(), at + 1)
                words, begun = "", at + 1
    yield SpeechClause(words.strip(), len(text))


def _going_on(words: str, where: Cuts, mark: str) -> str:
    return words if words[-1:] in where.pause else f"{words} {mark}"


def _inner(text: str, where: Cuts) -> tuple[frozenset[int], frozenset[int]]:
    """Where sentences that have a lead are cut inside: behind that and at each of their parts; and all of them."""
    found: set[int] = set()
    led: set[int] = set()
    stop = f"[{re.escape(where.sentence)}]"
    for lead in re.finditer(rf"(?:^|(?<={stop})\s?)(?P<lead>{'|'.join(where.lead)})", text) if where.lead else ():
        end = re.compile(rf"{stop}(?:\s|$)" if where.blank else stop).search(text, lead.end())
        until = end.start() if end else len(text)
        found.update(part.start() for part in re.compile(where.parts).finditer(text, lead.end() + 1, until))
        found.update({lead.end()} if lead["lead"] else ())
        led.update(range(lead.end(), until))
    return frozenset(found), frozenset(led)


def _ends(text: str, at: int, begun: int, where: Cuts) -> bool:
    after = text[at + 1 : at + 2]
    if where.blank and after and not after.isspace():
        return False
    if text[at] in where.sentence:
        return after not in where.sentence or not after
    least = where.least if begun else where.first
    return text[at] in where.pause and at + 1 - begun >= least and len(text) - at >= where.least
