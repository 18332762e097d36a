"""The later part of a correction where it is no value alone: what is not meant is said again, or a reason beside it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from schemas.ids import RuleId
from schemas.intent import Evidence, Route, Slot, Understood
from schemas.span import NUMBERS, Span, SpanKind
from services.understanding.correction.amounts import unit
from services.understanding.correction.editing_terms import Cut, held_units
from services.understanding.correction.merging import kinds, merged, parts_a_value, same, values
from services.understanding.correction.said import Said
from services.understanding.fast.freeform.told import RULE as TOLD
from services.understanding.fast.patterns.units import OUTSIDE_NUMBERS
from services.understanding.fast.ruleset.grammar import Grammar
from services.understanding.fast.words.vocabulary import vocabulary

_MAX_DENIED: Final = 8
"""Words that are looked at for what is not meant."""
_NEAR: Final = 4
"""Units between a denial and what it denies, at most."""
_TEN, _HUNDRED = 10, 100
_MAX_PIECES: Final = 8
"""Ways in which words are left beside a value."""
_DATED: Final = frozenset({SpanKind.DATE})
_NAMED: Final = frozenset({"amount", "payee", "source", "target", "account", "card", "bill", "date"})
"""Slots of which a value is told by a number, a day, a name or a thing of the caller's."""
_MARKS: Final = " ,.;:!—–-"
_ENDS: Final = re.compile(OUTSIDE_NUMBERS + "[,;:.!?—–]")


@dataclass(frozen=True, slots=True)
class SelfRepair:
    """An utterance whose earlier part said `one`, and the rest something that may be meant instead."""

    said: Said
    one: Understood
    cut: Cut

    @property
    def rules(self) -> Grammar:
        """The rules of its language."""
        return self.said.rules

    @property
    def later(self) -> str:
        """The words of the later part."""
        return self.said.text[self.cut.start : self.cut.stop]

    def read(self, start: int, end: int) -> Understood | None:
        """What code points `start` … `end` say about money."""
        return self.said.part(start, end) if start < end else None

    def told(self, start: int, end: int) -> Understood | None:
        """What they tell that is no command."""
        return self.said.told(start, end) if start < end else None

    def ends(self) -> list[int]:
        """Where the later part's words end."""
        return [end for end in self.said.units.ends if self.cut.start < end <= self.cut.stop][:_MAX_DENIED]

    def within(self, at: int) -> bool:
        """Whether code point `at` parts an amount, a day or a number."""
        return parts_a_value(self.said.heard, at)

    def may_name(self, end: int) -> bool:
        """Whether the later part's words up to `end` may say such values: where they can't, none are read."""
        said, heard, start = values(self.one.slots), self.said.heard, self.cut.start
        if not self.rules.spaced or not said.keys() <= _NAMED:
            return True
        match, units = heard.payees, self.said.units
        places = [(each.start, each.end) for each in heard.spans] + ([(match.start, match.end)] if match else [])
        if any(begin < end and start < stop for begin, stop in places):
            return True
        words, known = units.words, self.rules.trie
        named = {word for slot in said.values() for word in self.rules.units(slot.evidence.surface).words}
        nouns, family = vocabulary(self.rules, self.said.context).trie, self.rules.symbols.get("family")
        return any(
            words[at] in named
            or words[at] in self.said.names
            or nouns.begins(words, at)
            or not (edges := known.scan(words, at))
            or any(edge.symbol == family for edge in edges)
            for at, begin in enumerate(units.starts)
            if start <= begin < end
        )

    def rule(self, name: str) -> RuleId:
        """The rule `name` of this language's words."""
        return self.rules.cues.rule(name)


def instead(parts: SelfRepair) -> Understood | None:
    """As in "no, not ann, bob": what was said before is said again, and what is meant follows."""
    said = values(parts.one.slots)
    sized = _two_of_a_size(parts.one, parts.said)
    for end in filter(parts.may_name, parts.ends()):
        if parts.within(end) and not sized:
            continue  # "forty five" is no forty
        again = parts.told(parts.cut.start, end)
        named = values(again.slots) if again is not None and not again.unresolved else {}
        if again is None or again.rule == TOLD or not named:
            continue
        if not all(name in said and same(said[name], slot) for name, slot in named.items()):
            continue
        meant = parts.read(end, parts.cut.stop)
        if parts.within(end) and not (_two_of_a_size(again, parts.said) and _two_of_a_size(meant, parts.said)):
            continue
        if meant is not None and meant.then is None and meant.rule != TOLD and kinds(again) <= kinds(meant):
            return merged(parts.one, meant, parts.rule("instead"))
    return None


