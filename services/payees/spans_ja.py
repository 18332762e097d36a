"""Where a name may stand in a Japanese utterance: 「*タナカさん*に五千円振り込んで」."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from services.payees.data import fold_word, japanese_finder, relationship_words
from services.payees.fold import KANJI, japanese
from services.payees.spans import MAX_PLACES, MAX_TEXT, Cue, Place

MAX_NAME: Final = 24
_FARTHEST: Final = 3 * MAX_NAME
"""Characters before the end of a name in which it is looked for: there are marks around it, and words before it."""
_NAME_CHAR: Final = re.compile(f"[{KANJI}ぁ-ゖァ-ヺーｦ-ﾟ・A-Za-zＡ-Ｚａ-ｚ㈱㈲()（）.&＆ 　-]")
_HARD: Final = re.compile(f"[{KANJI}ァ-ヺーｦ-ﾟA-Za-zＡ-Ｚａ-ｚ]")
_AMOUNT: Final = (
    r"[0-9０-９][0-9０-９,，.]*[十百千万億]*(?:円|ドル|ユーロ|ポンド|日|月|時|分)?"
    r"|[一二三四五六七八九十百千万億〇零]+(?:円|ドル|ユーロ|ポンド|日|月|時)"
)


class _Patterns(NamedTuple):
    boundary: re.Pattern[str]
    denial: re.Pattern[str]
    described: re.Pattern[str]
    after: re.Pattern[str]
    leading: re.Pattern[str]
    closing: re.Pattern[str]
    paying: re.Pattern[str]
    inner: re.Pattern[str]


def _any(pieces: Sequence[str]) -> str:
    return "|".join(map(re.escape, sorted(pieces, key=len, reverse=True)))


@lru_cache(maxsize=1)
def _patterns() -> _Patterns:
    rules = japanese_finder()
    honorific, payee, other = map(_any, (rules.honorifics, rules.payee_particles, rules.other_particles))
    payee += f"|(?:{_any(rules.regional_particles)})(?={_any(rules.paying)}|{_AMOUNT}|$)"
    named = f"(?P<honorific>{honorific})?[ 　]*(?:(?P<payee>{payee})|(?P<other>{other})|(?P<end>$))"
    return _Patterns(
        boundary=re.compile(
            f"{_any(rules.denials)}|(?:{_any(rules.describers)})(?!方|ほう|ところ|とこ|口座|人[にへ])|{_any(rules.carriers)}|{_AMOUNT}|[。、，,!?！？:：「」『』]"
        ),
        denial=re.compile(f"(?:{honorific})?(?:{_any(rules.denials)})"),
        described=re.compile(f"(?:{_any(rules.describers)})$"),
        after=re.compile(f"{named}|(?P<bare>{honorific})"),
        leading=re.compile(f"(?:{_any(rules.leading_particles)}|[ 　・])+"),
        closing=re.compile(f"(?:{_any(rules.closings)})+[。、]?$"),
        paying=re.compile(_any(rules.paying)),
        inner=re.compile(f"(?:{_any(rules.inner_particles)})(?={_HARD.pattern})"),
    )


_AROUND: Final = " 　・"
"""What may stand around a name and is no part of it."""


def _segments(text: str, taken: Sequence[tuple[int, int]], own: Collection[str]) -> list[tuple[int, int]]:
    """What is left between boundaries and taken ranges, without who is said not to be meant."""
    closing = _patterns().closing.search(text)
    cuts = [*taken, *(match.span() for match in _patterns().boundary.finditer(text) if match[0] not in own)]
    if closing:
        cuts.append(closing.span())
    left, start = [], 0
    for begin, end in sorted(cuts):
        if begin > start and not _patterns().denial.match(text, begin):
            left.append((start, begin))
        start = max(start, end)
    if start < len(text):
        left.append((start, len(text)))
    return left


def _within(text: str, start: int, end: int, *, paying: bool, alone: bool) -> list[Place]:
    """Places in one segment: up to each particle or honorific that may end a name."""
    found = list[Place]()
    for place in range(start + 1, end + 1):
        if place < end and text[place - 1] not in " 　" and not _NAME_CHAR.match(text[place - 1]):
            start = place
            continue
        match = _patterns().after.match(text, place, end)
        if match is None or place == start:
            continue
        first = max(start, place - _FARTHEST)
        cue = _cue(match, paying=paying, alone=alone and start == 0)
        clean = _clean(text, first, place)
        for begin in {first, clean, *_led(text, first, place)}:
            name = text[begin:place]
            if name.strip(_AROUND) and len(name.strip()) <= MAX_NAME:
                made = _place(text, begin, place, cue, match)
                found.append(made if begin >= clean else made._replace(common=True))
        if match["honorific"] or match["bare"] or match["payee"]:
            hard = _HARD.match(text[place - 1]) is not None
            start = match.end() if hard else start
    return found


def _led(text: str, start: int, place: int) -> list[int]:
    """Where a name begins after particles that are left over from what stood before it: 「からおかん」 has two."""
    led = _patterns().leading.match(text, start, place)
    end = led.end() if led else place
    if end == place:
        return []
    return [end - 1, end] if end - 1 > start and text[end - 1] in japanese_finder().leading_particles else [end]


def _clean(text: str, start: int, place: int) -> int:
    """Where a name begins that has no other words before it: 「前みたいに鈴木」 is 鈴木."""
    breaks = [found.end() for found in _patterns().inner.finditer(text, start, place)]
    return max((each for each in breaks if each < place), default=start)


def _place(text: str, begin: int, end: int, cue: Cue, match: re.Match[str]) -> Place:
    name = text[begin:end]
    lead = len(name) - len(name.lstrip(_AROUND))
    trail = len(name) - len(name.rstrip(_AROUND))
    soft = _HARD.search(name) is None and not (match["honorific"] or match["bare"])
    described = _patterns().described.search(text, max(0, begin - MAX_NAME), begin)
    relationship = relationship_words().get(fold_word(described[0].removesuffix("の")), "") if described else ""
    return Place(begin + lead, end - trail, cue, common=soft, relationship=relationship)


def _cue(match: re.Match[str], *, paying: bool, alone: bool) -> Cue:
    polite = bool(match["honorific"] or match["bare"])
    if polite or (match["payee"] and paying):
        return Cue.PAYEE
    if match["payee"]:
        return Cue.WEAK
    return Cue.ALONE if alone and match["end"] is not None else Cue.NONE


def _related(text: str, found: Sequence[Place]) -> list[Place]:
    """大家さんに, 母に: a relationship where a payee is due takes its honorific along."""
    table = relationship_words()
    return [
        place._replace(common=False)
        for place in found
        if place.cue >= Cue.WEAK and fold_word(text[place.start : place.end]) in table
    ]


def pronouns() -> Iterator[str]:
    """Words that stand for nobody's name, and are what somebody may be to the caller: 「彼女」."""
    rules = japanese_finder()
    return (word for word in rules.carriers if fold_word(word) in relationship_words() and word not in rules.no_owners)


