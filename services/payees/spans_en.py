"""Where a name may stand in an English utterance: "send fifty to my friend *shawn win* tomorrow"."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from services.payees.data import english_finder, relationship_words, spelling_rules
from services.payees.fold import words
from services.payees.spans import MAX_PLACES, MAX_TEXT, Cue, Place

MAX_WORDS: Final = 6
"""Words of a name that are looked at."""
_WORD: Final = re.compile(r"[^\s,.!?;:\"()]+(?:\.(?=[^\s]))?")
_SOFT: Final = frozenset({"common", "maybe"})
_DIGIT: Final = re.compile(r"[\d$£€¥%]")


class Word(NamedTuple):
    """A word of the utterance, folded, with its place and its part in finding names."""

    text: str
    start: int
    end: int
    kind: str
    """taken, stop, common, maybe, lead, weak_lead, verb, filler, possessive, describer or free."""


def _split(text: str, taken: Sequence[tuple[int, int]], known: Callable[[str], bool]) -> list[Word]:
    kinds, found = english_finder().kinds, list[Word]()
    mixed = not text.islower() and not text.isupper() and not text.istitle()
    for match in _WORD.finditer(text[:MAX_TEXT]):
        start, end = match.span()
        surface = match[0]
        if surface.lower().endswith(("'s", "’s")) and len(surface) > 3:  # noqa: PLR2004 - John's, not it's
            end -= 2
        folded = "".join(words(text[start:end]))
        if not folded:
            continue
        if any(start < stop and end > begin for begin, stop in taken) or _DIGIT.search(surface):
            kind = "taken"
        else:
            kind = kinds.get(folded, "free")
            named = kind in {"stop", "common", "describer"} and mixed and surface[0].isupper() and found
            kind = "free" if named and (known(folded) or kind == "common") else kind
        found.append(Word(folded, start, end, kind))
    return _letters(found)


def _letters(found: list[Word]) -> list[Word]:
    """Words that spell a name are free: single letters side by side, and "n as in november"."""
    free: set[int] = set()
    connectors = spelling_rules().connectors
    for place, (left, right) in enumerate(pairwise(found)):
        if len(left.text) == 1 and len(right.text) == 1:
            free |= {place, place + 1}
    for place, word in enumerate(found):
        rest = found[place + 1 : place + 4]
        for gap, other in enumerate(rest):
            if gap and other.text[0] == word.text and all(w.text in connectors for w in rest[:gap]):
                free |= set(range(place, place + gap + 2))
            if other.text not in connectors:
                break
    return [word._replace(kind="free") if place in free else word for place, word in enumerate(found)]


def _revived(found: list[Word], known: Callable[[str], bool]) -> list[Word]:
    """Everyday words that stand in this book's names may belong to one beside a name, and do where one is due."""
    revived = list(found)
    for place, word in enumerate(found):
        if word.kind not in {"stop", "common", "verb", "filler"} or not known(word.text):
            continue
        before = revived[place - 1].kind if place else ""
        if word.kind != "filler" and before in {"lead", "verb", "describer"}:
            revived[place] = word._replace(kind="free")
        elif word.kind != "common":
            revived[place] = word._replace(kind="maybe")
    return revived


def _cue(found: list[Word], begin: int, *, paying: bool) -> tuple[Cue, str, int]:
    """What the words before a run say of it: the cue, a relationship named there, where the phrase begins."""
    place, relationship, possessive = begin, "", False
    while place and found[place - 1].kind in {"filler", "possessive", "describer"}:
        place -= 1
        possessive = possessive or found[place].kind == "possessive"
        relationship = relationship or relationship_words().get(found[place].text, "")
    before = found[place - 1].kind if place else ""
    if before == "verb" or (before == "lead" and paying):
        return Cue.PAYEE, relationship, place
    if before in {"lead", "weak_lead"} or possessive:
        return Cue.WEAK, relationship, place
    return (Cue.NONE if place or begin else Cue.ALONE), relationship, place