def called_off(parts: SelfRepair) -> bool:
    """Whether the last words want nothing of it any more: "… to ann, no, to bob, forget it"."""
    return parts.rules.cues.withdrawing.closes(parts.said.units.words)


def put_off(parts: SelfRepair) -> bool:
    """Whether it ends in words for a time that is no day: "no, sixty to ann later"."""
    return parts.rules.cues.times.closes(parts.said.units.words, held_units(parts.said))


def unsure(found: Understood) -> Understood:
    """An order that would be read back as one that is asked about."""
    orders = found.moves
    return replace(found, route=Route.CLARIFY) if orders else found


def _two_of_a_size(found: Understood | None, said: Said) -> bool:
    """Whether an amount is between ten and a hundred: two of them in a row are no third one."""
    amount = found.slots.amount if found is not None else None
    return amount is not None and _TEN <= amount.value.amount_minor // unit(said.heard) < _HUNDRED


def refused(parts: SelfRepair) -> Understood | None:
    """As in "sixty instead of fifty, to ann": what is not meant is another value, and what follows is said besides."""
    said, cut = values(parts.one.slots), parts.cut
    for end in filter(parts.may_name, parts.ends()):
        other = parts.told(cut.start, end) if not parts.within(end) else None
        named = values(other.slots) if other is not None and not other.unresolved else {}
        if other is None or other.rule == TOLD or not named:
            continue
        if not all(name in said and not same(said[name], slot) for name, slot in named.items()):
            continue
        if not _follows(parts, named):
            continue  # "not got it there, so from savings"
        if any(_goes_on(parts, said[name], slot) for name, slot in named.items()):
            return None  # "not twenty, twenty one" without the comma
        if end == cut.stop:
            return parts.one
        rest = parts.told(end, cut.stop)
        if rest is not None and rest.then is None and not kinds(rest) & kinds(parts.one):
            if rest.slots.source is not None and (kept := _kept(parts)) is not None:
                return replace(parts.one, unread=(*parts.one.unread, kept))
            return merged(parts.one, rest, parts.rule("refused"))
    return None


def _kept(parts: SelfRepair) -> Evidence | None:
    """What may be to stay where it is: "leave a thousand in checking"."""
    cut, rules = parts.cut, parts.said.rules
    words = rules.units(parts.said.text[cut.mark : cut.start]).words
    if not any(rules.cues.keeping.begins(words, at) for at in range(len(words))):
        return None
    return parts.said.heard.evidence(cut.mark, cut.stop, parts.rule("refused"))


def _follows(parts: SelfRepair, named: dict[str, Slot[Any]]) -> bool:
    """Whether what is not meant stands right behind the words that deny it."""
    first = min(slot.evidence.start for slot in named.values())
    return sum(parts.cut.start <= start < first for start in parts.said.units.starts) <= _NEAR


def _goes_on(parts: SelfRepair, one: Slot[Any], two: Slot[Any]) -> bool:
    """Whether the words of `two` are those of `one` and more."""
    first, second = (parts.rules.units(slot.evidence.surface).words for slot in (one, two))
    return second[: len(first)] == first or second[:1] == first[:1]


def beside_words(parts: SelfRepair) -> Understood | None:
    """As in "no, six fifty, the rent went up": the value counts, and the words beside it are asked about."""
    text, cut = parts.said.text, parts.cut
    pieces = [(start, end) for start, end in _pieces(parts) if not parts.within(start) and not parts.within(end)]
    for start, end in pieces[:_MAX_PIECES]:
        two = parts.read(start, end)
        if two is None or not two.whole or two.rule == TOLD:
            continue
        if not values(two.slots) or not kinds(two) & kinds(parts.one):
            continue
        rest = [
            (begin, stop) for begin, stop in ((cut.start, start), (end, cut.stop)) if text[begin:stop].strip(_MARKS)
        ]
        left = [piece for piece in rest if not _said_again(parts, two, *piece)]
        if any(_tells_another(parts, two, *piece) for piece in left):
            continue
        rule = parts.rule("beside")
        unread = tuple(Evidence(begin, stop, text[begin:stop].strip(_MARKS), rule) for begin, stop in left)
        found = merged(parts.one, two, rule)
        return replace(found, unread=(*found.unread, *unread))
    return None


