"""Two values of which one is meant: whoever named two payees, accounts, bills or days is asked which.

Where words of a money command were not surely understood, everything that they name is looked for. Of a slot that
has several values none is taken: no rule tells them apart, and the question offers them all.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from rules.locales import locale_rules
from schemas.ids import PayeeId, RuleId, language
from schemas.intent import MONEY_MOVING, Annotation, Context, Evidence, Intent, Route, Slot, SlotName, Slots, Understood
from schemas.money import exponent
from schemas.payee import PayeeMatch
from schemas.span import DateValue, MoneyValue, Span, SpanKind, amount_readings
from services.understanding.apart import points
from services.understanding.fast.grammar import Grammar, grammar
from services.understanding.fast.left import unknown
from services.understanding.fast.loose import commanded
from services.understanding.fast.meanings import CARDS
from services.understanding.fast.reading import Reading, read
from services.understanding.fast.told import own_accounts
from services.understanding.fast.vetoes import vetoes_met
from services.understanding.fast.vocabulary import vocabulary
from services.understanding.merging import values

MAX_VALUES: Final = 3
"""Values of one slot that are offered."""
_MOST_NAMES: Final = 6
"""Names that are looked for."""
_SURE: Final = 0.99
"""How surely somebody is named who is only offered."""
_CLAUSES: Final = re.compile(r"[^,.;:!?—–、。！？]+")
_UNSURE: Final = frozenset({Route.CLARIFY, Route.EXTRACT, Route.QNA})
_STOPS: Final = frozenset({"conditional", "reported", "recurring", "trouble"})
"""Vetoes with which two values are no correction: a condition, what somebody else wants."""
_RULE: Final = RuleId("intents.doubled@1")
_SUMS: Final = (SpanKind.MONEY, SpanKind.NUMBER)

Find = Callable[[str], PayeeMatch | None]
"""Who is named in a text as long as the utterance, of which parts may be blank."""
Values = dict[str, list[tuple[Evidence, Any]]]
"""Each slot's values, and where they stand."""


def doubled(heard: Annotation, found: Understood, context: Context, find: Find) -> Understood | None:
    """The command that the words hold, with every value of a slot that was named two ways; None where none was."""
    if not _open(found) or not context.idle or context.code or found.then is not None:
        return None
    if {str(veto).partition(".")[2] for veto in found.vetoes} & _STOPS:
        return None
    rules = grammar(language(heard.transcript.locale))
    reading = read(rules, heard, context)
    intent = found.intent if found.intent in MONEY_MOVING | CARDS else _wanted(rules, heard, reading)
    if intent is None:
        return None
    said = Said(rules, heard, context, reading, find).of(intent)
    slots, unread = _slots(found, said), _unread(rules, heard, reading, said)
    if slots is None and found.intent is Intent.BILL_PAYMENT and unread:
        slots = _one_bill(found, said)
    if slots is None or _against(rules, reading, said):
        return None
    lacks = intent is Intent.TRANSFER_MONEY and slots.amount is None
    return Understood(
        intent,
        slots,
        missing=(SlotName.AMOUNT,) if lacks else (),
        route=Route.FAST,
        confidence=found.confidence,
        rule=RuleId(f"{rules.accounts.id}.doubled@{rules.accounts.version}"),
        payees=found.payees,
        unresolved=tuple(each for each in found.unresolved if not _overlaps(each.evidence, said)),
        unread=unread,
        doubted=_doubted(said),
    )


def _open(found: Understood) -> bool:
    """Whether something of the words was not surely understood, or has no place in what was."""
    if found.route in _UNSURE:
        return True
    return found.intent in MONEY_MOVING and bool(found.missing or found.unresolved)


def _wanted(rules: Grammar, heard: Annotation, reading: Reading) -> Intent | None:
    """What words that no template took ask for, if it moves money or locks a card."""
    size = len(reading.words)
    told = {edge.symbol for at in range(size) for edge in rules.routing.scan(reading.words, at)}
    guess = next((intent for intent, needed in rules.guesses if told.issuperset(needed)), None)
    if guess in MONEY_MOVING | CARDS:
        return guess
    return Intent.TRANSFER_MONEY if rules.spaced and commanded(rules, heard, reading) else None


