"""What a clause tells and asks nothing about: what is owed to someone, what something comes to, which bill is meant."""

from typing import Final

from rules.locales import locale_rules
from schemas.consent import ORDERS
from schemas.ids import BillId, PayeeId
from schemas.intent import Evidence, Intent, Route, Slot, Slots, Understood
from schemas.span import NUMBERS, Ambiguity, MoneyValue, Span, SpanKind
from services.understanding.fast.asides.reasons import (
    MOST,
    ORDERING,
    ClauseSpan,
    acts,
    bill_slot,
    by_itself,
    named,
    names_a_part,
    own_bill,
)
from services.understanding.fast.clauses.joining import OWING
from services.understanding.fast.patterns.lattice import Edge
from services.understanding.fast.words.slots import money_of

_NEAR: Final = 4
"""Units behind a verb of sending within which stands what is sent."""


def told_of(clause: ClauseSpan, *, past: bool) -> Understood | None:
    """What is owed or comes to so much, or the bill that is spoken of; of what was, no bill."""
    debt = owing(clause) or summed(clause)
    return debt if debt is not None or past else spoken_of(clause)


def owes(clause: ClauseSpan) -> bool:
    """Whether a clause tells of someone else that something is owed to them, or wanted by them."""
    return clause.words[0] not in clause.grammar.words.callers and not clause.grammar.words.owing.isdisjoint(
        clause.words
    )


def owing(clause: ClauseSpan) -> Understood | None:
    """What a clause says is owed to someone, or wanted by them: "i owe Dave 75 dollars"."""
    grammar, heard, reading = clause.grammar, clause.heard, clause.reading
    if not grammar.words.owing.intersection(clause.words) or clause.acts() or not clause.subject:
        return None
    nouns = clause.nouns
    owned = (nouns.nouns[e.symbol] for at in clause.places for e in reading.phrases(nouns.trie)[at])
    if any(noun.kind == "account" and noun.id is not None for noun in owned):
        return None  # "i want 200 taken out of savings" is an order's part
    begin, stop = clause.points
    sums = [s for s in heard.spans if s.kind in NUMBERS and begin <= s.start and s.end <= stop]
    owed = _sum(clause, sums[0]) if len(sums) == 1 else None
    if owed is None:
        return None
    free = [at for at in clause.places if at not in reading.taken and reading.words[at] != "me"]
    if any(grammar.phrases.twists.begins(reading.words, at) for at in free):
        return None
    said = sums[0]
    match = named(clause)
    inside = match is not None and begin <= match.start and match.end <= stop
    evidence = Evidence.of(said)
    payee = Slot(PayeeId(str(match.choice)), Evidence.naming(match, OWING)) if inside and match else None
    slots = Slots(amount=Slot(owed, evidence), payee=payee)
    return Understood(Intent.INFORM, slots, route=Route.FAST, confidence=0.9, rule=OWING, payees=match)


def _sum(clause: ClauseSpan, said: Span) -> MoneyValue | None:
    """The one amount that a span says; a number that counts nothing is one of the caller's money: "i owe her forty"."""
    if len(said.values) != 1:
        return None
    currency = locale_rules(clause.heard.transcript.locale).currency
    alone = said.kind is SpanKind.NUMBER and _counts_nothing(clause, said) and said.ambiguity is None
    return money_of(said.kind, said.value, currency) if alone or isinstance(said.value, MoneyValue) else None


def _counts_nothing(clause: ClauseSpan, said: Span) -> bool:
    """Whether a number stands alone, or before words that tell what is owed for: "seventy-five from lunch"."""
    place = clause.reading.units.covering(said.start, said.end)
    behind = clause.reading.words[place[1] :][:1] if place is not None else ()
    return by_itself(clause, said) or not clause.grammar.words.uncounted.isdisjoint(behind)


def _sums_up(clause: ClauseSpan, said: Span) -> bool:
    """Whether the words before a number tell that something comes to so much."""
    place, summing = clause.reading.units.covering(said.start, said.end), clause.grammar.phrases.summing
    edges = (edge for at in range(clause.start, clause.end) for edge in summing.scan(clause.reading.words, at))
    return place is not None and any(edge.end == place[0] for edge in edges)


def summed(clause: ClauseSpan) -> Understood | None:
    """What a clause says something comes to, where an order behind it is of that: "it was ten, send her that"."""
    grammar, heard, reading = clause.grammar, clause.heard, clause.reading
    begin, stop = clause.points
    sums = [span for span in heard.spans if span.kind in NUMBERS]
    if len(sums) != 1 or not (begin <= sums[0].start and sums[0].end <= stop) or clause.acts() or not _of_that(clause):
        return None
    said = sums[0]
    value = _sum(clause, said) if isinstance(said.value, MoneyValue) or _sums_up(clause, said) else None
    if value is None or said.ambiguity not in {None, Ambiguity.APPROXIMATE}:
        return None
    free = [at for at in clause.places if at not in reading.taken]
    if any(grammar.phrases.twists.scan(reading.words, at) or names_a_part(clause, at) for at in free):
        return None
    slots = Slots(amount=Slot(value, Evidence.of(said)))
    return Understood(Intent.INFORM, slots, route=Route.FAST, confidence=0.9, rule=OWING, payees=heard.payees)


