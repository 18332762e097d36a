"""Where words go that no template takes: questions to the documents, banking talk to the model, the rest back."""

from typing import Final

from schemas.intent import Intent, Route
from services.understanding.fast.ruleset.grammar import ASKING, BANKING, TROUBLE
from services.understanding.fast.words.hearing import Hearing

_ASKED_ABOUT: Final = frozenset({"question", "past", "conditional", "reported"})
"""Vetoes that make of banking words a question about banking."""


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
    if (asked and not commanded) or vetoes & _ASKED_ABOUT:
        return Route.QNA, Intent.QNA
    return Route.EXTRACT, None if vetoes else guess
