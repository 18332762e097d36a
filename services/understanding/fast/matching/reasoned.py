"""What stands behind or before an order and is none, in a language that says last what it wants."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from schemas.consent import ORDERS
from schemas.intent import MONEY_MOVING, TOLD_ALONE, Evidence, Route, SlotName, Understood
from schemas.span import SpanKind
from services.understanding.fast.asides.vetoes import vetoes_met
from services.understanding.fast.clauses.joining import told_both
from services.understanding.fast.matching.matching import MatchInput

_DOUBTED: Final = frozenset({"conditional", "recurring", "reported", "trouble", "direction", "refusal", "negation"})
"""Vetoes with which the words behind may say that the order is none: it is asked about."""


def reasoned(hearing: MatchInput, read: Callable[[int], Understood | None]) -> Understood | None:
    """What the units before a reason say, as `read` takes them; asked about where the reason may speak against it."""
    leads, reading, text = hearing.grammar.leads, hearing.reading, hearing.text
    if leads is None or not hearing.context.idle:
        return None
    for at in leads.reasons(text, reading.units, reading.taken):
        if _anew(hearing, at):
            return None
        found = read(at)
        if found is None or found.then is not None:
            continue
        doubted = vetoes_met(hearing, at, len(reading.words)) & _DOUBTED
        told = doubted or leads.goes_on(text, reading.units, at)
        return replace(found, route=Route.CLARIFY) if told and found.intent in MONEY_MOVING else found
    return None


def _anew(hearing: MatchInput, start: int) -> bool:
    """Whether the words from unit `start` on say something anew, or name a thing of the caller's own."""
    words, nouns, marks = hearing.reading.words, hearing.nouns, hearing.grammar.cues
    tries = (marks.repairs, marks.undoing, marks.not_now)
    return any(trie.begins(words, at) for at in range(start, len(words)) for trie in tries) or any(
        nouns.nouns[edge.symbol].id is not None
        for at in range(start, len(words))
        for edge in nouns.trie.scan(words, at)
    )


def named_behind(
    hearing: MatchInput, found: Understood | None, behind: Callable[[], Understood | None]
) -> Understood | None:
    """`found`, or where its payee is a name that nobody bears, what is told behind the clause that was taken for it."""
    unknown = found is not None and any(mention.slot is SlotName.PAYEE for mention in found.unresolved)
    if not unknown or hearing.grammar.endings is None or not hearing.context.idle:
        return found
    order = behind()
    if order is None or order.unresolved or not (order.slots.payee or order.slots.target or order.slots.bill):
        return found
    amount = order.slots.amount
    sums = [span for span in hearing.heard.spans if span.kind is SpanKind.MONEY]
    told = all(amount is not None and span.start == amount.evidence.start for span in sums)
    return order if told else found


def corrected_twice(
    hearing: MatchInput, end: int, later: Understood, before: Callable[..., Understood | None]
) -> Understood | None:
    """What is corrected before unit `end` of a read-back as well: 「値上がりして八千円だった。それで月曜に」."""
    units = hearing.reading.units
    sums = [s for s in hearing.heard.spans if s.kind is SpanKind.MONEY and s.end <= units.ends[end - 1]]
    place = units.covering(sums[-1].start, sums[-1].end) if sums else None
    if place is None or later.intent not in TOLD_ALONE or hearing.context.terms.awaited not in ORDERS:
        return None
    one = before(end) or before(end, place[0])
    over = hearing.grammar.cues.past_days.holds(hearing.reading.words[:end])  # 「先月は三万円だったけど」
    twice = told_both(one, later) if one is not None and not over else None
    return twice or replace(later, unread=(*later.unread, *map(Evidence.of, sums)))
