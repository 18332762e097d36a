"""Where a name may stand in an English utterance: "send fifty to my friend *shawn win* tomorrow"."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from services.payees.data import english_finder, relationship_starts, relationship_words, spelling_rules
from services.payees.fold import words
from services.payees.spans import MAX_PLACES, MAX_TEXT, Cue, Place

MAX_WORDS: Final = 6
"""Words of a name that are looked at."""
_MAX_PHRASE: Final = 4
"""Words of a relationship: "older brother in law"."""
_WORD: Final = re.compile(r"[^\s,.!?;:\"()]+(?:\.(?=[^\s]))?")
_SOFT: Final = frozenset({"common", "maybe"})
_IN_NAMES: Final = frozenset({*_SOFT, "free", "stop", "filler", "weak_lead"})
_DIGIT: Final = re.compile(r"[\d$£€¥%]")


class TaggedWord(NamedTuple):
    """A word of the utterance, folded, with its place and its part in finding names."""

    text: str
    start: int
    end: int
    kind: str
    """taken, denied, stop, common, maybe, lead, weak_lead, verb, filler, possessive, describer or free."""
    breaks: bool = False
    """Whether a comma or a stop comes before it."""


def _split(text: str, taken: Sequence[tuple[int, int]], known: Callable[[str], bool]) -> list[TaggedWord]:
    finder, related, found = english_finder(), relationship_words(), list[TaggedWord]()
    kinds = finder.kinds
    mixed = not text.islower() and not text.isupper() and not text.istitle()
    for match in _WORD.finditer(text[:MAX_TEXT]):
        start, end = match.span()
        surface = match[0]
        if surface.isascii() and surface.isalpha():  # as most are: nothing else is looked for in them
            folded, figures = surface.lower(), False
        else:
            if surface.lower().endswith(("'s", "’s")) and len(surface) > 3:  # noqa: PLR2004 - John's, not it's
                end -= 2
            folded, figures = "".join(words(text[start:end])), _DIGIT.search(surface) is not None
        if not folded:
            continue
        if figures or any(start < stop and end > begin for begin, stop in taken):
            kind = "taken"
        else:
            kind = kinds.get(folded, "free")
            written = mixed and surface[0].isupper() and folded not in finder.capital
            named = written and found and kind in {"stop", "common", "describer"}
            kind = "free" if named and (known(folded) or kind == "common") else kind
            if "-" in surface and folded in related:  # "my brother-in-law David"
                kind = "describer"
        breaks = bool(found) and not text[found[-1].end : start].isspace()
        found.append(TaggedWord(folded, start, end, kind, breaks))
    return _letters(_phrases(found))


def _phrases(found: list[TaggedWord]) -> list[TaggedWord]:
    """Relationships of several words become one: "brother in law"."""
    merged, place = list[TaggedWord](), 0
    begins = relationship_starts()
    if begins.isdisjoint([word.text for word in found]):
        return found
    while place < len(found):
        if found[place].text not in begins:
            merged.append(found[place])
            place += 1
            continue
        for size in range(min(_MAX_PHRASE, len(found) - place), 1, -1):
            words_of = found[place : place + size]
            joined = "".join([word.text for word in words_of])
            if min(len(word.text) for word in words_of) > 1 and joined in relationship_words():
                merged.append(words_of[0]._replace(text=joined, end=words_of[-1].end, kind="describer"))
                place += size
                break
        else:
            merged.append(found[place])
            place += 1
    return merged


def _denied(found: list[TaggedWord], named: Callable[[str], bool]) -> list[TaggedWord]:
    """Names that are not meant are no names: "not *emily*, priya", "priya instead of *emily*"."""
    if english_finder().denials.keys().isdisjoint([word.text for word in found]):
        return found
    marked = list(found)
    for place in range(len(found)):
        size = _denial(found, place)
        begin = place + size
        while size and begin < len(found) and found[begin].kind in {"filler", "lead", "possessive", "describer"}:
            begin += 1
        end = begin
        while size and end < len(found) and found[end].kind in {"free", "maybe"}:
            if end > begin and found[end].breaks:
                break
            end += 1
        for denied in range(place, _first_name(found, begin, end, named)) if end > begin else ():
            marked[denied] = marked[denied]._replace(kind="denied")
    return marked


def _denial(found: list[TaggedWord], place: int) -> int:
    """How many words of a denial begin here: "not", "instead of"."""
    for said in english_finder().denials.get(found[place].text, ()):
        if [word.text for word in found[place : place + len(said)]] == said:
            return len(said)
    return 0


def _first_name(found: list[TaggedWord], begin: int, end: int, named: Callable[[str], bool]) -> int:
    """Where the first of two names that follow each other without a pause ends; `end` where there is but one."""
    keys = ["".join([word.text for word in found[begin:stop]]) for stop in range(begin + 1, end + 1)]
    if not keys or named(keys[-1]):
        return end
    known = [stop for stop, key in enumerate(keys[:-1], start=begin + 1) if named(key)]
    return known[-1] if known else end


def _letters(found: list[TaggedWord]) -> list[TaggedWord]:
    """Words that spell a name are free: single letters side by side, and "n as in november"."""
    free: set[int] = set()
    connectors = spelling_rules().connectors
    for place, (left, right) in enumerate(pairwise(found)):
        if len(left.text) == 1 and len(right.text) == 1:
            free |= {place, place + 1}
    for place, word in enumerate(found):
        rest = found[place + 1 : place + 4]
        if not rest or rest[0].text not in connectors:
            continue
        for gap, other in enumerate(rest):
            if gap and other.text[0] == word.text and all(w.text in connectors for w in rest[:gap]):
                free |= set(range(place, place + gap + 2))
            if other.text not in connectors:
                break
    for place in free:
        found[place] = found[place]._replace(kind="free")
    return found


def _revived(found: list[TaggedWord], known: Callable[[str], bool]) -> list[TaggedWord]:
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


def _cue(found: list[TaggedWord], begin: int, *, paying: bool) -> tuple[Cue, str, int]:
    """What the words before a run say of it: the cue, a relationship named there, where the phrase begins."""
    place, relationship, possessive = begin, "", False
    while place and found[place - 1].kind in {"filler", "possessive", "describer"}:
        place -= 1
        possessive = possessive or found[place].kind == "possessive"
        relationship = relationship or relationship_words().get(found[place].text, "")
    before = found[place - 1].kind if place else ""
    if before == "verb" or (before == "lead" and paying):
        return Cue.PAYEE, relationship, place
    if before in {"lead", "weak_lead", "denied"} or possessive:
        return Cue.WEAK, relationship, place
    return (Cue.NONE if place or begin else Cue.ALONE), relationship, place


def _runs(found: list[TaggedWord]) -> list[tuple[int, int]]:
    runs, begin = [], -1
    for place, word in enumerate([*found, TaggedWord("", 0, 0, "stop")]):
        if word.kind == "free":
            begin = place if begin < 0 else begin
        elif begin >= 0:
            runs.append((begin, min(place, begin + MAX_WORDS)))
            begin = -1
    return runs


def _wider(found: list[TaggedWord], begin: int, end: int) -> tuple[int, int]:
    """A run with the everyday words around it, back to the word that leads to it: "to *she von murphy*"."""
    first, last = begin, end
    while first and found[first - 1].kind in _SOFT and end - first < MAX_WORDS:
        first -= 1
    while last < len(found) and found[last].kind in {*_SOFT, "free"} and last - first < MAX_WORDS:
        last += 1
    led = first and found[first - 1].kind in {"lead", "verb", "weak_lead", "describer"}
    return (first if led else begin), last


def _related(found: list[TaggedWord], *, paying: bool) -> list[Place]:
    """Relationships said as names: "my landlord", and "mom" where a payee is due."""
    for place, word in enumerate(found):
        if word.text not in relationship_words() or (place + 1 < len(found) and found[place + 1].kind == "free"):
            continue
        mine = place > 0 and found[place - 1].kind == "possessive"
        if _denial(found, place - 1 - mine):
            continue
        begin = place - (place > 0 and found[place - 1].text in english_finder().articles)
        cue, _, _ = _cue(found, begin, paying=paying)
        led = 0 < begin < place and found[begin - 1].kind == "lead"  # "to the landlord"
        if mine or led or cue is Cue.PAYEE or len(found) == 1:
            return [Place(found[place - mine].start, word.end, cue if cue is not Cue.NONE else Cue.WEAK)]
    return []


def places(
    text: str,
    taken: Sequence[tuple[int, int]],
    known: Callable[[str], bool] = lambda _: False,
    named: Callable[[str], bool] = lambda _: False,
) -> list[Place]:
    """Places where a name may stand, likeliest first.

    `known` tells whether a word stands in the book's names, `named` whether joined words are a name or a part of one.
    Who is said not to be meant is found only where nobody else is, and never chosen.
    """
    revived = _revived(_split(text, taken, known), known)
    marked = _denied(revived, named)
    meant = _places(marked)
    return meant if meant or marked is revived else [place._replace(narrow=True) for place in _places(revived)]


def _places(found: list[TaggedWord]) -> list[Place]:
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
    candidates.extend(_last(found, paying=paying))
    if not any(place.cue is Cue.PAYEE for place in candidates):
        candidates.extend(_everyday(found, paying=paying))
    unique = {(place.start, place.end): place for place in sorted(candidates, key=lambda place: place.cue)}
    return sorted(unique.values(), key=lambda place: -place.cue)[:MAX_PLACES]


def windows(text: str, named: Callable[[str], bool]) -> Iterator[Place]:
    """Whole names of two to six words, longest first, wherever they stand: they may be made of everyday words."""
    found = _split(text, (), lambda _: False)
    told = [word.text for word in found]
    for size in range(min(MAX_WORDS, len(found)), 1, -1):
        for begin in range(len(found) - size + 1):
            if named("".join(told[begin : begin + size])):
                stretch = _denied([word._replace(kind="free") for word in found], named)[begin : begin + size]
                if all(word.kind != "denied" for word in stretch):
                    yield Place(stretch[0].start, stretch[-1].end, Cue.NONE)


def _last(found: list[TaggedWord], *, paying: bool) -> list[Place]:
    """All that comes after the last word that leads to a payee, everyday words too: "send fifty to *just davies*"."""
    begin = next((place + 1 for place in range(len(found) - 1, -1, -1) if found[place].kind == "lead"), 0)
    kinds = {word.kind for word in found[begin:]}
    if not paying or not begin or len(found) - begin > MAX_WORDS or not {"free"} < kinds <= _IN_NAMES:
        return []
    return [Place(found[begin].start, found[-1].end, Cue.WEAK)]


def _everyday(found: list[TaggedWord], *, paying: bool) -> list[Place]:
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
