"""An order whose sum follows from another: from what is left of a balance, or from what was sent before.

Nobody reckons it for the caller, who is asked how much: "move all but a thousand to savings", "send emily twice the
usual", "empty my savings into checking", "bring checking up to ten thousand", "keep fifty and send ann the rest".
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from schemas.balances import Measure, Reckoning
from schemas.consent import ORDERS
from schemas.ids import AccountId, RuleId
from schemas.intent import MONEY_MOVING, SAID_FIRST, Intent, Route, Slot, SlotName, Slots, Topic, Understood
from schemas.span import NUMBERS
from services.understanding.clarification.collective_amounts import unmeasured
from services.understanding.clarification.reckoned_orders import month_before
from services.understanding.correction.mentions import Mentions
from services.understanding.correction.merging import said_in, set_back
from services.understanding.correction.said import Said
from services.understanding.fast.asides.reasons import VERBS as SENDING
from services.understanding.fast.asides.reasons import own_bill
from services.understanding.fast.asides.vetoes import vetoes_met
from services.understanding.fast.clauses.clauses import bare
from services.understanding.fast.freeform.told import RULE as TOLD
from services.understanding.fast.patterns.lattice import Trie
from services.understanding.fast.words.hearing import Hearing

_ABOUT: Final = frozenset({None, Intent.QNA, Intent.BALANCE_INQUIRY, Intent.TRANSFER_MONEY})
_ALIKE: Final = RuleId("intents.as_much@1")
_AGAIN: Final = ("again.all", "again.but", "again.to", "again.joined", "again.last")
_VERBS: Final = (*SENDING, "puts")
_NEAR: Final = 4
"""Words between an account and the sum that it is to hold, at most."""


@dataclass(frozen=True, slots=True)
class _Derived:
    """An utterance as it can be read, and by what it is looked at again."""

    hearing: Hearing
    utterance: Said

    @property
    def words(self) -> tuple[str, ...]:
        """Its words."""
        return self.hearing.reading.words

    def own(self, start: int, end: int) -> dict[AccountId, tuple[int, int]]:
        """The caller's own accounts among the units, and where they stand."""
        nouns = self.hearing.nouns
        rows = self.hearing.reading.phrases(nouns.trie)[start:end]
        own = ((nouns.nouns[edge.symbol], edge) for row in rows for edge in row if edge.end <= end)
        return {AccountId(n.id): (e.start, e.end) for n, e in own if n.kind == "account" and n.id is not None}

    def acts(self, at: int) -> bool:
        """Whether a verb of sending stands there."""
        grammar = self.hearing.grammar
        symbols = grammar.named(_VERBS)
        return any(edge.symbol in symbols for edge in grammar.trie.scan(self.words, at))


def reckoned(utterance: Said, found: Understood) -> Understood | None:
    """The order without its sum; None where no sum is told so."""
    about = _ABOUT if utterance.rules.spaced else _ABOUT | MONEY_MOVING
    if not utterance.context.idle or found.intent not in about or found.slots.topic is not None:
        return None
    return _told(_Derived(utterance.hearing, utterance)) if utterance.rules.spaced else _left_there(utterance)


def unlike(said: Said, found: Understood) -> Understood | None:
    """An order without its sum, said as a part of another one or as more: "the same but half", "that plus ten"."""
    patterns, alone = said.rules.patterns.amounts, found.intent is Intent.TRANSFER_MONEY and found.then is None
    added = alone and said.context.idle and found.slots.amount is not None and found.slots.reckoning is None
    changed = (added or found.by(*_AGAIN)) and patterns.same_changed.search(said.text)
    more = patterns.more_than_last.search(said.text) if alone else None
    if not changed and more is None:
        return None
    topic: Slot[str] = Slot(Topic.EXACT, said.heard.whole(_ALIKE))
    named = Mentions.of_all(said).payees() if found.slots.payee is None else []
    payee = Slot(named[0][1], named[0][0]) if len(named) == 1 else found.slots.payee
    if payee is not None and more is not None and payee.evidence.end == more.end():
        payee = None  # "on top" sounds like a name
    slots = replace(found.slots, amount=None, payee=payee, topic=topic)
    return replace(found, slots=slots, unread=(), route=Route.FAST, missing=(SlotName.AMOUNT,))


def alike(said: Said, _: Understood) -> Understood | None:
    """How much, told by what was paid before where that is asked, or by what was said first: 「最初の金額で」."""
    context, patterns, whole = said.context, said.rules.patterns.amounts, said.heard.whole(_ALIKE)
    before = patterns.as_before.fullmatch(said.text) if context.asked is SlotName.AMOUNT else None
    if before is not None:
        period = month_before(said.today) if before["month"] else None
        slots = Slots(reckoning=Slot(Reckoning(Measure.BEFORE, period=period), whole))
    elif context.terms.awaited in ORDERS and patterns.first_sum.fullmatch(said.text):
        slots = Slots(portion=Slot(SAID_FIRST, whole))
    else:
        return None
    return Understood(Intent.CORRECT, slots, route=Route.FAST, confidence=1.0, rule=_ALIKE)


