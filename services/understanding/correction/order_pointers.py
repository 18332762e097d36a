"""Which of several orders is meant, where it is not the one at hand: 「麻衣のは間違いでした、中村さんです」."""

from dataclasses import replace
from typing import Final

from schemas.consent import ORDERS
from schemas.ids import PayeeId
from schemas.intent import Intent, Route, Understood
from schemas.span import MoneyValue
from services.understanding.correction.merging import said_in, values, with_words
from services.understanding.correction.said import Said

_TOLD: Final = frozenset({Intent.CORRECT, Intent.INFORM})
_PLACES: Final = {"n2": 2, "n3": 3}


def of_another(said: Said) -> Understood | None:
    """What is told, and of which order; None where nothing is, or it is the one that is read back."""
    if said.context.terms.awaited not in ORDERS:
        return None
    for clause in said.rules.patterns.orders.of_that_order.finditer(said.text):
        start, which = _pointed(said, clause.start())
        if which is None:
            continue
        if said.rules.spaced:  # of no order that is spoken of amid something else
            before = said.rules.patterns.orders.before_that_order.fullmatch(said.text, 0, start)
            if before is None or (clause["bare"] is not None and before["denied"] is None):
                continue
            start = 0
        rest = said_in(said.again(with_words(said.text, start, clause.end(), "")), said.text)
        told = rest.intent in _TOLD and rest.route is Route.FAST and rest.then is None and rest.consent is None
        if told and (values(rest.slots) or rest.unresolved):
            return replace(rest, said_of=which)
    return None


def _pointed(said: Said, end: int) -> tuple[int, PayeeId | MoneyValue | int | None]:
    """The place among the orders, other sum or somebody else that ends at a code point, and where it begins."""
    terms, before = said.context.terms, said.text[:end]
    for place in said.rules.patterns.orders.nth_order.finditer(said.text):
        if place.end() == end:
            return place.start(), _PLACES[place.lastgroup or ""]
    for span in said.heard.spans:
        if span.end - end in {0, 1} and isinstance(span.value, MoneyValue):
            own = terms.amount is not None and span.value.amount_minor == terms.amount.minor
            return span.start, None if own else span.value
    match = said.find(before.ljust(len(said.text)))
    if match is None or match.plausible != 1 or match.end != end:
        return end, None
    if match.heard.casefold() in "".join(terms.names).casefold():
        return end, None
    return match.start, match.candidates[0].id
