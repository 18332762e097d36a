"""Everything that an utterance names of what a command needs, wherever it stands in the words."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from rules.locales import locale_rules
from schemas.ids import PayeeId, RuleId
from schemas.intent import Annotation, Context, Evidence, Intent
from schemas.money import exponent
from schemas.payee import PayeeMatch
from schemas.span import DateValue, MoneyValue, Span, SpanKind, amount_readings
from services.understanding.apart import points
from services.understanding.fast.grammar import Grammar
from services.understanding.fast.meanings import CARDS
from services.understanding.fast.numbered import numbered, of_number, told_so
from services.understanding.fast.reading import UtteranceLattice
from services.understanding.fast.told import own_accounts
from services.understanding.fast.vocabulary import vocabulary

_MOST_NAMES: Final = 6
"""Names that are looked for."""
_SURE: Final = 0.99
"""How surely somebody is named who is only offered."""
_CLAUSES: Final = re.compile(r"[^,.;:!?—–、。！？]+")
_RULE: Final = RuleId("intents.doubled@1")
_SUMS: Final = (SpanKind.MONEY, SpanKind.NUMBER)

Find = Callable[[str], PayeeMatch | None]
"""Who is named in a text as long as the utterance, of which parts may be blank."""
Values = dict[str, list[tuple[Evidence, Any]]]
"""Each slot's values, and where they stand."""


@dataclass(frozen=True, slots=True)
class Mentions:
    """Everything that an utterance names: for each slot its values, and where they stand."""

    rules: Grammar
    heard: Annotation
    context: Context
    reading: UtteranceLattice
    find: Find
    _named: list[tuple[Evidence, PayeeId]] = field(default_factory=list)
    _sought: list[bool] = field(default_factory=list)

    def payees(self) -> list[tuple[Evidence, PayeeId]]:
        """Everyone who is clearly named, looked for once."""
        if not self._sought:
            self._sought.append(True)
            self._named.extend(self._payees())
        return self._named

    def of(self, intent: Intent) -> Values:
        """What is named of what a command of this intent needs."""
        if intent in CARDS:
            return {"card": list(self._nouns("card"))}
        found: Values = {"amount": list(self._amounts()), "date": list(self._days())}
        if intent is Intent.BILL_PAYMENT:
            found["amount"] += self._portions()
            bills = [*self._nouns("bill"), *self._billed(self.payees())]
            return found | {"bill": bills, "source": list(self._nouns("account"))}
        found["payee"] = list(self.payees())
        places = list(self._places()) if found["payee"] or self.rules.spaced else []
        for name in ("source",) if found["payee"] else ("source", "target"):
            found[name] = [at for part, at in places if part == name]
        return found

    def billers(self, named: Values) -> bool:
        """Whether everyone who is named sends the caller bills."""
        payees = named.get("payee", [])
        return bool(payees) and len(list(self._billed(payees))) == len(payees)

    def _billed(self, payees: list[tuple[Evidence, PayeeId]]) -> Iterator[tuple[Evidence, str]]:
        """The bills of those who send the caller one each."""
        for evidence, payee in payees:
            sent = [bill.id for bill in self.context.bills if bill.payee_id == payee]
            if len(sent) == 1:
                yield evidence, sent[0]

    def _amounts(self) -> Iterator[tuple[Evidence, MoneyValue]]:
        digits = exponent(locale_rules(self.heard.transcript.locale).currency)
        for span in self.heard.spans:
            if (
                span.kind not in _SUMS or self.rules.units(span.surface).words == self.rules.words.one
            ):  # "the joint one"
                continue
            if not (points(self.rules, self.heard, span) or self._numbers(span)):
                for value in amount_readings(span, digits)[:1]:
                    yield self._evidence(span.start, span.end), value

    def _numbers(self, span: Span) -> bool:
        """Whether these are the last digits of what is told by them, or of another one beside it."""
        places = [self.reading.units.covering(s.start, s.end) for s in self.heard.spans if of_number(s, self.context)]
        told = any(place is not None and told_so(self.rules, self.reading.units, place[0]) for place in places)
        return told and of_number(span, self.context) is not None

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
        yield from self.numbered(kind)

    def numbered(self, kind: str) -> Iterator[tuple[Evidence, str]]:
        """The accounts or cards that are told by their numbers."""
        for edge, noun in numbered(self.rules, self.heard, self.context, self.reading.units):
            if noun.kind == kind and noun.id is not None:
                yield self._units(edge.start, edge.end), noun.id

    def repairs(self) -> bool:
        """Whether any words may announce a correction, or hesitate before one."""
        words, marks = self.reading.words, self.rules.accounts
        free = [at for at in range(len(words)) if at not in self.reading.taken]
        return any(trie.scan(words, at) for at in free for trie in (marks.repairs, marks.hesitations))

    def _portions(self) -> Iterator[tuple[Evidence, MoneyValue]]:
        """What the minimum, or all, of the one bill comes to that is named."""
        bills = {id_ for _, id_ in self._nouns("bill")}
        due = [bill for bill in self.context.bills if bill.id in bills]
        if len(due) != 1:
            return
        sums = {self.rules.symbols.get("full"): due[0].due}
        if due[0].minimum is not None:
            sums[self.rules.symbols.get("minimum")] = due[0].minimum
        at, size = 0, len(self.reading.words)
        while at < size:
            told = [edge for edge in self.reading.lattice.edges(at) if edge.symbol in sums]
            edge = max(told, key=lambda each: each.end, default=None)
            if edge is not None:
                money = sums[edge.symbol]
                yield self._units(edge.start, edge.end), MoneyValue(money.minor, money.currency)
            at = edge.end if edge is not None else at + 1

    def _places(self) -> Iterator[tuple[str, tuple[Evidence, str]]]:
        for part, edge, id_ in own_accounts(self.rules, self.context, self.reading):
            yield part, (self._units(edge.start, edge.end), id_)
        yield from (("source", told) for told in self.numbered("account"))

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
