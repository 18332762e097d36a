"""An order within a story, whose sums, days and people are none of its own: "he paid me on thursday, so send him fifty".

The clause that orders is read by itself, wherever it stands. What it leaves to the story is taken from there: whom "him"
means where one person is told of, which sum "that" is, and which reading of "one eighty" is of the story's size.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from schemas.ids import PayeeId, RuleId
from schemas.intent import MONEY_MOVING, Evidence, Intent, Mention, Route, Slot, SlotName, Topic, Understood
from schemas.span import SUMS, MoneyValue, Span, SpanKind, of_their_size, overlap
from services.understanding.correction.amounts import comes_to, points, unit
from services.understanding.correction.mentions import Mentions
from services.understanding.correction.merging import said_in
from services.understanding.correction.said import Said
from services.understanding.fast.asides.reasons import kin
from services.understanding.fast.asides.vetoes import vetoes_met
from services.understanding.fast.freeform.told import own_accounts
from services.understanding.fast.ruleset.meanings import CARDS

_RULE: Final = RuleId("intents.storied@1")
_SURE: Final = 0.5
_MOST: Final = 4
"""Places at which what is asked for may begin, from the last one on."""
_STOPS: Final = frozenset({"recurring", "trouble", "refusal"})
"""Vetoes in a story behind which an order may not be meant as it stands."""
_NAMES: Final = 12
"""Words of a story that are looked up as names, at most."""
_TEN: Final = 10
_OWNS: Final = re.compile(r"['’]s$")
_ENDS: Final = re.compile(r"s$")
_JOINS: Final = frozenset({"and", "or"})
_SUM: Final = "¤"
"""What stands for each character of a sum where it is looked for whether a story gives it to somebody."""
_OPEN: Final = frozenset({SlotName.AMOUNT, SlotName.PAYEE})
"""What an order may leave to the story."""


@dataclass(frozen=True, eq=False)
class _Story:
    """An utterance in which the words from `begin` to `end` order, and all others tell."""

    said: Said
    begin: int
    end: int
    sure: bool

    @cached_property
    def talk(self) -> str:
        """The story, blank where the order stands."""
        text = self.said.text
        return text[: self.begin] + " " * (self.end - self.begin) + text[self.end :]

    @cached_property
    def marked(self) -> str:
        """What stands before the order, with every sum marked."""
        text = self.said.text[: self.begin]
        for span in (span for span in self.sums if span.end <= self.begin):
            text = text[: span.start] + _SUM * (span.end - span.start) + text[span.end :]
        return text

    @cached_property
    def sums(self) -> list[Span]:
        """The sums that are told, but for what counts things."""
        spans = (span for span in self.said.heard.spans if span.kind in SUMS and self.tells(span.start))
        return [span for span in spans if not points(self.said, span) and not self._counts(span)]

    def _counts(self, span: Span) -> bool:
        """Whether it is a number of things: "four bales"."""
        values = comes_to(span, self.said.heard)
        return span.kind is SpanKind.NUMBER and all(v.amount_minor < _TEN * unit(self.said.heard) for v in values)

    @cached_property
    def beside_a_sum(self) -> bool:
        """Whether a sum stands right before the order, without a word for what of it: 「六万二千円、吉田さんに」."""
        before = self.said.text[: self.begin].rstrip("、") if not self.said.rules.spaced else ""
        return any(before.endswith(span.surface) and span.end == len(before) for span in self.sums)

    def tells(self, place: int) -> bool:
        """Whether a code point stands in the story."""
        return not self.begin <= place < self.end

    def people(self) -> dict[PayeeId, Evidence]:
        """Who is told of: where words are spaced, whoever is called by a name or as a relative; else clause by clause."""
        said = self.said
        match = said.heard.payees
        named = [(Evidence.naming(match, _RULE), match.choice)] if match is not None and match.choice is not None else []
        named += self._called() if said.rules.spaced else Mentions.of_all(said).payees()
        return {id_: evidence for evidence, id_ in reversed(named) if self.tells(evidence.start)}

    def _called(self) -> list[tuple[Evidence, PayeeId]]:
        """Those of the words of a story that call somebody."""
        said, words, units = self.said, self.said.hearing.reading.words, self.said.units
        free = [at for at, start in enumerate(units.starts) if self.tells(start) and words[at].isalpha()]
        free = [at for at in free if kin(said.hearing, at) or not said.rules.trie.begins(words, at)]
        places = [(units.starts[at], units.ends[at]) for at in free[:_NAMES]]
        found = [(place, said.called(_OWNS.sub("", said.text[slice(*place)]))) for place in places]
        found += [(place, said.called(_ENDS.sub("", said.text[slice(*place)]))) for place, one in found if not (one and one.choice)]
        return [(said.heard.evidence(*place, _RULE), one.choice) for place, one in found if one and one.choice]


def storied(said: Said, found: Understood) -> Understood | None:
    """The order; None where no clause is one by itself beside a story, or all was read with nothing of the story's."""
    if not said.context.idle or said.context.code or found.then is not None:
        return None
    read = found.sure and not found.missing and not found.doubted
    for story in _stories(said):
        if read and _settled(found, story):
            return None
        order = _order(story) if _idle(story) else None
        own = order is not None and order.slots.amount is not None
        meant = _told(story, order) if order is not None and (own or not read) else None
        if meant is not None:
            return meant
    return None