def _said_again(parts: SelfRepair, two: Understood, start: int, end: int) -> bool:
    """Whether words say nothing but what was said already."""
    again, said = parts.read(start, end), values(two.slots)
    if again is None or not again.whole or again.rule == TOLD:
        return False
    named = values(again.slots)
    return bool(named) and all(name in said and same(said[name], slot) for name, slot in named.items())


def _tells_another(parts: SelfRepair, two: Understood, start: int, end: int) -> bool:
    """Whether words hold an amount or a day that is not the one that counts, and of which nothing is told."""
    units = parts.rules.units
    said = {word for slot in values(two.slots).values() for word in units(slot.evidence.surface).words}
    kind = _DATED if two.slots.amount is None else NUMBERS if two.slots.date is None else _DATED | NUMBERS
    spans = [s for s in parts.said.heard.spans if s.start < end and start < s.end and s.kind in kind]
    first = start + len(text := parts.said.text[start:end]) - len(text.lstrip(_MARKS))
    return any(
        not said.issuperset(units(span.surface).words) and not _points(parts, span) and span.start != first
        for span in spans
    )  # "tomorrow is a holiday"


def _points(parts: SelfRepair, span: Span) -> bool:
    """Whether a number tells which ones are meant: "those two"."""
    units = parts.said.units
    place = units.covering(span.start, span.end)
    before = units.words[place[0] - 1] if place is not None and place[0] > 0 else ""
    return span.kind is SpanKind.NUMBER and before in parts.rules.cues.pointing


def _pieces(parts: SelfRepair) -> Iterator[tuple[int, int]]:
    """Code points of what may be the value: from the later part's beginning, the longest first; then to its end."""
    rules, cut, text, units = parts.rules, parts.cut, parts.said.text, parts.said.units
    inside = [at for at, start in enumerate(units.starts) if cut.start <= start < cut.stop]
    if len(inside) < 2:  # noqa: PLR2004 - a value and a word beside it
        return
    first, size = inside[0], inside[-1] + 1
    begins, stops = _values_at(parts, first, size)
    marks = {at for at in inside[1:] if units.parted(_ENDS, text, at)}
    reasons = {at for at in inside[1:] if _begins_a_reason(rules, units.words, at)}
    for at in sorted(
        marks | reasons | {more for stop in stops for more in (stop, stop + 1) if more < size}, reverse=True
    ):
        yield cut.start, units.ends[at - 1]
    for at in sorted(marks | begins):
        back = at
        while back > first and units.words[back - 1] in rules.words.light:
            back -= 1
        for place in dict.fromkeys((back, at)):
            if first < place:
                yield units.starts[place], cut.stop


def _begins_a_reason(rules: Grammar, words: tuple[str, ...], at: int) -> bool:
    return words[at] in rules.words.subjects or rules.cues.conditions.begins(words, at)


def _values_at(parts: SelfRepair, first: int, size: int) -> tuple[set[int], set[int]]:
    """The units at which amounts, days, names and things of the caller's begin, and before which they end."""
    units, heard = parts.said.units, parts.said.heard
    match = heard.payees
    places = [(span.start, span.end) for span in heard.spans] + ([(match.start, match.end)] if match else [])
    found = [place for start, end in places if (place := units.covering(start, end)) is not None]
    nouns = vocabulary(parts.rules, parts.said.context)
    found += [
        (edge.start, edge.end)
        for at in range(first, size)
        for edge in nouns.trie.scan(units.words, at)
        if nouns.nouns[edge.symbol].id is not None
    ]
    inside = [(start, end) for start, end in found if first <= start and end <= size]
    return {start for start, _ in inside}, {end for _, end in inside}