def _runs(found: list[Word]) -> list[tuple[int, int]]:
    runs, begin = [], -1
    for place, word in enumerate([*found, Word("", 0, 0, "stop")]):
        if word.kind == "free":
            begin = place if begin < 0 else begin
        elif begin >= 0:
            runs.append((begin, min(place, begin + MAX_WORDS)))
            begin = -1
    return runs


def _wider(found: list[Word], begin: int, end: int) -> tuple[int, int]:
    """A run with the everyday words around it, back to the word that leads to it: "to *she von murphy*"."""
    first, last = begin, end
    while first and found[first - 1].kind in _SOFT and end - first < MAX_WORDS:
        first -= 1
    while last < len(found) and found[last].kind in {*_SOFT, "free"} and last - first < MAX_WORDS:
        last += 1
    led = first and found[first - 1].kind in {"lead", "verb", "weak_lead", "describer"}
    return (first if led else begin), last


def _related(found: list[Word], *, paying: bool) -> list[Place]:
    """Relationships said as names: "my landlord", and "mom" where a payee is due."""
    table, places = relationship_words(), []
    for place, word in enumerate(found):
        two = table.get(word.text + found[place + 1].text) if place + 1 < len(found) else None
        last = place + 1 if two else place
        if not (two or table.get(word.text)) or (last + 1 < len(found) and found[last + 1].kind == "free"):
            continue
        cue, _, _ = _cue(found, place, paying=paying)
        mine = place > 0 and found[place - 1].kind == "possessive"
        if mine or cue is Cue.PAYEE or len(found) == last + 1 - place:
            start = found[place - 1].start if mine else word.start
            places.append(Place(start, found[last].end, cue if cue is not Cue.NONE else Cue.WEAK))
    return places[:1]


def places(text: str, taken: Sequence[tuple[int, int]], known: Callable[[str], bool] = lambda _: False) -> list[Place]:
    """Places where a name may stand, likeliest first. `known` tells whether a word is a name in the book."""
    found = _revived(_split(text, taken, known), known)
    paying = any(word.kind == "verb" for word in found)
    candidates: list[Place] = []
    for begin, end in _runs(found):
        cue, relationship, _ = _cue(found, begin, paying=paying)
        others = [word for word in found if word.kind not in {"filler", "free"}]
        if cue is Cue.NONE and not others:
            cue = Cue.ALONE
        candidates.append(Place(found[begin].start, found[end - 1].end, cue, relationship=relationship))
        first, last = _wider(found, begin, end)
        if (first, last) != (begin, end):
            candidates[-1] = candidates[-1]._replace(narrow=True)
            candidates.append(Place(found[first].start, found[last - 1].end, cue, relationship=relationship))
    candidates.extend(_related(found, paying=paying))
    if not any(place.cue is Cue.PAYEE for place in candidates):
        candidates.extend(_everyday(found, paying=paying))
    unique = {(place.start, place.end): place for place in sorted(candidates, key=lambda place: place.cue)}
    return sorted(unique.values(), key=lambda place: -place.cue)[:MAX_PLACES]


def windows(text: str) -> Iterator[tuple[str, Place]]:
    """Every stretch of two to six words, longest first, as a joined key: a whole name may be made of everyday words."""
    found = [(folded, match.span()) for match in _WORD.finditer(text[:MAX_TEXT]) for folded in words(match[0])]
    for size in range(min(MAX_WORDS, len(found)), 1, -1):
        for begin in range(len(found) - size + 1):
            stretch = found[begin : begin + size]
            yield "".join(word for word, _ in stretch), Place(stretch[0][1][0], stretch[-1][1][1], Cue.NONE)


def _everyday(found: list[Word], *, paying: bool) -> list[Place]:
    """Everyday words where a payee is due: "send fifty to *when* tomorrow" may be a Nguyen."""
    for place, word in enumerate(found):
        if word.kind not in _SOFT or not place or found[place - 1].kind not in {"lead", "verb"}:
            continue
        cue, _, _ = _cue(found, place, paying=paying)
        end = place
        while end < len(found) and found[end].kind in {*_SOFT, "free"} and end - place < MAX_WORDS:
            end += 1
        if cue is Cue.PAYEE:
            return [Place(word.start, found[end - 1].end, cue, common=True)]
    return []