def _of_that(clause: ClauseSpan) -> bool:
    """Whether behind the clause a verb of sending is said of "it" or "that", which stands at the end of words."""
    grammar, reading = clause.grammar, clause.reading
    verbs, it = grammar.named(ORDERING), grammar.symbols["pronoun"]
    size = len(reading.words)
    ends = reading.lattice.of(verbs, clause.end)
    near = {at for edge in ends for at in range(edge.end, min(edge.end + _NEAR, size))}
    near = {at for at in near if reading.words[at] not in grammar.words.them}  # "the shoes cost eighty, send them"
    return any(edge.start in near and edge.end == edge.start + 1 for edge in reading.lattice.of({it}))


def spoken_of(clause: ClauseSpan) -> Understood | None:
    """The one bill that a clause speaks of and asks nothing about: "i am late on my water bill"."""
    grammar, heard, reading, said = clause.grammar, clause.heard, clause.reading, clause.words
    if not 1 < len(said) <= MOST or clause.context.offered:  # "the one who fixed my car" tells which of two
        return None
    begin, stop = clause.points
    parts = NUMBERS | {SpanKind.ORDINAL}  # "the phone bill, twentieth"
    parts |= set() if clause.context.idle else {SpanKind.DATE}  # asked: "the electric, and do it tomorrow"
    if any(span.kind in parts and span.start < stop and begin < span.end for span in heard.spans):
        return None
    owned = own_bill(clause, clause.start, clause.end)
    found = (owned if said[0] in grammar.words.subjects else None) or _first_billed(clause)
    if found is None:
        return None  # "my sister's water bill"
    edge, bill = found
    if clause.context.terms.awaited in ORDERS and not _as_bill(clause, edge):
        return None  # of an order that waits: "i'm on the phone" puts no bill in its place
    omitted = grammar.words.omitted.intersection(reading.words[clause.start : edge.start])
    if acts(clause, edge.end if omitted else clause.start, clause.end):
        return None
    slots = Slots(bill=bill_slot(clause, edge, bill, OWING))
    return Understood(Intent.INFORM, slots, route=Route.FAST, confidence=0.9, rule=OWING, payees=heard.payees)


def _as_bill(clause: ClauseSpan, edge: Edge) -> bool:
    """Whether what was named is named as a bill: "my phone bill", "the phone company"."""
    if not clause.grammar.spaced or edge.symbol == clause.grammar.symbols["biller"]:
        return True
    word = clause.grammar.symbols["bill_word"]
    return edge.end < clause.end and bool(clause.reading.lattice.of({word}, edge.end, edge.end + 1))


def _first_billed(clause: ClauseSpan) -> tuple[Edge, BillId] | None:
    """The one bill, or the company that sends one, that a clause begins with: "water bill's on the fridge"."""
    grammar, reading = clause.grammar, clause.reading
    at = next((at for at in clause.places if reading.words[at] not in grammar.words.light), clause.end)
    if any(span.kind in NUMBERS for span in clause.heard.spans) or at == clause.end or not _alone(clause):
        return None
    biller, billed = grammar.symbols["biller"], grammar.symbols["billed"]
    for edge, id_ in _bills(clause, at):
        behind = reading.lattice.of({billed}, edge.end, edge.end + 1) if edge.end < clause.end else ()
        if edge.end < clause.end and (edge.symbol == biller or behind):
            return edge, BillId(id_)
    return None


def _alone(clause: ClauseSpan) -> bool:
    """Whether one bill is named in all that was said, nobody else's, and nothing is corrected."""
    grammar, words = clause.grammar, clause.reading.words
    named = {id_ for at in range(len(words)) for _, id_ in _bills(clause, at)}
    corrected = any(clause.reading.phrases(grammar.cues.repairs))
    return len(named) == 1 and not corrected and grammar.words.others.isdisjoint(clause.words)


def _bills(clause: ClauseSpan, at: int) -> list[tuple[Edge, str]]:
    """The bills of the caller's that are named at unit `at`, by their kind or by the company that sends them."""
    biller, nouns = clause.grammar.symbols["biller"], clause.nouns
    edges = [(edge, nouns.nouns[edge.symbol]) for edge in clause.reading.phrases(nouns.trie)[at]]
    found = [(edge, noun.id) for edge, noun in edges if noun.kind == "bill" and noun.id is not None]
    sent = [(edge, edge.value) for edge in clause.reading.lattice.of({biller}, at, at + 1)]
    return [*((edge, noun.id) for edge, noun in sent if noun.id is not None), *found]
