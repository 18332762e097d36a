"""Clauses that lead up to a command and are none, where the command comes last: "since I am in a hurry, …"."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rules.load import RuleFile
from schemas.ids import BillId, CardId, PayeeId, RuleId
from schemas.intent import (
    COUNTED,
    MONEY_MOVING,
    TOLD_ALONE,
    Annotation,
    Evidence,
    Intent,
    Mention,
    Route,
    Slot,
    SlotName,
    Slots,
    Understood,
)
from schemas.payee import FindPayee, MatchOutcome, PayeeMatch
from schemas.span import DATED, MoneyValue, SpanKind
from services.understanding.fast.patterns.lattice import Trie
from services.understanding.fast.patterns.template import Rules, phrases
from services.understanding.fast.patterns.units import Units, splitter
from services.understanding.fast.ruleset.cue_phrases import CuePhrases
from services.understanding.fast.ruleset.meanings import CARDS
from services.understanding.fast.ruleset.sentence_patterns import SentencePatterns

_MARKS: Final = re.compile(r"[,、，。．.!！?？;；…]")
_MOST: Final = 6
"""Clauses that may lead up to a command, at most."""
_RULE: Final = RuleId("intents.leads@1")
_ABOUT: Final = ("again.about", "bill_inquiry.about")
"""Rules of words that only say what the call is about."""
_OF_A_CARD: Final = ("bill_payment.after", "cards.after", "cards.unlock_it")
"""Of words that are about a card behind a clause with one: 「間違えたので戻して」 is not."""
_PARTICLE: Final = 1
"""Characters behind a sum that ends a clause, at most."""
_DO: Final = "bill_payment.after_do"
"""The rule of words that only ask for it to be done."""
_PLAIN: Final = Rules({}, splitter(spaced=False))


class LeadsFile(RuleFile):
    """How clauses end, which vetoes count in them, which days are past, and with which words no payee is named."""

    clauses: tuple[str, ...]
    sentences: tuple[str, ...]
    open: tuple[str, ...]
    behind: tuple[str, ...]
    behind_never: tuple[str, ...]
    money: frozenset[str]
    acts: frozenset[str]
    elapsed: tuple[str, ...]
    cards: tuple[str, ...]
    paying: tuple[str, ...]
    owing: tuple[str, ...]
    paid: tuple[str, ...]
    spoken: tuple[str, ...]
    itself: tuple[str, ...] = ()
    because: tuple[str, ...]
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lead:
    """The units before `end` as a clause of its own, its vetoes, and the caller's things that it names, by kind."""

    end: int
    vetoes: frozenset[str]
    owned: Mapping[str, Mapping[str, tuple[int, int]]]
    cues: CuePhrases

    def only(self, kind: str, heard: Annotation, units: Units) -> tuple[str, Evidence] | None:
        """The one thing of its kind that is named; None if there are none or several."""
        named = self.owned.get(kind, {})
        if len(named) != 1:
            return None
        ((id_, (first, last)),) = named.items()
        start, end = units.starts[first], units.ends[last - 1]
        return id_, heard.evidence(start, end, _RULE)