@dataclass(frozen=True, slots=True)
class Said:
    """Everything that an utterance names: for each slot its values, and where they stand."""

    rules: Grammar
    heard: Annotation
    context: Context
    reading: Reading
    find: Find

    def of(self, intent: Intent) -> Values:
        """What is named of what a command of this intent needs."""
        if intent in CARDS:
            return {"card": list(self._nouns("card"))}
        found: Values = {"amount": list(self._amounts()), "date": list(self._days())}
        if intent is Intent.BILL_PAYMENT:
            return found | {"bill": list(self._nouns("bill")), "source": list(self._nouns("account"))}
        found["payee"] = list(self._payees())
        if found["payee"]:
            found["source"] = [at for part, at in self._places() if part == "source"]
        return found

    def _amounts(self) -> Iterator[tuple[Evidence, MoneyValue]]:
        digits = exponent(locale_rules(self.heard.transcript.locale).currency)
        for span in self.heard.spans:
            if span.kind not in _SUMS or self.rules.units(span.surface).words == self.rules.one:  # "the joint one"
                continue
            if not points(self.rules, self.heard, span):
                for value in amount_readings(span, digits)[:1]:
                    yield self._evidence(span.start, span.end), value

    def _days(self) -> Iterator[tuple[Evidence, DateValue]]:
        for span in self.heard.spans:
            if span.kind is SpanKind.DATE and isinstance(span.value, DateValue):
                if span.value.start != span.value.end or self._limited(span):
                    return  # "by friday" is no day
                yield self._evidence(span.start, span.end), span.value

    def _limited(self, span: Span) -> bool:
        place = self.reading.units.covering(span.start, span.end)
        return place is None or self.rules.accounts.limited(self.reading.units, *place) is not None

    def _nouns(self, kind: str) -> Iterator[tuple[Evidence, str]]:
        nouns, words, at = vocabulary(self.rules, self.context), self.reading.words, 0
        while at < len(words):
            named = [
                (e.end, nouns.nouns[e.symbol].id)
                for e in nouns.trie.scan(words, at)
                if nouns.nouns[e.symbol].kind == kind
            ]
            end, id_ = max(named, default=(at + 1, None), key=lambda each: each[0])
            if id_ is not None:
                yield self._units(at, end), id_
            at = end

    def _places(self) -> Iterator[tuple[str, tuple[Evidence, str]]]:
        for part, edge, id_ in own_accounts(self.rules, self.context, self.reading):
            yield part, (self._units(edge.start, edge.end), id_)

    def _payees(self) -> Iterator[tuple[Evidence, PayeeId]]:
        """Everyone who is clearly named, clause by clause."""
        text, left = self.heard.transcript.text, _MOST_NAMES
        for clause in _CLAUSES.finditer(text):
            begin, rest = clause.start(), clause.group()
            while (
                left
                and (match := self.find(rest.rjust(begin + len(rest)).ljust(len(text)))) is not None
                and match.end > match.start
            ):
                left, start, end = left - 1, match.start - begin, match.end - begin
                if match.candidates and (match.choice is not None or match.candidates[0].score >= _SURE):
                    yield self._evidence(match.start, match.end), match.choice or match.candidates[0].id
                elif " " in rest[start:end]:
                    start += rest[start:end].rindex(" ") + 1  # the name may be the words before
                rest = rest[:start] + "," * (end - start) + rest[end:]

    def _units(self, begin: int, end: int) -> Evidence:
        return self._evidence(self.reading.units.starts[begin], self.reading.units.ends[end - 1])

    def _evidence(self, start: int, end: int) -> Evidence:
        return Evidence(start, end, self.heard.transcript.text[start:end], _RULE)


def _slots(found: Understood, said: Values) -> Slots | None:
    """Every slot with all of its values; None where no slot has two, or one has too many."""
    made: dict[str, Any] = values(found.slots)
    for name, named in said.items():
        distinct = list({_key(value): value for _, value in named}.values())
        if not distinct or (len(distinct) == 1 and name in made):
            continue  # what was read of it has all of its readings
        if len(distinct) > MAX_VALUES:
            return None
        made[name] = Slot(distinct[0], named[0][0], tuple(distinct[1:]))
    if not _doubted(said) or not ({"payee", "target", "bill", "card"} & made.keys()):
        return None
    return Slots(**made)


def _doubted(said: Values) -> tuple[SlotName, ...]:
    """The slots of which several values were said."""
    return tuple(SlotName(name) for name, named in said.items() if len({_key(value) for _, value in named}) > 1)


def _one_bill(found: Understood, said: Values) -> Slots | None:
    """The one bill that was named in words of which some were not read."""
    bills = {id_ for _, id_ in said["bill"]}
    if len(bills) != 1 or found.slots != Slots():
        return None
    return Slots(bill=Slot(said["bill"][0][1], said["bill"][0][0]))


def _key(value: object) -> object:
    """What a value is told from others by: an amount by its size, in any currency."""
    return value.amount_minor if isinstance(value, MoneyValue) else value


def _against(rules: Grammar, reading: Reading, said: Values) -> bool:
    """Whether there is a no to all of it: before everything that is named, or behind it in a language that says so."""
    units, size = reading.units, len(reading.words)
    places = [evidence for named in said.values() for evidence, _ in named]
    first, last = min(each.start for each in places), max(each.end for each in places)
    begin = sum(1 for start in units.starts if start < first)
    stop = sum(1 for end in units.ends if end <= last)
    return "negation" in vetoes_met(rules, reading, 0, begin) | vetoes_met(rules, reading, stop, size)


def _unread(rules: Grammar, heard: Annotation, reading: Reading, said: Values) -> tuple[Evidence, ...]:
    """Words of no rule that stand outside of what is asked about."""
    doubts = [[evidence for evidence, _ in said[name]] for name in _doubted(said)]
    ranges = [(min(e.start for e in each), max(e.end for e in each)) for each in doubts]
    places = [evidence for named in said.values() for evidence, _ in named]
    left = unknown(rules.trie, heard, reading.units)
    free = [e for e in left if not any(a <= e.start and e.end <= b for a, b in ranges)]
    return tuple(e for e in free if not any(e.start < p.end and p.start < e.end for p in places))


def _overlaps(evidence: Evidence, said: Values) -> bool:
    return any(evidence.start < e.end and e.start < evidence.end for named in said.values() for e, _ in named)