def denied(text: str, end: int) -> bool:
    """Whether the one whose name ends at `end` is said not to be meant: 「田中さんじゃなくて」."""
    return _patterns().denial.match(text, end) is not None


def unbroken(text: str, found: list[Place], written: Iterator[Place]) -> list[Place]:
    """The places, and before them a whole name of which one is but the end: 井上自動車 holds 自動."""
    cut = any(p.cue >= Cue.WEAK and p.start and _HARD.match(text[p.start - 1]) for p in found)
    whole = next(written, None) if cut else None
    if whole is None or not any(whole.start < p.start and p.end <= whole.end for p in found if p.cue >= Cue.WEAK):
        return found
    return [whole, *(each for each in found if each.end <= whole.start or each.start >= whole.end)]


def windows(text: str, named: Callable[[str], bool], begun: Callable[[str], bool]) -> Iterator[Place]:
    """Whole names as they are written, wherever they stand, longest first: they may hold words that are no names.

    `begun` tells whether any name begins with two characters.
    """
    folded = japanese(text[:MAX_TEXT])
    if len(folded) != len(text[:MAX_TEXT]):
        return
    begins = [at for at in range(len(folded) - 1) if begun(folded[at : at + 2])]
    for size in range(min(MAX_NAME, len(folded)), 1, -1) if begins else ():
        for begin in begins:
            end = begin + size
            if end <= len(folded) and named(folded[begin:end]) and not _patterns().denial.match(text, end):
                yield Place(begin, end, Cue.NONE)


def places(text: str, taken: Sequence[tuple[int, int]], own: Collection[str] = ()) -> list[Place]:
    """Places where a name may stand, likeliest first; `own` are words for no one that the book has somebody by."""
    text = text[:MAX_TEXT]
    paying = bool(taken) or _patterns().paying.search(text) is not None
    segments = _segments(text, taken, own)
    found = list[Place]()
    for start, end in segments:
        found.extend(_within(text, start, end, paying=paying, alone=len(segments) == 1))
    related = _related(text, found)
    spans = dict.fromkeys((p.start, p.end) for p in related)
    unique = {(p.start, p.end): p for p in sorted(found, key=lambda p: p.cue) if p.cue >= Cue.WEAK or not p.common}
    rest = sorted(unique.values(), key=lambda p: (-p.cue, p.common, -(p.end - p.start)))
    return [*related, *(p for p in rest if (p.start, p.end) not in spans)][:MAX_PLACES]