class Leads:
    """One language's clauses, compiled."""

    def __init__(self, file: LeadsFile, patterns: SentencePatterns) -> None:
        self._clauses, self._sentences = _trie(file.clauses), _trie(file.sentences)
        self._behind = _trie(file.behind)
        self._file = file
        self._patterns = patterns

    @property
    def barring(self) -> frozenset[str]:
        """The vetoes in a clause behind which no order is taken as it stands."""
        return self._file.money

    def ends(self, text: str, units: Units, taken: Collection[int]) -> list[int]:
        """Where what clauses lead up to may begin, the first place first; never within what is `taken`."""
        words = units.words
        clauses, said = (
            [edge.end for at, edges in enumerate(trie.rows(words)) if edges and at not in taken for edge in edges]
            for trie in (self._clauses, self._sentences)
        )
        found = {end for end in clauses if not self._comes_from(words, end)}
        found.update(end for end in said if _marked(text, units, end))
        return sorted(at for at in found if at < len(words))[:_MOST]

    def _comes_from(self, words: Sequence[str], end: int) -> bool:
        """Whether what ends there tells where money comes from, and no reason: 「残高の多いほうから」."""
        return any(end >= len(why) and tuple(words[end - len(why) : end]) == tuple(why) for why in self._file.sources)

    def reasons(self, text: str, units: Units, taken: Collection[int]) -> list[int]:
        """Where a reason behind an order begins that goes on to the end, the last place first.

        It stands behind a written mark, and names no value and nothing that may take the order back.
        """
        size, words, found = len(units.words), units.words, list[int]()
        if not any(edge.end == size for at in range(size) for edge in self._behind.scan(words, at)):
            return []
        for at in range(size - 1, 0, -1):
            if at in taken:
                break
            if _marked(text, units, at):
                found.append(at)
        told = [at for at in found if not any(w in text[units.starts[at] :] for w in self._file.behind_never)]
        return told[:_MOST]

    def goes_on(self, text: str, units: Units, end: int) -> bool:
        """Whether what ends before unit `end` may be told on, and no order at all."""
        return text[: units.ends[end - 1]].endswith(self._file.open)

    def led_to(
        self, found: Understood, lead: Lead, heard: Annotation, units: Units, find: FindPayee | None
    ) -> Understood | None:
        """`found` as what the clause leads up to; None where the clause may say that it is not wanted so."""
        said, cut = heard.transcript.text, units.ends[lead.end - 1]
        if found.intent in CARDS and not lead.vetoes & self._file.acts:
            return self._carded(found, lead.only("card", heard, units), said[:cut])
        if found.intent not in COUNTED:
            return None if found.intent in CARDS else found
        named = lead.owned.get("account") and found.slots.source is None  # it may be the one that is to pay
        other = found.intent in TOLD_ALONE and found.slots.payee is None and self._goes_to(heard.payees, said[:cut])
        other = other or self._orders(found, heard, said[:cut], find)
        if lead.vetoes & self._file.money or (found.intent in MONEY_MOVING and named) or other:
            return None
        billed = self._billed(found, lead.only("bill", heard, units), said, cut)
        if billed is not None or found.by(_DO):
            return billed
        if (told := _told_before(found, heard, units, lead.end)) is not None:
            return told
        found = replace(found, unread=(*found.unread, *_sums(found, heard, cut)))
        days = tuple(Mention(SlotName.DATE, each) for each in self._days(lead, heard, units))
        rest = tuple(m for m in found.unresolved if m.slot is not SlotName.DATE or m.evidence.end > cut)
        found = replace(found, unresolved=(*rest, *(days[:1] if found.slots.date is None else ())))
        return self._named(found, lead, heard, units, find)

    def _carded(self, found: Understood, card: tuple[str, Evidence] | None, clause: str) -> Understood | None:
        """The card that the clause names; where it speaks of none, an order without one is about something else."""
        if found.slots.card is not None:
            return found
        if not any(word in clause for word in self._file.cards):
            return None if found.by(*_OF_A_CARD) else found
        if card is None:
            return found
        missing = tuple(slot for slot in found.missing if slot is not SlotName.CARD)
        return replace(found, slots=replace(found.slots, card=Slot(CardId(card[0]), card[1])), missing=missing)

    def _billed(self, found: Understood, bill: tuple[str, Evidence] | None, said: str, cut: int) -> Understood | None:
        """The bill that the clause up to `cut` names, where it is to be paid and nothing else was said after it."""
        before = all(m.evidence.end <= cut and m.slot is SlotName.DATE for m in found.unresolved)
        told = [any(word in said[:cut] for word in words) for words in (self._file.owing, self._file.paid)]
        owed = found.by(_DO) and told == [True, False]
        paid = owed or any(word in said[cut:] for word in self._file.paying)
        if not (paid and before and replace(found.slots, date=None) == Slots()) or bill is None:
            return None
        return replace(
            found,
            intent=Intent.BILL_PAYMENT,
            slots=Slots(bill=Slot(BillId(bill[0]), bill[1]), date=found.slots.date),
            missing=(),
            unresolved=tuple(m for m in found.unresolved if not m.evidence.surface.startswith(self._file.elapsed)),
        )

    def _days(self, lead: Lead, heard: Annotation, units: Units) -> Iterator[Evidence]:
        for span in heard.spans:
            place = units.covering(span.start, span.end)
            if place is None or place[1] > lead.end or span.kind not in DATED:
                continue
            said = heard.transcript.text[span.start : units.ends[lead.end - 1]]
            over = said.startswith(self._file.elapsed) or span.surface in lead.cues.now
            if not over and not lead.cues.happens(units, place[1]):
                yield Evidence.of(span)

    def _named(
        self, found: Understood, lead: Lead, heard: Annotation, units: Units, find: FindPayee | None
    ) -> Understood:
        """Who the clause is about is paid, where nobody else is: "my sister is in trouble, so send …"."""
        clause = heard.transcript.text[: units.ends[lead.end - 1]]
        match = heard.payees or self._subject(clause, find) or self._celebrating(lead.cues, clause, find)
        if match is None or match.choice is None or match.outcome is not MatchOutcome.CLEAR:
            return found
        place = units.covering(match.start, match.end)
        open_ = found.intent is Intent.TRANSFER_MONEY and not (found.slots.payee or found.slots.target)
        mentioned = any(mention.slot is SlotName.PAYEE for mention in found.unresolved)
        told = max((why for why in self._file.because if clause.endswith(why)), key=len, default="")
        spoken = any(word in clause[match.end : len(clause) - len(told)] for word in self._file.spoken)
        if not open_ or mentioned or spoken or place is None or place[1] > lead.end:
            return found
        other = _called(self._patterns.stories.said_to_be.search(clause, match.end), find)
        if other is not None and other.candidates and other.choice != match.choice:  # two are named: which is asked
            who = Mention(SlotName.PAYEE, Evidence.naming(other, _RULE))
            return replace(found, unresolved=(*found.unresolved, who), payees=other)
        named = Slot(PayeeId(match.choice), Evidence.naming(match, _RULE))
        missing = tuple(slot for slot in found.missing if slot is not SlotName.PAYEE)
        route = Route.CLARIFY if clause.startswith(self._file.itself, match.end) else found.route
        return replace(found, slots=replace(found.slots, payee=named), missing=missing, payees=match, route=route)

    def _celebrating(self, cues: CuePhrases, clause: str, find: FindPayee | None) -> PayeeMatch | None:
        """Whose occasion a clause tells of: 「妹の引っ越しがあるので」."""
        units = (*clause, "")
        names = self._patterns.stories.whose.finditer(clause)
        return _called(next((name for name in names if cues.occasions.scan(units, name.end())), None), find)

    def _goes_to(self, match: PayeeMatch | None, clause: str) -> bool:
        """Whether a clause names whom the money is to go to: 「妹に送るの、三万円」 is no other amount alone."""
        if match is None or match.outcome is not MatchOutcome.CLEAR or match.end > len(clause):
            return False
        return self._patterns.orders.onto.match(clause, match.end) is not None

    def _orders(self, found: Understood, heard: Annotation, clause: str, find: FindPayee | None) -> bool:
        """Whether a clause gives a sum to another than the order does, and so is one: 「妹に今日一万円で、」."""
        own, size, parts = found.slots.payee, len(clause), self._patterns.orders.side_by_side
        ends = [s.end for s in heard.spans if s.kind is SpanKind.MONEY and s.end <= size]
        last = max(ends, default=0)  # 「一万円送って、」
        parted = parts.match(heard.transcript.text, last) if ends else None
        if own is None or not ends or (size - last > _PARTICLE and (parted is None or parted.end() < size)):
            return False
        for span in heard.spans:
            clause = clause[: span.start].ljust(min(span.end, size), "、") + clause[span.end :]
        called = (_called(name, find) for name in self._patterns.stories.given_to.finditer(clause))
        return any(match is not None and match.choice not in {None, own.value} for match in called)

    def _subject(self, clause: str, find: FindPayee | None) -> PayeeMatch | None:
        """Who a clause begins with, where a name alone is looked up: 「妹が困っているので」."""
        return _called(self._patterns.stories.subject.match(clause), find)