def _stories(said: Said) -> Iterator[_Story]:
    """Where an order may begin behind a story, the last place first, or end before one."""
    patterns, text, size = said.rules.patterns, said.text, len(said.text)
    begun = [match for match in patterns.order_begins.finditer(text) if _free(said, match)]
    for match in [match for match in begun if match.start("do") < size][: -_MOST - 1 : -1]:
        yield _Story(said, match.start("do"), size, sure=bool(match["so"] or match["led"]))
    behind = patterns.told_behind.search(text)
    if behind is not None:
        drawn = patterns.drawn_last.search(text, behind.end("why") if said.rules.spaced else size)
        yield _Story(said, 0, behind.start("why"), sure=drawn is None)


def _free(said: Said, match: re.Match[str]) -> bool:
    """Whether no word before an order's beginning governs it: "he told me to | pay"."""
    words = said.rules.words
    held = words.governing | words.subjects | words.onto | _JOINS
    held = held - words.them - _JOINS if match["led"] else held
    return bool(match["so"]) or held.isdisjoint(said.rules.units(said.text[: match.start()]).words[-1:])


def _settled(found: Understood, story: _Story) -> bool:
    """Whether neither the amount nor the day of what was read is the story's."""
    slots = [slot for slot in (found.slots.amount, found.slots.date) if slot is not None]
    several = found.slots.amount is not None and found.slots.amount.readings
    return found.intent not in MONEY_MOVING or not (several or any(story.tells(s.evidence.start) for s in slots))


def _idle(story: _Story) -> bool:
    """Whether something is told in the story, nothing ordered, taken back, or made to hang on anything."""
    said, patterns, talk = story.said, story.said.rules.patterns, story.talk
    if patterns.told_of.search(talk) is None or patterns.takes_back.search(talk) is not None:
        return False
    if patterns.gives_too.search(story.marked) or patterns.hangs_first.match(talk):
        return False
    units = said.units.starts
    at, stop = (sum(start < place for start in units) for place in (story.begin, story.end))
    vetoes = vetoes_met(said.hearing, 0, at) | vetoes_met(said.hearing, stop, len(units))
    if vetoes & _STOPS or ("conditional" in vetoes and patterns.hangs_on.search(talk)):
        return False
    other = said.look(0, story.begin, said.context) if story.begin else None
    return other is None or not (other.moves and other.whole and not other.missing)


def _order(story: _Story) -> Understood | None:
    """What the clause orders by itself, of which nothing is open but what the story may tell."""
    said, patterns = story.said, story.said.rules.patterns
    plain = " " * story.begin + said.text[story.begin : story.end] + " " * (len(said.text) - story.end)
    owed = patterns.owed.match(plain, story.begin, story.end)
    if owed is not None:
        plain = plain[: owed.start()] + patterns.owed_to.ljust(len(owed[0])) + plain[owed.end() :]
    for span in said.heard.spans:
        if span.kind in SUMS and not story.tells(span.start):
            before = patterns.before_sum.search(plain, story.begin, span.start)
            behind = patterns.behind_sum.match(plain, span.end, story.end)
            for each in (before, behind):
                plain = plain if each is None else plain[: each.start()] + " " * len(each[0]) + plain[each.end() :]
    plain = _with_its_sum(story, plain)
    rest = patterns.rest_of_it.search(plain, story.begin, story.end)
    if rest is not None:
        plain = plain[: rest.start()] + patterns.rest_as.ljust(len(rest[0])) + plain[rest.end() :]
    order = said_in(said.again(plain), said.text)
    if not _whole(order) or (rest is not None and not said.rules.spaced and order.slots.amount is None):
        return None
    if rest is None or order.slots.amount is not None:
        return order
    topic: Slot[str] = Slot(Topic.EXACT, said.heard.evidence(*rest.span(), _RULE))
    return replace(order, slots=replace(order.slots, topic=topic))


def _with_its_sum(story: _Story, plain: str) -> str:
    """The clause that begins with a word for a sum of the story, with that sum in its place: 「それを普通から払って」."""
    that = None if story.said.rules.spaced else story.said.rules.patterns.that_sum.match(plain, story.begin)
    if that is None or not story.sums:
        return plain
    said = story.sums[-1].surface
    return plain[: that.end() - len(said)] + said + plain[that.end() :] if len(said) <= that.end() else plain


def _whole(order: Understood) -> bool:
    """Whether it is an order of which nothing is open but how much and to whom."""
    closed = not (order.then or order.unread or order.unresolved or order.rejected or order.doubted)
    if not closed or order.rule is None or order.route is not Route.FAST or not _OPEN.issuperset(order.missing):
        return False
    return order.intent in CARDS or order.intent in MONEY_MOVING


