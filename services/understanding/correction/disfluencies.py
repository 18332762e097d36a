"""What a caller's tongue makes of words: half of one, one said twice, a number's digits after it. They mean no more.

"on thurs- on friday", "to ken ken sato", "fifteen, one five". Where words that were not understood hold some, they are
looked at again without it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from schemas.intent import COUNTED, Understood
from schemas.span import SpanKind
from services.understanding.correction.editing_terms import held_units
from services.understanding.correction.merging import kinds, said_in, same, values, with_words
from services.understanding.correction.repair import may_hold_a_repair
from services.understanding.correction.restarts import restarted, without_syllables
from services.understanding.correction.said import Said
from services.understanding.fast.asides.reasons import VERBS
from services.understanding.fast.patterns.units import OUTSIDE_NUMBERS, Units
from services.understanding.fast.ruleset.cue_phrases import DENIAL, OVER, CuePhrases
from services.understanding.fast.ruleset.grammar import Grammar

_BROKEN: Final = re.compile(r"\w[-–—]+(?=\s)")
_CONTRACTED: Final = re.compile(r"(?<=\w)['’]s(?P<rest>\s[^,.;:!?—–]+)")
_FIGURES: Final = frozenset(SpanKind) - {SpanKind.DATE}
"""A day may be said twice, an amount or a number may not."""
_MOST_DENIED: Final = 4
"""Words of what is not meant, at most."""
_PARTS: Final = re.compile(OUTSIDE_NUMBERS + "[,.;!—–-]")
"""What parts what is not meant from what is, where no word does."""
_DASHES: Final = frozenset({"-", "–", "—"})
_SHORTEST, _LONGEST, _NEAR = 2, 4, 2
"""Letters of a word that was only begun, and words within which it follows."""
_MOST_WORDS: Final = 6
"""Words that are said twice in a row, at most."""


@dataclass(frozen=True, slots=True)
class _Denied:
    """Units: the denial begins at `at`, what is not meant is `begin` … `end`, what is meant begins at `stop`."""

    at: int
    begin: int
    end: int
    stop: int


def smoothed(said: Said, whole: Understood) -> Understood | None:
    """What the words mean without their stumbles, where only so they tell what is wanted."""
    rules, text, units = said.rules, said.text, said.units
    repaired = may_hold_a_repair(whole)
    if said.context.code or whole.consent is not None or (rules.cues.spaced and not repaired):
        return None
    if not rules.cues.spaced:
        return restarted(said, whole) or (without_syllables(said, whole) if repaired else None)
    taken = held_units(said, _FIGURES)
    places = dict.fromkeys([*_broken(said, taken), *_twice(rules, units, taken)], "")
    places |= dict.fromkeys([*_begun(rules, units, taken), *_faltering(rules, units, taken)], "")
    places |= _spelled(said)
    denied = _denied(said)
    if denied is not None:
        places[denied.at, denied.stop] = ""
    if not places:
        return None
    changed = text
    for (start, end), words in places.items():
        changed = with_words(changed, units.starts[start], _past_dashes(text, units.ends[end - 1], words), words)
    found = said_in(said.again(changed), text)
    if found.intent not in COUNTED or found.rule is None:
        return None
    if denied is not None:
        other = said.part(units.starts[denied.begin], units.ends[denied.end - 1])
        return found if other is not None and _in_its_place(found, other) else None
    return found


def _in_its_place(found: Understood, denied: Understood) -> bool:
    """Whether what is denied was something else of the same kind."""
    left, said = values(found.slots), values(denied.slots)
    if denied.unread or not said or not kinds(denied) <= kinds(found):
        return False  # "not now but send fifty to ann"
    kept = any(name in left and same(left[name], slot) for name, slot in said.items())
    return not (kept and found.then is not None)  # "fifty to ann, not ann, pay bob"


def uncontracted(said: Said) -> str:
    """The text without the end of "friday's", where nothing but "better" and the like follows in its clause."""
    rules, text = said.rules, said.text
    for found in _CONTRACTED.finditer(text):
        if _only_tails(rules, rules.units(found["rest"]).words):
            text = with_words(text, found.start(), found.start("rest"), "")
    return text


def _only_tails(rules: Grammar, words: tuple[str, ...]) -> bool:
    """Whether words say nothing but that what stands before them is meant: "better actually"."""
    marks, at = rules.cues, rules.cues.tails.longest(words, 0)[0] if words else 0
    while 0 < at < len(words):
        end = max(each.longest(words, at)[0] for each in (marks.tails, marks.repairs, marks.links))
        if end == at:
            return False
        at = end
    return at > 0


def _past_dashes(text: str, end: int, words: str) -> int:
    """Where what was left out ends: behind the dash of "f-forty", which is no minus."""
    while not words and end < len(text) and text[end] in _DASHES:
        end += 1
    return end


def _broken(said: Said, taken: frozenset[int]) -> Iterator[tuple[int, int]]:
    """Words broken off, that are none by themselves; never before a word that a number needs."""
    rules, text, units, size = said.rules, said.text, said.units, len(said.units.words)
    for at in range(size - 1) if not _DASHES.isdisjoint(text) else ():
        stop = units.ends[at]
        sound = _stutters(units, text, at)
        off = _BROKEN.match(text, stop - 1) is not None or sound
        if not off or at in taken or rules.cues.scales.begins(units.words, at + 1):
            continue
        single = sound and stop - units.starts[at] == 1  # "s-sixty": the "s" of "emily's" is none here
        if single or not rules.trie.begins(units.words, at):
            yield at, at + 1


def _stutters(units: Units, text: str, at: int) -> bool:
    """Whether a word is the first sound of the next: "f-forty"."""
    word, stop = units.words[at], units.ends[at]
    joined = text[stop : units.starts[at + 1]] in _DASHES
    return joined and len(word) <= _LONGEST and units.words[at + 1].startswith(word) and not word.isdigit()


def _begun(rules: Grammar, units: Units, taken: frozenset[int]) -> Iterator[tuple[int, int]]:
    """The beginning of a word that follows whole ("wa the water bill"), or of another number: "fif sixty"."""
    words, numbers = units.words, rules.cues.digits_of.values()
    for at, word in enumerate(words[:-1]):
        if not _SHORTEST <= len(word) <= _LONGEST or at in taken or rules.trie.begins(words, at):
            continue
        if rules.cues.scales.begins(words, at + 1):
            continue
        follows = any(other.startswith(word) and len(other) > len(word) for other in words[at + 1 : at + 1 + _NEAR])
        counts = at + 1 in taken and any(number.startswith(word) for number in numbers)
        if follows or counts:
            yield at, at + 1


def _twice(rules: Grammar, units: Units, taken: frozenset[int]) -> Iterator[tuple[int, int]]:
    """Words that come twice in a row, the first time, and a hesitation between them: "beth, uh, beth yarrow".

    No numbers alone, and no words that announce a correction.
    """
    words = units.words
    for at in range(len(words)) if len({*words}) < len(words) else ():
        for size in range(_MOST_WORDS, 0, -1):
            stop = max(at + size, rules.cues.hesitations.longest(words, at + size)[0])
            again = words[stop : stop + size]
            if words[at : at + size] != again or taken.issuperset(range(at, stop + size)):  # "forty forty"
                continue
            if not any(rules.cues.repairs.begins(words, i) for i in range(at, at + size)):
                yield at, stop
            break


def _faltering(rules: Grammar, units: Units, taken: frozenset[int]) -> Iterator[tuple[int, int]]:
    """What is said while looking for words, in what leads up to an order: "wondering if maybe you could uh send"."""
    acts, marks = rules.named((*VERBS, "pay")), rules.cues
    if not (marks.falters.meets(units.words) or marks.hedged.meets(units.words)):
        return
    for at in range(1, len(units.words)):
        steps = () if at - 1 in taken else rules.trie.steps(units.words, at - 1)
        if at - 1 in taken or any(not acts.isdisjoint(symbols) for _, symbols in steps):
            return  # "pay my electric, uh, pay my water bill"
        end = marks.falters.longest(units.words, at)[0]
        hedged = marks.hedged.longest(units.words, at - 1)[0]
        if hedged > at:
            yield at, hedged
        elif end > at and at not in taken:
            yield at, end


def _spelled(said: Said) -> dict[tuple[int, int], str]:
    """A number's digits, and what takes their place: nothing beside it ("fifteen, that's one five"), or the number.

    Digits that go on behind them are another number's: "one five oh".
    """
    words, marks, found = said.units.words, said.rules.cues, dict[tuple[int, int], str]()
    told = [(at, number) for at, pair in enumerate(pairwise(words)) if (number := marks.digits_of.get(pair))]
    digits = {word for spelled in marks.digits_of for word in spelled} if told else set[str]()
    for at, number in told:
        if not digits.isdisjoint((*words[max(0, at - 1) : at], *words[at + 2 : at + 3])):
            continue
        if _go_on(said, at + 2) and words[at + 2 : at + 3] != (number,):
            continue
        begin = at
        while places := [i for i in range(max(0, begin - 2), begin) if _says_nothing(marks, words, i, begin)]:
            begin = places[0]
        if begin > 0 and words[begin - 1] == number:
            found[begin, at + 2] = ""
        else:
            found[at, at + 2] = "" if words[at + 2 : at + 3] == (number,) else number
    return found


def _go_on(said: Said, at: int) -> bool:
    """Whether the digits that end before unit `at` go on, with more than a currency's word behind them."""
    units = said.units
    end, behind = units.ends[at - 1], units.ends[at] if at < len(units.words) else units.ends[at - 1]
    around = (span for span in said.heard.spans if span.start < end < span.end)
    return any(span.kind is SpanKind.DIGITS or behind < span.end for span in around)


