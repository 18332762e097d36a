"""What a money command leaves unread: every word of it is in a slot, in a form that matched, or is asked about.

A day with a limit ("by friday"), a stretch of days, a time, a name that a wildcard took and nobody bears: none of them
is left out, and none is taken for a slot's value. They become mentions of the slot they are about, or stay words.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from typing import Final

from pydantic import Field

from rules.load import RuleFile, load
from schemas.ids import RuleId
from schemas.intent import MONEY_MOVING, Annotation, Evidence, Intent, Mention, Slot, SlotName, Slots, Understood
from schemas.span import Ambiguity, SpanKind
from services.understanding.fast.lattice import Trie
from services.understanding.fast.template import Rules, phrases
from services.understanding.fast.units import Units, by_character, by_word, splitter

COUNTED: Final = MONEY_MOVING | {Intent.INFORM, Intent.CORRECT}
"""What becomes an order, or a part of one."""
_DATED: Final = frozenset({SpanKind.DATE, SpanKind.TIME})
_VAGUE: Final = frozenset({Ambiguity.APPROXIMATE, Ambiguity.RANGE})
_RULE: Final = RuleId("intents.accounts@1")
_MAX_WORDS: Final = 4
"""Words of a limit that stand before a day."""


ANEW: Final = 1
"""The symbol, among words that announce a repair, of those before what is meant."""
DENIAL: Final = 2
"""The same, before what is not meant."""
OVER: Final = 3
"""The same, where what is meant was said before."""
DENIED: Final = 4
"""The same, behind what is not meant."""


class AccountsFile(RuleFile):
    """Words that make limits of days, words that tell what an unread part is about, and words that announce repairs.

    `links` may stand among words that announce a repair, `tails` behind what is corrected, `falters` alone before it;
    these and `hesitations` stand within a number, and `joints` behind them; `not_now` puts off what is ordered;
    `undoing` words take back what was said, `from_start` all of it; `first` ones want something before or besides it,
    `all` is every account; what follows `intended` was meant once;
    behind one of `verbs` such a word is a verb ("ann can wait"); `dont` stands before what is not meant, at the start;
    after `swaps` the two accounts change places;
    after `denials` and `over`, and before `denied`, stands what is not meant, and `rather` between it and what is.
    `spelled` has numbers with their digits, `scales` words that need a number before them; after `pointing` words a
    number is no amount. `conditions` make of a part what no order of ours can hold; in a language without spaces they
    end it, and it begins behind one of `particles`.
    """

    before: tuple[str, ...]
    behind: tuple[str, ...]
    times: tuple[str, ...]
    places: tuple[str, ...]
    repairs: tuple[str, ...]
    links: tuple[str, ...]
    tails: tuple[str, ...]
    falters: tuple[str, ...] = ()
    hesitations: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()
    not_now: tuple[str, ...] = ()
    undoing: tuple[str, ...] = ()
    from_start: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    all: tuple[str, ...] = ()
    intended: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()
    dont: tuple[str, ...] = ()
    swaps: tuple[str, ...] = ()
    spelled: dict[str, str] = Field(default_factory=dict)
    scales: tuple[str, ...] = ()
    pointing: tuple[str, ...] = ()
    rather: tuple[str, ...] = ()
    denials: tuple[str, ...]
    over: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    conditions: tuple[str, ...]
    particles: tuple[str, ...] = ()
    short_below: int = 0
    short_of: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Accounts:
    """One language's words, compiled."""

    id: str
    version: int
    spaced: bool
    before: frozenset[tuple[str, ...]]
    behind: Trie
    times: Trie
    places: Trie
    repairs: Trie
    links: Trie
    tails: Trie
    falters: Trie
    hesitations: Trie
    joints: Trie
    not_now: Trie
    undoing: Trie
    from_start: Trie
    first: Trie
    all: Trie
    intended: Trie
    verbs: frozenset[str]
    dont: Trie
    swaps: Trie
    digits_of: dict[tuple[str, ...], str]
    scales: Trie
    pointing: frozenset[str]
    rather: Trie
    conditions: Trie
    particles: frozenset[str]
    short_below: int
    short_of: int

    def kind(self, surface: str) -> SlotName | None:
        """The slot that unread words are about, if they tell."""
        words = (by_word if self.spaced else by_character)(surface).words
        for slot, trie in ((SlotName.SOURCE, self.places), (SlotName.DATE, self.times)):
            if any(trie.scan(words, at) for at in range(len(words))):
                return slot
        return None

    def short(self, surface: str, value: Decimal) -> Decimal | None:
        """What a bare number that was said may be short for: 百五十 for a hundred and fifty times ten thousand."""
        said = 0 < value < self.short_below and not any(char.isdecimal() for char in surface)
        return value * self.short_of if said else None

    def limited(self, units: Units, start: int, end: int) -> tuple[int, int] | None:
        """The units of a day and of the words that make a limit of it; None where it is just the day."""
        edges = self.behind.scan(units.words, end) if end < len(units.words) else []
        stop = max((edge.end for edge in edges), default=end)
        begin = start
        for size in range(1, min(_MAX_WORDS, start) + 1):
            if units.words[start - size : start] in self.before:
                begin = start - size
        return (begin, stop) if (begin, stop) != (start, end) else None


