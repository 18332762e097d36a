"""Where an utterance is cut for a correction: at words that announce something anew, and at sounds of hesitation."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from schemas.span import SpanKind
from services.understanding.correction.said import Said
from services.understanding.fast.patterns.lattice import Trie
from services.understanding.fast.patterns.units import OUTSIDE_NUMBERS
from services.understanding.fast.ruleset.cue_phrases import ANEW, DENIAL, DENIED, OVER
from services.understanding.fast.ruleset.grammar import Grammar

PAUSES: Final = re.compile(OUTSIDE_NUMBERS + "[,、，;；。.]\\s*")
MAX_CUTS: Final = 3
"""Places of one kind at which a reader cuts an utterance, at most."""
NEAR: Final = 3
"""Units of a word behind which nothing is announced, at most."""
_TRAILS_OFF: Final = re.compile("\\s*(?:\\.{2,}|…+)\\s*")


@dataclass(frozen=True, slots=True)
class Cut:
    """Code points: the earlier part ends at `end`, the announcing words begin at `mark`, the later part at `start`.

    It `denies` where what is not meant follows, `falters` where nothing but a hesitation announces it, and what stands
    before it is `denied` where that is not meant.
    """

    end: int
    mark: int
    start: int
    stop: int
    denies: bool = False
    falters: bool = False
    denied: bool = False


def held_units(said: Said, kinds: Collection[SpanKind] = tuple(SpanKind)) -> frozenset[int]:
    """The units of amounts, days and times, or of `kinds` alone: in あさって no あ announces anything."""
    places = (said.units.covering(span.start, span.end) for span in said.heard.spans if span.kind in kinds)
    return frozenset(at for place in places if place is not None for at in range(*place))


def announced_cuts(said: Said) -> Iterator[Cut]:
    """Every place with words before and behind the words that announce something anew."""
    rules, units, marks = said.rules, said.units, said.rules.cues
    if not marks.repairs.meets(units.words):
        return
    size, held = without_tails(marks.tails, units.words), held_units(said)
    behind = 1
    for at in sorted({*marks.repairs.begun(units.words), *(marks.links.begun(units.words) if marks.spaced else ())}):
        if not behind <= at < size:
            continue
        end, symbols = _announced(rules, units.words, at, size, held)
        if at < end < size:
            denies = not {DENIAL, OVER}.isdisjoint(symbols) and ANEW not in symbols  # "never mind" may do either
            mark = end if OVER in symbols else at
            denied = DENIED in symbols
            places = units.ends[at - 1], units.starts[mark], units.starts[end], units.ends[size - 1]
            yield Cut(*places, denies, denied=denied)
        behind = max(end, at + 1)


def _cuts_behind(said: Said) -> Iterator[Cut]:
    """The last piece, where words that announce something anew stand behind it: "fifty, sixty I mean"."""
    rules, units, size = said.rules, said.units, len(said.units.words)
    if not rules.cues.repairs.meets(units.words):
        return
    held = held_units(said)
    at = next((at for at in range(1, size) if _announced(rules, units.words, at, size, held)[0] == size), None)
    if at is None or any(rules.cues.withdrawing.begins(units.words, i) for i in range(at, size)):
        return
    pauses = list(PAUSES.finditer(said.text, 0, units.ends[at - 1]))
    if pauses and pauses[-1].end() < units.ends[at - 1] and pauses[-1].start() > 0:
        denies = DENIED in rules.cues.repairs.longest(units.words, at)[1]
        start, stop = pauses[-1].end(), without_tails(rules.cues.tails, units.words[:at])
        if start < units.ends[stop - 1]:
            yield Cut(pauses[-1].start(), start, start, units.ends[stop - 1], denies)


def last_cuts(said: Said) -> tuple[Cut, ...]:
    """The cuts that a correction may be looked for at, the likeliest first: the last ones of each kind."""
    announced, faltering = tuple(announced_cuts(said)), tuple(_faltering_cuts(said))
    return (*_cuts_behind(said), *reversed(announced[-MAX_CUTS:]), *faltering[-MAX_CUTS:])


def announcing(rules: Grammar, words: tuple[str, ...], holding: Trie) -> int | None:
    """Where words begin that do nothing but announce something anew, up to the end, with one of `holding` in them."""
    size = len(words)
    for at in range(1, size) if holding.meets(words) else ():
        if _announced(rules, words, at, size, frozenset())[0] == size:
            return at if any(holding.begins(words, i) for i in range(at, size)) else None
    return None


def announced_up_to(rules: Grammar, words: tuple[str, ...], at: int) -> int:
    """Where the words from `at` on end that do nothing but announce something anew; `at` where there are none."""
    return _announced(rules, words, at, len(words), frozenset())[0]


def _faltering_cuts(said: Said) -> Iterator[Cut]:
    """Every hesitation that may stand between two values: "from checking uh savings", "fifty… sixty"."""
    units, falters = said.units, said.rules.cues.falters
    size = without_tails(said.rules.cues.tails, units.words)
    for pause in _TRAILS_OFF.finditer(said.text):
        if size and units.starts[0] < pause.start() and pause.end() < units.ends[size - 1]:
            yield Cut(pause.start(), pause.end(), pause.end(), units.ends[size - 1], falters=True)
    for at in range(1, size - 1) if falters.meets(units.words) else ():
        end = falters.longest(units.words, at)[0]
        if at < end < size:
            yield Cut(units.ends[at - 1], units.starts[at], units.starts[end], units.ends[size - 1], falters=True)


def _announced(
    rules: Grammar, words: tuple[str, ...], at: int, size: int, held: frozenset[int]
) -> tuple[int, list[int]]:
    """Where the words from `at` on end that announce something anew, links among them, and what the last of them is.

    `at` where there are none.
    """
    marks = rules.cues
    if at >= size or not (marks.repairs.opens(words[at]) or (marks.spaced and marks.links.opens(words[at]))):
        return at, []
    if not rules.cues.spaced:
        repair, symbols = rules.cues.repairs.longest(words, at)
        if not symbols or rules.cues.unannounced.longest(words, at)[0] > repair:
            return at, []  # without spaces a link may be the end of a word, and a short repair the beginning of one
        if marks.not_only.ends(words, at, NEAR):
            return at, []
    if at > 0 and words[at - 1] in rules.cues.verbs:
        return at, []
    end, last = at, list[int]()
    while end < size and end not in held:
        stop, symbols = rules.cues.repairs.longest(words, end)
        more = max(stop, rules.cues.links.longest(words, end)[0])
        if more == end or more > size:
            break
        end, last = more, symbols or last
    return (end, last) if last else (at, [])


def without_tails(tails: Trie, words: tuple[str, ...]) -> int:
    """How many of the words there are before those that say nothing behind what is corrected."""
    ends = (at for at in tails.begun(words) if at and tails.longest(words, at)[0] == len(words))
    return next(ends, len(words))