def multiplied(said: Said, found: Understood) -> Understood | None:
    """That what is read back is not the sum, where so many times one is wanted: 「一人五千円で三人分です」."""
    settled = found.sure and found.rule != TOLD
    if (
        settled
        or said.context.terms.awaited not in ORDERS
        or not said.rules.patterns.amounts.for_several.search(said.text)
    ):
        return None
    return Understood(Intent.CORRECT, route=Route.FAST, confidence=1.0, rule=_ALIKE, rejected=(SlotName.AMOUNT,))


def as_due(said: Said, found: Understood) -> Understood | None:
    """A transfer of as much as a bill comes to, which is not paid by it: 「家賃と同じ額を普通に移して」."""
    much, context = said.rules.patterns.amounts.as_due.search(said.text), said.context
    place = said.units.covering(much.start(), much.end()) if much is not None else None
    if much is None or place is None or not context.idle or found.intent is Intent.BILL_PAYMENT:
        return None
    edge, named = own_bill(said.hearing, 0, place[0]) or (None, None)
    due = next((bill.due for bill in context.bills if bill.id == named), None)
    if edge is None or due is None or edge.end != place[0]:
        return None
    start, end = said.units.starts[edge.start], much.end()
    put = f"{due.minor}{said.rules.cues.unit}"
    meant = set_back(said.again(said.text[:start] + put + said.text[end:]), said.text, start, end, len(put))
    whom, amount = meant.slots.payee or meant.slots.target, meant.slots.amount
    sure = meant.route is Route.FAST and not (meant.missing or meant.unread or meant.then)
    if meant.intent is Intent.TRANSFER_MONEY and sure and whom and amount and amount.value.amount_minor == due.minor:
        return meant
    return found if found.intent is Intent.TRANSFER_MONEY else None  # how much is asked


def _told(said: _Derived) -> Understood | None:
    """The order, by the words from its beginning on: "empty my savings", "leave a thousand", "all but ten"."""
    marks = said.hearing.grammar.cues
    begin = _begin(said)
    if begin == len(said.words):
        return None
    emptied, kept = (trie.longest(said.words, begin)[0] for trie in (marks.emptying, marks.keeping))
    if emptied > begin:
        return _emptied(said, begin, emptied)
    if kept > begin:
        return _kept(said, begin, kept)
    part = _bounded(said, begin) or next(_phrases(said, marks.reckoned, begin), None)
    if part is None:
        return None
    start, end = part[0], _past_name(said, part[1])
    edges = [edge for row in said.hearing.reading.phrases(marks.reckoning) for edge in row]
    while before := [edge.start for edge in edges if edge.end == start and edge.start > begin]:
        start = min(before)
    end = max((edge.end for edge in edges if edge.start == end), default=end)
    leads = start == begin and not said.acts(begin)  # "twice that to emily"
    return _ordered(said, (start, end), acts=said.acts(begin), verb=marks.moving if leads else "")


def _begin(said: _Derived) -> int:
    """The unit behind what leads up to an order."""
    reading, size, rules = said.hearing.reading, len(said.words), said.hearing.grammar
    at, lead = bare(rules.phrases.asides_unasked, reading, 0, size)[0], rules.symbols["lead"]
    while at < size and (end := max((e for e, read in reading.lattice.steps(at) if lead in read), default=at)) > at:
        at = end
    return at


def _phrases(said: _Derived, trie: Trie, begin: int) -> Iterator[tuple[int, int]]:
    """The longest phrases from a unit on."""
    for at, (end, symbols) in enumerate(said.hearing.reading.longest(trie)):
        if symbols and at >= begin:
            yield at, end


def _bounded(said: _Derived, begin: int) -> tuple[int, int] | None:
    """What is more than a number, or all but that: "everything in savings over 1000"."""
    marks, spans = said.hearing.grammar.cues, said.hearing.heard.spans
    whole = next(_phrases(said, marks.whole, begin), None)
    sums = [said.hearing.reading.units.covering(s.start, s.end) for s in spans if s.kind in NUMBERS]
    bounds = {end for _, end in _phrases(said, marks.bounding, whole[1])} if whole is not None else set()
    ends = [place[1] for place in sums if place is not None and place[0] in bounds]
    return (whole[0], ends[0]) if whole is not None and ends else None


def _past_name(said: _Derived, end: int) -> int:
    """The unit behind the one who is named right there: of "the same as i sent cathy" she is no payee."""
    units = said.hearing.reading.units
    names = Mentions.of_all(said.utterance).everyone
    places = (units.covering(name.start, name.end) for name, _ in names)
    return next((place[1] for place in places if place is not None and place[0] == end), end)


