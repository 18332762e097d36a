"""Everything that an utterance names of what a command needs, wherever it stands in the words."""

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, zip_longest
from typing import Any, Final

from schemas.ids import PayeeId, RuleId
from schemas.intent import Evidence, Intent
from schemas.payee import PayeeMatch
from schemas.span import SUMS, DateValue, MoneyValue, Span, SpanKind
from services.understanding.correction.amounts import comes_to, points
from services.understanding.correction.date_repairs import of_a_day
from services.understanding.correction.said import Said
from services.understanding.fast.asides.vetoes import vetoes_met
from services.understanding.fast.freeform.told import own_accounts
from services.understanding.fast.patterns.units import OUTSIDE_NUMBERS
from services.understanding.fast.ruleset.meanings import CARDS
from services.understanding.fast.words.hearing import Hearing
from services.understanding.fast.words.numbered import numbered, of_number, told_so

_MOST_CLAUSES: Final = 24  # in which names are looked for
_MOST_NAMES: Final = 6  # that are looked for
_READINGS: Final = 2  # of a later amount that are offered: "fifty two fifteen" may be either
_SURE: Final = 0.99
"""How surely somebody is named who is only offered."""
_CLAUSES: Final = re.compile(rf"(?:[^,.;:!?—–、。！？]|(?!{OUTSIDE_NUMBERS})[,.:])+")
_RULE: Final = RuleId("intents.mentioned@1")
Values = dict[str, list[tuple[Evidence, Any]]]
"""Each slot's values, and where they stand."""


