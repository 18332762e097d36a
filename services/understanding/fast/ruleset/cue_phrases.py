"""The words beside a money command's slots: rules/intents/LANGUAGE/cue_phrases.yaml, compiled."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from rules.load import load
from schemas.ids import RuleId
from schemas.intent import SlotName
from services.understanding.fast.patterns.lattice import Trie
from services.understanding.fast.patterns.template import Rules, phrases
from services.understanding.fast.patterns.units import Units, by_character, by_word, splitter
from services.understanding.fast.ruleset.cue_phrases_file import CuePhrasesFile
from services.understanding.fast.ruleset.rules import VetoFile

_MAX_WORDS: Final = 4
"""Words of a limit that stand before a day."""
_MAX_REASON: Final = 8
"""Units between a day and what happens then, and between that and the end of the reason."""


ANEW: Final = 1
"""The symbol, among words that announce a repair, of those before what is meant."""
DENIAL: Final = 2
"""The same, before what is not meant."""
OVER: Final = 3
"""The same, where what is meant was said before."""
DENIED: Final = 4
"""The same, behind what is not meant."""


@dataclass(frozen=True, slots=True, eq=False)
class CuePhrases:
    """One language's words, compiled."""

    id: str
    version: int
    spaced: bool
    before: frozenset[tuple[str, ...]]
    behind: Trie
    elsewhere: Trie
    since: Trie
    until: Trie
    ending: Trie
    inexact: Trie
    withdrawing: Trie
    times: Trie
    places: Trie
    later_on: Trie
    things: Trie
    speaking: frozenset[tuple[str, ...]]
    elapsed: Trie
    this_time: Trie
    gone: Trie
    past_days: Trie
    lent: Trie
    now: frozenset[str]
    morning: frozenset[str]
    due_days: frozenset[str]
    same_day: Trie
    due_or_now: frozenset[str]
    due_before: dict[str, int]
    misheard: dict[tuple[str, ...], tuple[str, ...]]
    from_its_day: dict[str, int]
    shifting: dict[str, int]
    as_many: str
    month: str
    unit: str
    of: str
    month_of: str
    of_a_bill: frozenset[str]
    of_a_day: frozenset[str]
    as_then: tuple[str, ...]
    apiece: Trie
    every: Trie
    joined: tuple[str, ...]
    shared: Trie
    across: Trie
    waiting: Trie
    put_by: Trie
    handing: frozenset[str]
    savings: tuple[str, ...]
    purposes: frozenset[str]
    repairs: Trie
    unannounced: Trie
    not_only: Trie
    links: Trie
    tails: Trie
    falters: Trie
    hesitations: Trie
    within_numbers: Trie
    joints: Trie
    not_now: Trie
    undoing: Trie
    calling_off: Trie
    from_start: Trie
    first: Trie
    all: Trie
    intended: Trie
    verbs: frozenset[str]
    dont: Trie
    counters: Trie
    instead_of: Trie
    dropping: Trie
    because: Trie
    occasions: Trie
    starting: Trie
    falling_due: Trie
    wishes: Trie
    outof: Trie
    onto: Trie
    other_account: Trie
    other_one: Trie
    parts: Trie
    swaps: Trie
    digits_of: dict[tuple[str, ...], str]
    scales: Trie
    pointing: frozenset[str]
    rather: Trie
    conditions: Trie
    in_all: Trie
    so_many: frozenset[str]
    last_one: Trie
    enough: frozenset[str]
    all_bills: str
    by_card: Trie
    all_but: Trie
    deeds: frozenset[str]
    hanging: Trie
    put_off: Trie
    left_there: Trie
    or_else: Trie
    repeats: Trie
    hedged: Trie
    reckoned: Trie
    whole: Trie
    bounding: Trie
    reckoning: Trie
    remaining: Trie
    emptying: Trie
    staying: Trie
    keeping: Trie
    moving: str
    halves: Trie
    shared_out: Trie
    notes: Trie
    recurring: Trie
    standing: Trie
    single: str
    unmeasured: Trie
    particles: frozenset[str]
    short_below: int
    short_of: int

    def kind(self, surface: str) -> SlotName | None:
        """The slot that unread words are about, if they tell."""
        words = (by_word if self.spaced else by_character)(surface).words
        for slot, trie in ((SlotName.SOURCE, self.places), (SlotName.DATE, self.times)):
            if trie.holds(words):
                return slot
        return None

    def short(self, surface: str, value: Decimal) -> Decimal | None:
        """What a bare number that was said may be short for: 百五十 for a hundred and fifty times ten thousand."""
        said = 0 < value < self.short_below and not any(char.isdecimal() for char in surface)
        return value * self.short_of if said else None

    def rule(self, name: str) -> RuleId:
        """A rule of ours that goes by this language's words."""
        return RuleId(f"{self.id}.{name}@{self.version}")

    def limited(self, units: Units, start: int, end: int) -> tuple[int, int] | None:
        """The units of a day and of the words that make a limit of it; None where it is just the day."""
        edges = self.behind.scan(units.words, end) if end < len(units.words) else []
        stop = max((edge.end for edge in edges), default=end)
        begin = start
        for size in range(1, min(_MAX_WORDS, start) + 1):
            if units.words[start - size : start] in self.before:
                begin = start - size
        if self.waiting.ends(units.words, start, _MAX_WORDS):
            begin = start  # "hold it till monday" is on that day
        return (begin, stop) if (begin, stop) != (start, end) else None

    def happens(self, units: Units, end: int) -> bool:
        """Whether a day up to unit `end` is one on which something happens: 「明日誕生日だから」."""
        words = units.words
        for at in range(end, min(end + _MAX_REASON, len(words))):
            stop = max(self.occasions.longest(words, at)[0], self.starting.longest(words, at)[0] if at == end else at)
            if stop == at:
                continue
            behind = range(stop, min(stop + _MAX_REASON, len(words)))
            reason = next((place for place in behind if self.because.scan(words, place)), 0)
            return reason > 0 and not any(self.falling_due.begins(words, place) for place in range(end, reason))
        return False

    def borrowed(self, units: Units, begin: int, end: int) -> bool:
        """Whether a day tells when money was lent that is given back: 昨日借りた二千円, "he lent me on sunday"."""
        if self.spaced:
            before = range(max(0, begin - _MAX_REASON), begin)
            return any(edge.end == begin for at in before for edge in self.lent.scan(units.words, at))
        if not any(edge.end <= end for edge in self.gone.scan(units.words, begin)):
            return False
        behind = range(end, min(end + 2 * _MAX_REASON, len(units.words)))
        return any(self.lent.begins(units.words, at) for at in behind)