@lru_cache(maxsize=8)
def accounts(language: str, spaced: bool) -> Accounts:
    """The compiled words of a language. Raises RulesInvalid."""
    file = load(f"intents/{language}/accounts.yaml", AccountsFile)
    split = by_word if spaced else by_character

    plain, space = Rules({}, splitter(spaced)), " " if spaced else ""

    def trie(*lists: Iterable[str]) -> Trie:
        made = Trie()
        for symbol, texts in enumerate(lists, 1):
            for phrase in (each for text in texts for each in phrases(text, plain)):
                made.add(split(space.join(phrase)).words, symbol)
        return made

    before = frozenset(split(phrase).words for phrase in file.before)
    return Accounts(
        file.id,
        file.version,
        spaced,
        before,
        behind=trie(file.behind),
        times=trie(file.times),
        places=trie(file.places),
        repairs=trie(file.repairs + file.from_start + file.swaps, file.denials, file.over, file.denied),
        links=trie(file.links),
        tails=trie(file.tails),
        falters=trie(file.falters),
        hesitations=trie(file.falters, file.hesitations),
        joints=trie(file.joints),
        not_now=trie(file.not_now),
        undoing=trie(file.undoing, file.from_start),
        from_start=trie(file.from_start),
        first=trie(file.first),
        all=trie(file.all),
        intended=trie(file.intended),
        verbs=frozenset(file.verbs),
        dont=trie(file.dont),
        swaps=trie(file.swaps),
        digits_of={split(digits).words: number for number, digits in file.spelled.items()},
        scales=trie(file.scales),
        pointing=frozenset(file.pointing),
        rather=trie(file.rather),
        conditions=trie(file.conditions),
        particles=frozenset(file.particles),
        short_below=file.short_below,
        short_of=file.short_of,
    )


@dataclass(frozen=True, slots=True)
class Left:
    """What of an utterance is in no slot: words that nothing was made of, and what was said not to be meant."""

    unread: tuple[Evidence, ...] = ()
    refused: tuple[Evidence, ...] = ()


def settled(rules: Accounts, heard: Annotation, units: Units, found: Understood, left: Left) -> Understood:
    """`found` with everything that no slot holds as a mention or as unread words."""
    if found.intent not in COUNTED:
        return found
    found, limits = _days(rules, heard, units, found)
    taken = [
        *_evidence(found.slots),
        *(mention.evidence for mention in found.unresolved),
        *left.unread,
        *left.refused,
        *limits,
    ]
    spans = [
        Evidence(span.start, span.end, span.surface, span.rule)
        for span in heard.spans
        if span.kind in _DATED and not any(_overlap(span.start, span.end, each) for each in taken)
    ]
    mentions = [_widened(rules, heard, units, mention) for mention in found.unresolved]
    mentions += [Mention(SlotName.DATE, each) for each in (*limits, *spans)]
    rest: list[Evidence] = []
    for each in left.unread:
        slot = rules.kind(each.surface)
        if slot is None:
            rest.append(each)
        else:
            mentions.append(Mention(slot, each))
    return replace(found, unresolved=tuple(mentions), unread=tuple(rest))