@dataclass(frozen=True, eq=False)
class Mentions(Hearing):
    """Everything that an utterance names: for each slot its values, and where they stand."""

    utterance: Said

    @classmethod
    def of_all(cls, said: Said) -> "Mentions":
        """All that is named in what was heard."""
        of, made = said.hearing, said.made
        if cls not in made:
            made[cls] = cls(of.grammar, of.heard, of.context, of.reading, of.find_payee, said)
        mentions: Mentions = made[cls]
        return mentions

    @cached_property
    def everyone(self) -> list[tuple[Evidence, list[PayeeId]]]:
        """Everyone who is clearly named, or all who may be meant by a name; looked for once."""
        return list(self._payees())

    def payees(self) -> list[tuple[Evidence, PayeeId]]:
        """Everyone who is clearly named, and, among corrections, who may be."""
        named = [each for each in self.everyone if len(each[1]) == 1 or len(each[0].surface) > 1]
        unsure = bool(named[1:]) and not self.grammar.spaced and self.repairs()
        return [(e, each) for e, ids in named if len(ids) == 1 or unsure for each in ids]

    def accounts(self) -> list[tuple[Evidence, str]]:
        """The caller's own accounts."""
        return list(self.nouns_of("account"))

    def of(self, intent: Intent) -> Values:
        """What is named of what a command of this intent needs."""
        if intent in CARDS:
            return {"card": list(self.nouns_of("card"))}
        days = list(self._days_alone())
        numbers = () if self.grammar.spaced else self.numbered("account")
        taken = [evidence for evidence, _ in (*days, *numbers)]
        amounts = [each for each in self._amounts() if not any(e.start <= each[0].start < e.end for e in taken)]
        found: Values = {"amount": amounts, "date": [*self._days(), *days]}
        if intent is Intent.BILL_PAYMENT:
            found["amount"] += self._portions()
            bills = [*self.nouns_of("bill"), *self._billed(self.payees())]
            return found | {"bill": bills, "source": self.accounts()}
        found["payee"] = list(self.payees())
        places = list(self._places())
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
        for span in self.heard.spans:
            if span.kind not in SUMS or self.grammar.units(span.surface).words == self.grammar.words.one:
                continue  # "the joint one" is no amount
            if not (points(self.utterance, span) or self._numbers(span) or self._counts(span)):
                beside = any(each.kind is SpanKind.MONEY for each in self.heard.spans if each is not span)
                for value in comes_to(span, self.heard)[: _READINGS if self.grammar.spaced and beside else 1]:
                    yield self._evidence(span.start, span.end), value

    def _numbers(self, span: Span) -> bool:
        """Whether these are the last digits of what is told by them, or of another one beside it."""
        places = [self.reading.units.covering(s.start, s.end) for s in self.heard.spans if of_number(s, self.context)]
        told = any(place is not None and told_so(self.grammar, self.reading.units, place[0]) for place in places)
        return (told or self._bare(span)) and of_number(span, self.context) is not None

    def _bare(self, span: Span) -> bool:
        """Whether it is an account's number in figures, beside another's and a sum: "from 4021… 7755 is the one"."""
        owners = [(each, of_number(each, self.context)) for each in self.heard.spans]
        accounts = {owner.id for _, owner in owners if owner is not None and owner.kind == "account"}
        beside = len(accounts) > 1 and any(each.kind in SUMS and owner is None for each, owner in owners)
        return self.grammar.spaced and span.surface.isdecimal() and beside

    def _counts(self, span: Span) -> bool:
        """Whether a number counts weeks, hours or things: 一週間."""
        place = self.reading.units.covering(span.start, span.end)
        behind, marks = place[1] if place is not None else 0, self.grammar.cues
        if span.kind is not SpanKind.NUMBER or not 0 < behind < len(self.reading.words):
            return False
        match, of = self.heard.payees, self.grammar.cues.of
        if of and match is not None and self.text[span.end : match.start] == of:  # 「201の野村さん」
            return True
        tries = (self.grammar.phrases.counted,) if self.grammar.spaced else (marks.times, marks.counters)
        counts = any(trie.begins(self.reading.words, behind) for trie in tries)
        return counts or (self.grammar.spaced and of_a_day(self.grammar, self.heard, span))

    def _days(self) -> list[tuple[Evidence, DateValue]]:
        found = [(span, span.value) for span in self.heard.spans if isinstance(span.value, DateValue)]
        days = [(span, day) for span, day in found if self._sure(span)]
        if self.grammar.spaced or len({day for _, day in days}) == 1:
            days = days if found and self._sure(found[0][0]) else []  # "by friday" is no day
        return [(self._evidence(span.start, span.end), day) for span, day in days]

    def _days_alone(self) -> Iterator[tuple[Evidence, DateValue]]:
        """Numbers that say a day of before again, and then what is meant instead of it: 二十七じゃなくて二十六."""
        dates = [(s.end, s.value) for s in self.heard.spans if isinstance(s.value, DateValue) and self._sure(s)]
        if self.grammar.spaced:
            yield from self._ordinals()
            return
        numbers = [span for span in self.heard.spans if span.kind is SpanKind.NUMBER]
        for one, two in zip_longest(numbers, numbers[1:]):
            said = next((d for end, d in dates if end <= one.start and str(one.value) == str(d.start.day)), None)
            if said is None:
                continue
            yield self._evidence(one.start, one.end), said
            number = str(two.value) if two is not None else ""
            if number.isdecimal() and 1 <= int(number) <= monthrange(said.start.year, said.start.month)[1]:
                day = said.start.replace(day=int(number))
                yield self._evidence(two.start, two.end), DateValue(day, day)

    def _ordinals(self) -> Iterator[tuple[Evidence, DateValue]]:
        """Days of the month of the day before them, each a clause alone: "on the twenty fourth. Twenty sixth"."""
        dates = [each for each in self.heard.spans if isinstance(each.value, DateValue)]
        for span in self.heard.spans:
            said = next((s.value for s in dates if s.end <= span.start and self._sure(s)), None)
            evidence = self._evidence(span.start, span.end)
            if span.kind is not SpanKind.ORDINAL or not isinstance(said, DateValue) or not self._alone(evidence):
                continue
            number = int(str(span.value))
            if 1 <= number <= monthrange(said.start.year, said.start.month)[1]:
                day = said.start.replace(day=number)
                yield evidence, DateValue(day, day)

    def _sure(self, span: Span) -> bool:
        """Whether it is one day, and no limit of one."""
        return isinstance(span.value, DateValue) and span.value.start == span.value.end and not self._limited(span)

    def _limited(self, span: Span) -> bool:
        place = self.reading.units.covering(span.start, span.end)
        return place is None or self.grammar.cues.limited(self.reading.units, *place) is not None

    def nouns_of(self, kind: str) -> Iterator[tuple[Evidence, str]]:
        """The caller's own things of a kind that are named."""
        nouns, rows, at = self.nouns, self.reading.phrases(self.nouns.trie), 0
        while at < len(rows):
            edges = [(e.end, nouns.nouns[e.symbol]) for e in rows[at]]
            named = [(stop, noun.id) for stop, noun in edges if noun.kind == kind]
            end, id_ = max(named, default=(at + 1, None), key=lambda each: each[0])
            over = max((stop for stop, noun in edges if noun.id is not None), default=end)
            if over > end and not self.grammar.spaced:  # 年金口座 is no bill
                end, id_ = over, None
            if id_ is not None:
                yield self.said(at, end, _RULE), id_
            at = end
        yield from self.numbered(kind)

    def numbered(self, kind: str) -> Iterator[tuple[Evidence, str]]:
        """The accounts or cards that are told by their numbers."""
        for edge, noun in numbered(self.grammar, self.heard, self.context, self.reading.units):
            if noun.kind == kind and noun.id is not None:
                yield self.said(edge.start, edge.end, _RULE), noun.id
        for span in self.heard.spans:
            owner = of_number(span, self.context) if self._bare(span) else None
            if owner is not None and owner.kind == kind and owner.id is not None:
                yield self._evidence(span.start, span.end), owner.id

    def repairs(self) -> bool:
        """Whether any words may announce a correction, or hesitate before one."""
        words, marks = self.reading.words, self.grammar.cues
        free = [at for at in range(len(words)) if at not in self.reading.taken]
        return any(trie.begins(words, at) for at in free for trie in (marks.repairs, marks.hesitations))

    def corrected_by(self) -> set[str]:
        """The vetoes that only words met that announce a correction: 違う."""
        words, marks = self.reading.words, self.grammar.cues.repairs
        if self.grammar.spaced:
            return set()
        held = frozenset(at for begin in range(len(words)) for at in range(begin, marks.longest(words, begin)[0]))
        met, free = (vetoes_met(self, 0, len(words), known) for known in (frozenset[int](), held))
        return met - free

    def _portions(self) -> Iterator[tuple[Evidence, MoneyValue]]:
        """What the minimum, or all, of the one bill comes to that is named."""
        bills = {id_ for _, id_ in self.nouns_of("bill")}
        due = [bill for bill in self.context.bills if bill.id in bills]
        if len(due) != 1:
            return
        sums = {self.grammar.symbols.get("full"): due[0].due}
        if due[0].minimum is not None:
            sums[self.grammar.symbols.get("minimum")] = due[0].minimum
        at, size = 0, len(self.reading.words)
        while at < size:
            told = [edge for edge in self.reading.lattice.edges(at) if edge.symbol in sums]
            edge = max(told, key=lambda each: each.end, default=None)
            if edge is not None:
                money = sums[edge.symbol]
                yield self.said(edge.start, edge.end, _RULE), MoneyValue(money.minor, money.currency)
            at = edge.end if edge is not None else at + 1

    def _places(self) -> Iterator[tuple[str, tuple[Evidence, str]]]:
        if not self.grammar.spaced:
            yield from self._sides()
            return
        for part, edge, id_ in own_accounts(self):
            yield part, (self.said(edge.start, edge.end, _RULE), id_)
        if self.payees():
            yield from (("source", each) for each in self.nouns_of("account") if self._alone(each[0]))
        yield from (("source", told) for told in self.numbered("account"))

    def _payees(self) -> Iterator[tuple[Evidence, list[PayeeId]]]:
        """Everyone who is clearly named, or everyone who may be meant by a name, clause by clause."""
        text, left = self.text, _MOST_NAMES
        for begin, stop in islice(self._clauses(), _MOST_CLAUSES):
            rest = text[begin:stop]
            alphabetic = any(map(str.isalpha, rest))  # figures name nobody
            while alphabetic and left and (match := self._found(rest, begin)) is not None and match.end > match.start:
                left, start, end = left - 1, match.start - begin, match.end - begin
                if match.candidates and (match.choice is not None or match.candidates[0].score >= _SURE):
                    yield self._evidence(match.start, match.end), [match.choice or match.candidates[0].id]
                elif " " in rest[start:end]:
                    cut = start + rest[start:end].rindex(" ") + 1  # the name may be the words before, or another's
                    last = self._found(rest[cut:end], begin + cut) if self.grammar.spaced else None
                    one = last is not None and match.plausible == 1 and last.choice == match.candidates[0].id
                    start = start if one else cut  # "jess tran" is no jess besides
                    if last is not None and last.choice is not None and last.candidates[0].score >= _SURE:
                        yield self._evidence(begin + start, begin + end), [last.choice]
                elif match.plausible > 1 and (end - start > 1 or rest.startswith(self.grammar.words.titles, end)):
                    yield self._evidence(match.start, match.end), [c.id for c in match.candidates[: match.plausible]]
                rest = rest[:start] + "," * (end - start) + rest[end:]

    def _found(self, part: str, begin: int) -> PayeeMatch | None:
        """Who is named in a part of the text, which stands there."""
        return self.utterance.find(part.rjust(begin + len(part)).ljust(len(self.text)))

    def _clauses(self) -> Iterator[tuple[int, int]]:
        """Where there is something between marks, and, without spaces, between words that announce something anew."""
        units, at, cuts = self.reading.units, 0, list[tuple[int, int]]()
        while at < len(units.words) and not self.grammar.spaced:
            end = self.grammar.cues.repairs.longest(units.words, at)[0]
            if end > at + 1:
                cuts.append((units.starts[at], units.ends[end - 1]))
            at = max(end, at + 1)
        for clause in _CLAUSES.finditer(self.text):
            begin = clause.start()
            for start, end in cuts:
                if begin < start < end <= clause.end():
                    yield begin, start
                    begin = end
            yield begin, clause.end()

    def _sides(self) -> Iterator[tuple[str, tuple[Evidence, str]]]:
        """Own accounts with the part that the words behind them give them: 普通から, 定期に; beside a payee it pays."""
        words, onto = self.reading.words, self.grammar.cues.onto
        for evidence, id_ in self.nouns_of("account"):
            at = sum(1 for end in self.reading.units.ends if end <= evidence.end)
            paid = at < len(words) and onto.begins(words, at)
            if paid or self.payees() or (at < len(words) and self.grammar.cues.outof.scan(words, at)):
                yield "target" if paid else "source", (evidence, id_)

    def _alone(self, evidence: Evidence) -> bool:
        """Whether words are a clause alone: "belay checking, savings"."""
        return any(clause[0].strip() == evidence.surface for clause in _CLAUSES.finditer(self.text))

    def _evidence(self, start: int, end: int) -> Evidence:
        return self.heard.evidence(start, end, _RULE)
