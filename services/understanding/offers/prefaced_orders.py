"""An order behind clauses that lead up to it, where among so many words its payee or its verb was not seen.

「急いでるんだけど、花子、妹ね、一万円送りたい」: behind the clause it is a whole order. One that holds a value, a
thing of the caller's, or a word by which the order might not be wanted so leads up to nothing.
"""

from dataclasses import replace
from typing import Final

from schemas.intent import MONEY_MOVING, READING, Intent, Route, SlotName, Understood
from schemas.span import SpanKind
from services.understanding.correction.merging import said_in
from services.understanding.correction.said import Said
from services.understanding.fast.asides.vetoes import vetoes_met
from services.understanding.fast.words.vocabulary import owned

_MOST: Final = 3
"""Clauses behind which an order is looked for, at most."""
_TWO: Final = 2
_UNSURE: Final = frozenset({None, Route.QNA, Route.CLARIFY, Route.EXTRACT})
_ASKING: Final = frozenset({"question", "how", "whether"})
_VALUES: Final = frozenset({SpanKind.MONEY, SpanKind.NUMBER, SpanKind.DATE, SpanKind.TIME})


def led_up(said: Said, found: Understood) -> Understood | None:
    """The whole order behind a clause; None where `found` is one, or a clause may be a part of it."""
    rules, text, heard = said.rules, said.text, said.heard
    if rules.leads is None or not said.context.idle or not _open(found):
        return None
    hearing = said.hearing
    reading, units = hearing.reading, hearing.reading.units
    for at in rules.leads.ends(text, units, reading.taken)[:_MOST]:
        cut = units.starts[at]
        barred = vetoes_met(hearing, 0, at) & (rules.leads.barring | _ASKING)
        things = any(owned(hearing.nouns, reading.words, at).values())
        valued = any(span.kind in _VALUES and span.start < cut for span in heard.spans)
        if barred or things or valued or (heard.payees is not None and heard.payees.start < cut):
            return None
        order = said.look(cut, len(text), said.context)
        if _whole(order):
            return replace(order, rule=rules.cues.rule("led_up"))
    return None


def needed_by(said: Said, found: Understood) -> Understood | None:
    """The order with its own day, behind the one by which somebody needs it: "needs it by friday, send it thursday"."""
    text, rules = said.text, said.rules
    days = [span for span in said.heard.spans if span.kind is SpanKind.DATE]
    if len(days) != _TWO or not said.context.idle or said.context.code or (found.route is Route.FAST and found.whole):
        return None
    told = rules.patterns.orders.needed_by.search(text, 0, days[0].start)
    if told is None or rules.patterns.orders.it_sent.search(text, days[0].end) is None:
        return None
    start, end = told.start("by"), days[0].end
    order = said_in(said.again(text[:start] + " " * (end - start) + text[end:]), text)
    day = order.slots.date
    own = day is not None and day.evidence.start <= days[1].start < day.evidence.end
    return order if own and order.intent is Intent.TRANSFER_MONEY and _whole(order) else None


def _open(found: Understood) -> bool:
    """Whether what was understood is no order yet: something else, or one of which its payee was not seen."""
    lacking = found.intent is Intent.TRANSFER_MONEY and SlotName.PAYEE in found.missing and not found.unresolved
    return found.then is None and (found.route in _UNSURE or lacking)


def _whole(order: Understood) -> bool:
    """Whether it is an order, or a question about what there is, of which nothing is missing or unread."""
    told = order.intent in MONEY_MOVING | READING and order.route is Route.FAST and order.rule is not None
    return told and order.whole and not (order.missing or order.rejected)
