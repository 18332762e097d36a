"""From captures to slots with evidence, and to what was named in vain."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, ClassVar, Final

from schemas.ids import PayeeId, RuleId
from schemas.intent import Evidence, Mention, Slot, SlotName, Slots
from schemas.money import MAX_MINOR, exponent
from schemas.payee import MatchOutcome, PayeeMatch
from schemas.span import DateValue, MoneyValue, Span, SpanKind, SpanValue, overlap
from services.understanding.fast.patterns.automaton import Capture
from services.understanding.fast.patterns.lattice import Edge
from services.understanding.fast.ruleset.cue_phrases import CuePhrases
from services.understanding.fast.words.left import Leftover
from services.understanding.fast.words.reading import UtteranceLattice
from services.understanding.fast.words.vocabulary import Noun

_NAME: Final = "_name"
_REFUSED: Final = "refused"
_SAID_AGAIN: Final = frozenset({"date", "payee", "bill", "source", "target", "account", "card"})
"""Slots of which the same value may be said twice; an amount twice may be two."""
_DROPPED: Final = "dropped"
_MERCHANT: Final = "merchant"
_MEMO: Final = "memo"
_UNREAD: Final = "unread"
"""The slot of what a template lets stand and has no place for."""
_OWNS: Final = re.compile(r"\s*['’]s$")


class Filling:
    """Collects one template's captures."""

    def __init__(self, text: str, reading: UtteranceLattice, rule: RuleId, currency: str, accounts: CuePhrases) -> None:
        self._text = text
        self._reading = reading
        self._rule = rule
        self._currency = currency
        self._accounts = accounts
        self.values: dict[str, Slot[Any]] = {}
        self.mentions: dict[SlotName, Mention] = {}
        self.payees: PayeeMatch | None = None
        self.twice: set[str] = set()
        self._refused = ""
        self._unread: list[Evidence] = []
        self._dropped: list[Evidence] = []

    def take(self, captures: Sequence[Capture]) -> None:
        """Fill from `captures`, in the order they were said."""
        for capture in captures:
            slot, edge = capture.slot, capture.edge
            if slot == _REFUSED:
                self._refused = f"{self._refused} {self._evidence(edge).surface}".strip()
            elif slot == _UNREAD:
                self._unread.append(self._evidence(edge))
            elif slot == _MEMO:
                self._memo(edge)
            elif slot == _DROPPED:
                self._dropped.append(self._evidence(edge))
            elif slot.endswith(_NAME):
                self._mention(slot.removesuffix(_NAME), edge)
            elif (fill := self._FILLERS.get(slot)) is not None:
                before = self.values.get(slot)
                fill(self, slot, edge)
                after = self.values.get(slot)
                if before is not None and not self._again(slot, before, edge, after):
                    self.twice.add(slot)
        self._kept_and_dropped([each.edge.value for each in captures if each.slot == _DROPPED])

    def _kept_and_dropped(self, dropped: Sequence[object]) -> None:
        """What is said not to be meant can't be it as well: 「水道代はいいです」, "not the premium saver"."""
        for slot in ("bill", "source"):
            kept = self.values.get(slot)
            if kept is not None and any(isinstance(each, Noun) and each.id == kept.value for each in dropped):
                self.twice.add(slot)

    def _memo(self, edge: Edge) -> None:
        """What the money is for is left out, unless it may be a time or an account."""
        said = self._evidence(edge)
        if self._accounts.kind(said.surface) is not None:
            self._unread.append(said)

    def give(self, constants: Sequence[tuple[str, str | int]]) -> None:
        """Set what the template itself says; the whole utterance is the evidence."""
        span = Edge(0, len(self._reading.words), 0)
        for slot, value in constants:
            self.values[slot] = Slot(value, self._evidence(span))

    def name_payee(self, find: Callable[[str], PayeeMatch | None]) -> None:
        """Look a name up that was heard in vain so far."""
        mention = self.mentions.get(SlotName.PAYEE)
        if mention is None:
            return
        name = mention.evidence.surface
        known = self.payees is not None and self.payees.heard == name
        owner = _OWNS.sub("", name)
        match = self.payees if known and owner == name else find(owner)
        if known and match is not None and match.choice is None and (alone := find(owner)) and alone.choice is not None:
            known, match = False, alone
        if match is None or match.outcome is MatchOutcome.NOBODY:
            return
        if self._refused and match.choice is None:
            match = _contrasted(match, find(self._refused))
        elif known and owner == name:
            return
        self.payees = replace(match, start=mention.evidence.start, end=mention.evidence.end)
        if match.choice is not None and "payee" not in self.values:
            self.values["payee"] = Slot(PayeeId(match.choice), mention.evidence)

    def left(self) -> Leftover:
        """What nothing was made of: words of no slot, and names beside the one that was found."""
        beside = [
            mention.evidence
            for name, mention in self.mentions.items()
            if (slot := self.values.get(name.value)) is not None and not overlap(slot.evidence, mention.evidence)
        ]
        return Leftover((*self._unread, *beside), tuple(self._dropped))

    def slots(self) -> Slots:
        """What was filled."""
        return Slots(**self.values)

    def _evidence(self, edge: Edge, rule: RuleId | None = None) -> Evidence:
        units = self._reading.units
        start, end = units.starts[edge.start], units.ends[edge.end - 1]
        if isinstance(edge.value, Span):
            start, end = edge.value.start, edge.value.end
        return Evidence(start, end, self._text[start:end], rule or self._rule)

    def _mention(self, slot: str, edge: Edge) -> None:
        name = SlotName(slot)
        evidence = self._evidence(edge)
        earlier = self.mentions.get(name)
        if earlier is not None and self._between(earlier.evidence, evidence):
            self._unread.append(earlier.evidence)
        elif earlier is not None:
            start = earlier.evidence.start
            evidence = Evidence(start, evidence.end, self._text[start : evidence.end], self._rule)
        self.mentions[name] = Mention(name, evidence)

    def _again(self, slot: str, before: Slot[Any], edge: Edge, after: Slot[Any] | None) -> bool:
        """Whether it is no second value: the same once more, or a shop's name that goes on ("lakeside design")."""
        if slot == _MERCHANT:
            return not self._between(before.evidence, self._evidence(edge))
        return slot in _SAID_AGAIN and _alike(before, after)

    def _between(self, one: Evidence, two: Evidence) -> bool:
        """Whether words stand between two pieces, so that they are no one name."""
        return self._reading.units.covering(one.end, two.start) is not None

    def _money(self, slot: str, edge: Edge) -> None:
        span: Span = edge.value
        amounts = (money_of(span.kind, value, self._currency) for value in self._amounts(span))
        values = [money for money in amounts if money is not None]
        if values:
            self.values[slot] = Slot(values[0], self._evidence(edge, span.rule), tuple(values[1:]))

    def _amounts(self, span: Span) -> Sequence[SpanValue]:
        """The values of a span, with what a bare number may be short for."""
        if span.kind is not SpanKind.NUMBER or not isinstance(span.value, str):
            return span.values
        longer = self._accounts.short(span.surface, Decimal(span.value))
        return span.values if longer is None else (*span.values, str(longer))

    def _date(self, slot: str, edge: Edge) -> None:
        span: Span = edge.value
        values = [value for value in span.values if isinstance(value, DateValue)]
        if values:
            self.values[slot] = Slot(values[0], self._evidence(edge, span.rule), tuple(values[1:]))

    def _payee(self, slot: str, edge: Edge) -> None:
        match: PayeeMatch = edge.value
        self.payees = match
        if match.choice is not None:
            self.values[slot] = Slot(PayeeId(match.choice), self._evidence(edge))
        else:
            self.mentions[SlotName.PAYEE] = Mention(SlotName.PAYEE, self._evidence(edge))

    def _noun(self, slot: str, edge: Edge) -> None:
        noun: Noun = edge.value
        if noun.id is not None:
            self.values[slot] = Slot(noun.id, self._evidence(edge))
        else:
            self.mentions[SlotName(slot)] = Mention(SlotName(slot), self._evidence(edge))

    def _pointed(self, slot: str, edge: Edge) -> None:
        self.values[slot] = Slot(int(edge.value), self._evidence(edge))

    def _words(self, slot: str, edge: Edge) -> None:
        evidence = self._evidence(edge)
        earlier = self.values.pop(slot, None)
        if earlier is not None:
            start = earlier.evidence.start
            evidence = Evidence(start, evidence.end, self._text[start : evidence.end], self._rule)
        self.values[slot] = Slot(evidence.surface, evidence)

    def _digits(self, slot: str, edge: Edge) -> None:
        span: Span = edge.value
        digits = "".join(c for c in str(span.value) if c.isdigit())
        self.values[slot] = Slot(digits, self._evidence(edge, span.rule))

    _FILLERS: ClassVar[Mapping[str, Callable[["Filling", str, Edge], None]]] = {
        **dict.fromkeys(("amount", "at_least", "at_most"), _money),
        **dict.fromkeys(("date", "period"), _date),
        **dict.fromkeys(("source", "target", "account", "card", "bill"), _noun),
        **dict.fromkeys(("merchant", "topic"), _words),
        "payee": _payee,
        "digits": _digits,
        "choice": _pointed,
    }


def _alike(before: Slot[Any], after: Slot[Any] | None) -> bool:
    """Whether what was filled anew has the same value."""
    return after is not None and after is not before and bool(after.value == before.value)


def money_of(kind: SpanKind, value: SpanValue, currency: str) -> MoneyValue | None:
    """A span's value as an amount; a number without a unit is one of `currency`."""
    if isinstance(value, MoneyValue):
        return value
    if kind not in {SpanKind.NUMBER, SpanKind.DIGITS} or not isinstance(value, str):
        return None
    minor = Decimal(value).scaleb(exponent(currency))
    if minor != minor.to_integral_value() or abs(minor) > MAX_MINOR:
        return None
    return MoneyValue(int(minor), None)


def _contrasted(match: PayeeMatch, refused: PayeeMatch | None) -> PayeeMatch:
    """After "not Sean, Shawn": of two that sound alike the one is meant that is not best for the name refused.

    Somebody else refused tells nobody apart: after "not Sean, Yumi" it is asked which Yumi.
    """
    alike = [each.id for each in match.candidates[: match.plausible]]
    if refused is None or not refused.candidates or refused.candidates[0].id not in alike[1:]:
        return match
    return replace(match, choice=match.candidates[0].id, outcome=MatchOutcome.CLEAR)