def _says_nothing(marks: CuePhrases, words: tuple[str, ...], start: int, end: int) -> bool:
    """Whether units say nothing between a number and its digits: "that's", "I said"."""
    return any(each.longest(words, start)[0] == end for each in (marks.links, marks.tails))


def _denied(said: Said) -> _Denied | None:
    """A denial with what is not meant, before what is: "not the phone bill but", "not on monday, on tuesday"."""
    rules, text, units = said.rules, said.text, said.units
    words, marks = units.words, rules.cues
    if not (marks.repairs.meets(words) or marks.dont.meets(words)):
        return None
    for at in range(len(words)):
        begin, symbols = marks.repairs.longest(words, at)
        over = OVER in symbols and at == 0  # "instead of fifty send sixty"
        if not over and DENIAL not in symbols:
            begin = marks.dont.longest(words, at)[0]
        if begin == at:
            continue
        for end in range(begin + 1, min(begin + _MOST_DENIED, len(words) - 1) + 1):
            stop = marks.rather.longest(words, end)[0]
            parted = end < len(words) and units.parted(_PARTS, text, end)
            acts = over and any(edge.symbol == rules.symbols["sends"] for edge in rules.trie.scan(words, end))
            if end < stop < len(words) or ((parted or acts) and end < len(words)):
                return _Denied(at, begin, end, stop)
            if marks.repairs.scan(words, end):
                break
    return None
