"""Where words go that no template takes: questions to the documents, banking talk to the model, the rest back."""

from typing import Final

from schemas.intent import Intent, Route
from schemas.span import SpanKind
from services.understanding.fast.ruleset.grammar import ASKING, BANKING, TROUBLE
from services.understanding.fast.words.hearing import Hearing

_ASKED_ABOUT: Final = frozenset({"question", "past", "conditional", "reported"})
"""Vetoes that make of banking words a question about banking."""

_REPEATED: Final = "recurring"


def route_unmatched(hearing: Hearing, vetoes: set[str], *, told: bool) -> tuple[Route, Intent | None]:
    """QNA when banking is asked about, EXTRACT (with a guess where one suggests itself) when it is spoken of.

    Words of a command with an amount, a payee or an own account `told` in them are no question for the documents.
    """
    found = hearing.routed
    if BANKING not in found:
        return Route.CLARIFY, None
    asked = ASKING in found or TROUBLE in found or hearing.text.rstrip().endswith(("?", "？"))
    guess = next((intent for intent, needed in hearing.grammar.guesses if found.issuperset(needed)), None)
    commanded = told and guess is not None and not vetoes and TROUBLE not in found
    if _REPEATED in vetoes and _pays(hearing):
        return Route.CLARIFY, None  # an order that can't be
    if (asked and not commanded) or vetoes & _ASKED_ABOUT:
        return Route.QNA, Intent.QNA
    return Route.EXTRACT, None if vetoes else guess


def _pays(hearing: Hearing) -> bool:
    """Whether a sum is told, and somebody who may get it, in a language that says last what is done."""
    match, sums = hearing.heard.payees, any(each.kind is SpanKind.MONEY for each in hearing.heard.spans)
    return sums and match is not None and bool(match.candidates) and not hearing.grammar.spaced