@lru_cache(maxsize=8)
def cue_phrases(language: str, spaced: bool) -> CuePhrases:
    """The compiled words of a language. Raises RulesInvalid."""
    file = load(f"intents/{language}/cue_phrases.yaml", CuePhrasesFile)
    split = by_word if spaced else by_character

    plain, space = Rules({}, splitter(spaced)), " " if spaced else ""

    def trie(*lists: Iterable[str]) -> Trie:
        made = Trie()
        for symbol, texts in enumerate(lists, 1):
            for phrase in (each for text in texts for each in phrases(text, plain)):
                made.add(split(space.join(phrase)).words, symbol)
        return made

    made: dict[str, Any] = {
        each.name: trie(getattr(file, each.name)) if each.type is Trie else getattr(file, each.name)
        for each in fields(CuePhrases)
        if each.name in CuePhrasesFile.model_fields
    }
    made |= {
        "before": frozenset(split(phrase).words for phrase in file.before),
        "speaking": frozenset(split(phrase).words for phrase in file.speaking),
        "repairs": trie(file.repairs + file.from_start + file.swaps, file.denials, file.over, file.denied),
        "hesitations": trie(file.falters, file.hesitations),
        "undoing": trie(file.undoing, file.from_start),
        "due_days": frozenset(day.replace(" ", "") for day in file.due_days),
        "misheard": {split(said).words: others for said, others in file.misheard.items()},
        "due_before": {said.replace(" ", ""): days for said, days in file.due_before.items()},
    }
    return CuePhrases(
        spaced=spaced,
        digits_of={split(digits).words: number for number, digits in file.spelled.items()},
        recurring=trie(load(f"intents/{language}/vetoes.yaml", VetoFile).vetoes.get("recurring", ()) if spaced else ()),
        **made,
    )