def _left_there(said: Said) -> Understood | None:
    """The order without a sum that stays where it is, or is reckoned: 「三万円だけ残して…」, 「前より千円多く」."""
    patterns, text, spans = said.rules.patterns.amounts, said.text, said.heard.spans
    behind = ((span.start, each.end()) for span in spans if (each := patterns.kept_back.match(text, span.end)))
    more = patterns.more_than_before.search(text)
    place = next(behind, None) or (more.span() if more is not None else None)
    if place is None:
        return None
    start, end = place
    each = patterns.for_one.search(text, 0, start)
    start = each.start() if each is not None else start
    order = said_in(said.again(text[:start] + " " * (end - start) + text[end:]), text)
    rule = said.rules.cues.rule("reckoned")
    topic: Slot[str] = Slot(Topic.EXACT, said.heard.whole(rule))
    if order.intent not in MONEY_MOVING or not (order.slots.payee or order.slots.target or order.slots.bill):
        return unmeasured(topic)
    if order.intent is Intent.BILL_PAYMENT:  # all that is due would stand for it
        return replace(order, unread=(*order.unread, said.heard.evidence(start, end, rule)))
    slots = replace(order.slots, amount=None, topic=topic)
    return replace(order, slots=slots, route=Route.FAST, missing=(SlotName.AMOUNT,), rule=rule, doubted=())


def _emptied(said: _Derived, begin: int, end: int) -> Understood | None:
    """What becomes of all that an account holds: "clear out my savings into checking"."""
    moving = said.hearing.grammar.cues.moving
    places = [place for place in said.own(end, len(said.words)).values() if place[0] <= end + 1]
    return _ordered(said, (begin, places[0][1]), acts=True, verb=moving) if places else None


def _kept(said: _Derived, begin: int, end: int) -> Understood | None:
    """What an account is to hold, and what is sent of the rest; or that it is to be brought there."""
    size, hearing = len(said.words), said.hearing
    rest = next(_phrases(said, hearing.grammar.cues.remaining, end), None)
    verbs = [at for at in range(end + 1, rest[0]) if said.acts(at)] if rest is not None else []
    if verbs and rest is not None:
        return _ordered(said, (begin, verbs[-1]), acts=True, rest=rest)
    account = next((place for place in said.own(end, size).values() if place[0] <= end + 1), None)
    if account is None:
        return None
    near = range(account[1], min(account[1] + _NEAR, size))
    sums = [hearing.reading.units.covering(s.start, s.end) for s in hearing.heard.spans if s.kind in NUMBERS]
    told = hearing.grammar.words.levels
    made = account[1] if said.words[begin] in told else size  # "make my savings a thousand"
    levels = any(at and at[0] in near and (at[0] == made or said.words[at[0] - 1] in told) for at in sums)
    return _ordered(said, (begin, size), acts=True) if levels else None


def _ordered(
    said: _Derived, part: tuple[int, int], *, acts: bool, verb: str = "", rest: tuple[int, int] | None = None
) -> Understood | None:
    """The order without `part` and `rest`, which tell how much it is, as far as it is understood so."""
    hearing, text, units = said.hearing, said.hearing.text, said.hearing.reading.units
    plain = text
    for start, end in (part, *((rest,) if rest else ())):
        begin, stop = units.starts[start], units.ends[end - 1]
        plain = plain[:begin] + (verb if (start, end) == part else "").ljust(stop - begin) + plain[stop:]
    rule = hearing.grammar.cues.rule("reckoned")
    topic: Slot[str] = Slot(Topic.EXACT, hearing.heard.whole(rule))
    order = said_in(said.utterance.again(plain), text)
    slots, own = order.slots, said.own(*part)
    clean = order.intent is Intent.TRANSFER_MONEY and order.route is Route.FAST and (slots.payee or slots.target)
    if clean and order.whole and not order.vetoes:
        from_there = slots.source or (_account(said, own, rule) if len(own) == 1 else None)
        if slots.target is not None and from_there is not None and from_there.value == slots.target.value:
            from_there = None
        slots = replace(slots, amount=None, topic=topic, source=from_there)
        return replace(order, slots=slots, missing=(SlotName.AMOUNT,), rule=rule, doubted=())
    size = len(said.words)
    if not acts or any(vetoes_met(hearing, *edges) for edges in ((0, part[0]), (part[1], size))):
        return None
    return unmeasured(topic)


def _account(said: _Derived, own: dict[AccountId, tuple[int, int]], rule: RuleId) -> Slot[AccountId]:
    """The one account, as the order's."""
    account, (start, end) = next(iter(own.items()))
    return Slot(account, said.hearing.said(start, end, rule))