def _told(story: _Story, order: Understood) -> Understood | None:
    """The order with what it leaves to the story; offered, where no word says that it follows from that."""
    said, slots = story.said, order.slots
    missing, sure = set(order.missing), story.sure
    if order.intent is Intent.TRANSFER_MONEY:
        amount = _amount(story, order)
        payee = None if _of_an_account(order) else slots.payee
        payee = payee or (None if slots.target else _payee(story))
        slots = replace(slots, amount=amount, payee=payee)
        missing = missing | ({SlotName.PAYEE} if payee is None and not slots.target else set())
        missing -= {name for name, slot in ((SlotName.AMOUNT, amount), (SlotName.PAYEE, payee)) if slot}
        if missing == _OPEN or (SlotName.AMOUNT in missing and (not story.sums or story.beside_a_sum)):
            return None
        if SlotName.PAYEE in missing and not said.rules.spaced:
            return None
        sure = sure and not (SlotName.PAYEE in missing and len(story.people()) > 1)
        sure = sure and not _taken_alone(story, order) and not said.rules.patterns.claimed.search(story.talk)
    paid = slots.source or order.intent not in MONEY_MOVING
    who = () if paid else _drawn(story)
    route = order.route if sure else Route.CLARIFY
    confidence = order.confidence if sure else _SURE
    open_ = tuple(name for name in SlotName if name in missing)
    meant = replace(order, slots=slots, missing=open_, unresolved=who, route=route, confidence=confidence)
    return replace(meant, rule=_RULE, payees=order.payees or said.heard.payees)


def _drawn(story: _Story) -> tuple[Mention, ...]:
    """The own account that is told to pay in the story: whether it pays the order too is asked."""
    said, units = story.said, story.said.units
    for part, edge, _ in own_accounts(said.hearing):
        begin, end = units.starts[edge.start], units.ends[edge.end - 1]
        led = units.words[edge.start - 2 : edge.start] if said.rules.spaced else ()
        pays = not said.rules.words.outof.isdisjoint(led) or said.rules.cues.outof.scan(units.words, edge.end)
        if part == "source" and pays and story.tells(begin):
            return (Mention(SlotName.SOURCE, said.heard.evidence(begin, end, _RULE)),)
    return ()


def _amount(story: _Story, order: Understood) -> Slot[MoneyValue] | None:
    """The order's own amount, of the story's size; else the sum that it speaks of: "pay them that"."""
    said, own = story.said, order.slots.amount
    values = [value for span in story.sums for value in comes_to(span, said.heard)]
    once = [span for span in story.sums if said.rules.patterns.rate.match(said.text, span.end) is None]
    sure = [comes_to(span, said.heard)[0] for span in once if len(comes_to(span, said.heard)) == 1]
    if own is not None:
        value, *others = of_their_size((own.value, *own.readings), sure)
        return replace(own, value=value, readings=tuple(others))
    clause = said.text[story.begin : story.end]
    if story.beside_a_sum:
        return None
    if not values or order.slots.topic is not None or not _speaks_of_it(story, clause):
        return None
    last = story.sums[-1]
    value, *others = of_their_size(comes_to(last, said.heard), sure)
    return Slot(value, Evidence.of(last), tuple(others))


def _taken_alone(story: _Story, order: Understood) -> bool:
    """Whether the only sum of a story is the order's though nothing says so, nor that another has paid it."""
    patterns, had = story.said.rules.patterns, order.slots.amount is not None or not story.sums
    spoken = had or patterns.that_sum.search(story.said.text, story.begin, story.end) is not None
    return not spoken and not story.said.rules.spaced and patterns.paid_for_me.search(story.said.text) is None


def _speaks_of_it(story: _Story, clause: str) -> bool:
    """Whether an order without a sum means one that was told; where nothing need be said for it, the only one."""
    patterns = story.said.rules.patterns
    alone = not story.said.rules.spaced and len(story.sums) == 1 and story.sums[0].kind is SpanKind.MONEY
    return alone or patterns.that_sum.search(clause) is not None


def _of_an_account(order: Understood) -> bool:
    """Whether the one who is named but has the account that pays: "pay him fifty from mom's checking"."""
    payee, source = order.slots.payee, order.slots.source
    return payee is not None and source is not None and overlap(payee.evidence, source.evidence)


def _payee(story: _Story) -> Slot[PayeeId] | None:
    """Who is told to have paid for the caller; else the only one who is told of."""
    said = story.said
    for match in said.rules.patterns.paid_for_me.finditer(said.text):
        who = said.called(match["name"])
        if who is not None and who.choice is not None:
            return Slot(PayeeId(who.choice), said.heard.evidence(*match.span("name"), _RULE))
    patterns = said.rules.patterns
    who = [each.search(said.text, story.begin, story.end) for each in (patterns.pronoun, patterns.owed, patterns.that_sum)]
    people = story.people() if any(who) or not said.rules.spaced else {}
    return Slot(*next(iter(people.items()))) if len(people) == 1 else None