def unmatched(
    rules: Accounts, heard: Annotation, units: Units, named: Iterable[tuple[int, int]]
) -> tuple[Mention, ...]:
    """Times and accounts in words that no template took: they are asked for, should a task come of the words."""
    spans = [s for s in heard.spans if s.kind in _DATED]
    days = [Evidence(s.start, s.end, s.surface, s.rule) for s in spans] or [
        _words(heard, units, edge.start, edge.end)
        for at in range(len(units.words))
        for edge in rules.times.scan(units.words, at)
        if rules.spaced or edge.end > at + 1
    ]
    places = [_words(heard, units, start, end) for start, end in named] or [
        _words(heard, units, edge.start, edge.end)
        for at in range(len(units.words))
        for edge in rules.places.scan(units.words, at)
        if rules.spaced and edge.end > at + 1  # "the joint one"
    ]
    return (
        *(Mention(SlotName.DATE, each) for each in days[:1]),
        *(Mention(SlotName.SOURCE, each) for each in places[:1]),
    )


def unknown(known: Trie, heard: Annotation, units: Units) -> tuple[Evidence, ...]:
    """The words that are no amount, no day, not the payee, and in no rule of the language."""
    taken: set[int] = set()
    match = heard.payees
    places = [(span.start, span.end) for span in heard.spans] + ([(match.start, match.end)] if match else [])
    for start, end in places:
        taken.update(range(*(units.covering(start, end) or (0, 0))))
    found: list[tuple[int, int]] = []
    at, size = 0, len(units.words)
    while at < size:
        stop = known.longest(units.words, at)[0]
        if at not in taken and stop == at:
            joined = found and found[-1][1] == at
            found[-1:] = [(found[-1][0], at + 1)] if joined else [*found[-1:], (at, at + 1)]
        at = max(stop, at + 1)
    return tuple(_words(heard, units, begin, stop) for begin, stop in found)


def _words(heard: Annotation, units: Units, begin: int, stop: int) -> Evidence:
    start, end = units.starts[begin], units.ends[stop - 1]
    return Evidence(start, end, heard.transcript.text[start:end], _RULE)


def _days(rules: Accounts, heard: Annotation, units: Units, found: Understood) -> tuple[Understood, list[Evidence]]:
    """The day, if it is one: a limit and a stretch of days are none."""
    day = found.slots.date
    if day is None:
        return found, []
    place = units.covering(day.evidence.start, day.evidence.end)
    limit = rules.limited(units, *place) if place is not None else None
    span = next((s for s in heard.spans if s.start == day.evidence.start and s.kind is SpanKind.DATE), None)
    vague = span is not None and (span.ambiguity in _VAGUE or "against" in span.rule)
    if limit is None and day.value.start == day.value.end and not vague:
        return found, []
    begin, stop = limit or place or (0, 0)
    without = replace(found, slots=replace(found.slots, date=None))
    return without, [replace(_words(heard, units, begin, stop), rule=day.evidence.rule)]


def _widened(rules: Accounts, heard: Annotation, units: Units, mention: Mention) -> Mention:
    """A day that is none, with the words that make a limit of it."""
    place = units.covering(mention.evidence.start, mention.evidence.end) if mention.slot is SlotName.DATE else None
    limit = rules.limited(units, *place) if place is not None else None
    return mention if limit is None else Mention(SlotName.DATE, _words(heard, units, *limit))


def _evidence(slots: Slots) -> list[Evidence]:
    held = (getattr(slots, name) for name in Slots.__slots__)
    return [slot.evidence for slot in held if isinstance(slot, Slot)]


def _overlap(start: int, end: int, other: Evidence) -> bool:
    return start < other.end and other.start < end
