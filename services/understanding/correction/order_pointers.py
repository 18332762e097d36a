"""Which of several orders is meant, where it is not the one at hand: 「麻衣のは間違いでした、中村さんです」."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from schemas.consent import ORDERS
from schemas.ids import PayeeId
from schemas.intent import Intent, Route, Understood
from schemas.span import MoneyValue, SpanKind
from services.understanding.correction.mentions import Mentions
from services.understanding.correction.merging import said_in, values, with_words
from services.understanding.correction.said import Said

_TOLD: Final = frozenset({Intent.CORRECT, Intent.INFORM})
_PLACES: Final = {"n2": 2, "n3": 3}


def of_another(said: Said) -> Understood | None:
    """What is told, and of which order; None where nothing is, or it is the one that is read back."""
    behind = said.rules.patterns.of_that_order
    if said.rules.spaced or said.context.terms.awaited not in ORDERS or behind.search(said.text) is None:
        return None
    for start, end, which in sorted(_pointed(said), key=lambda each: each[0]):
        clause = behind.match(said.text, end)
        if clause is None:
            continue
        rest = said_in(said.again(with_words(said.text, start, clause.end(), "")), said.text)
        told = rest.intent in _TOLD and rest.route is Route.FAST and rest.then is None and rest.consent is None
        if told and (values(rest.slots) or rest.unresolved):
            return replace(rest, said_of=which)
    return None


def _pointed(said: Said) -> Iterator[tuple[int, int, PayeeId | MoneyValue | int]]:
    """Somebody else, another sum or a place among the orders, each where it stands."""
    terms = said.context.terms
    own = {each for name in terms.names for each in (name, name.replace(" ", ""))}
    for evidence, payee in Mentions.of_all(said).payees():
        if evidence.surface not in own:
            yield evidence.start, evidence.end, payee
    for span in said.heard.spans:
        value = span.value
        other = terms.amount is None or getattr(value, "amount_minor", None) != terms.amount.minor
        if span.kind is SpanKind.MONEY and isinstance(value, MoneyValue) and other:
            yield span.start, span.end, value
    for place in said.rules.patterns.nth_order.finditer(said.text):
        yield place.start(), place.end(), _PLACES[place.lastgroup or ""]