def _called(name: re.Match[str] | None, find: FindPayee | None) -> PayeeMatch | None:
    found = find(name[1]) if name is not None and find is not None else None
    return None if found is None or name is None else replace(found, start=name.start(1), end=name.end(1))


def _told_before(found: Understood, heard: Annotation, units: Units, end: int) -> Understood | None:
    """An order of nothing but a verb, where the clause names a payee and a sum: whether they are meant is asked."""
    sums = [s for s in heard.spans if s.kind is SpanKind.MONEY and s.end <= units.ends[end - 1]]
    match = heard.payees
    bare = found.intent is Intent.TRANSFER_MONEY and found.slots == Slots() and not found.unresolved
    if not bare or match is None or match.choice is None or match.end > units.ends[end - 1] or len(sums) != 1:
        return None
    value, clear = sums[0].value, match.outcome is MatchOutcome.CLEAR
    if not clear or not isinstance(value, MoneyValue) or len(sums[0].values) != 1 or sums[0].ambiguity is not None:
        return None
    amount = Slot(value, Evidence.of(sums[0]))
    payee = Slot(PayeeId(match.choice), Evidence.naming(match, _RULE))
    return replace(found, slots=Slots(amount=amount, payee=payee), missing=(), route=Route.CLARIFY, payees=match)


def _sums(found: Understood, heard: Annotation, cut: int) -> Iterator[Evidence]:
    """Sums that a clause tells of a payee, and that are not the order's own: they are not left out."""
    amount, match = found.slots.amount, heard.payees
    if match is None or match.end > cut:
        return
    for span in heard.spans:
        told = span.kind is SpanKind.MONEY and span.end <= cut
        if told and (amount is None or all(value != amount.value for value in span.values)):
            yield Evidence.of(span)


def wanted(before: Understood | None) -> Understood | None:
    """The clause as a command of its own; one of no value, and 水道代なんですが, only say what the call is about."""
    about = before is None or before.slots == Slots() or before.by(*_ABOUT)
    return None if about else before


def _marked(text: str, units: Units, at: int) -> bool:
    return at < len(units.words) and _MARKS.search(text, units.ends[at - 1], units.starts[at]) is not None


def _trie(texts: Sequence[str]) -> Trie:
    made = Trie()
    for text in texts:
        for phrase in phrases(text, _PLAIN):
            made.add("".join(phrase), 1)
    return made
