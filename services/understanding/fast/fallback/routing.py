"""Where words go that no template takes: questions to the documents, banking talk to the model, the rest back."""

from typing import Final

from schemas.intent import Annotation, Intent, Route
from services.understanding.fast.ruleset.grammar import ASKING, BANKING, TROUBLE, Grammar
from services.understanding.fast.words.reading import UtteranceLattice

_ASKED_ABOUT: Final = frozenset({"question", "past", "conditional", "reported"})
"""Vetoes that make of banking words a question about banking."""


def route_unmatched(
    grammar: Grammar, heard: Annotation, reading: UtteranceLattice, vetoes: set[str], *, told: bool
) -> tuple[Route, Intent | None]:
    """QNA when banking is asked about, EXTRACT (with a guess where one suggests itself) when it is spoken of.

    Words of a command with an amount, a payee or an own account `told` in them are no question for the documents.
    """
    found = {edge.symbol for edges in reading.phrases(grammar.routing) for edge in edges}
    if BANKING not in found:
        return Route.CLARIFY, None
    asked = ASKING in found or TROUBLE in found or heard.transcript.text.rstrip().endswith(("?", "？"))
    guess = next((intent for intent, needed in grammar.guesses if found.issuperset(needed)), None)
    commanded = told and guess is not None and not vetoes and TROUBLE not in found
    if (asked and not commanded) or vetoes & _ASKED_ABOUT:
        return Route.QNA, Intent.QNA
    return Route.EXTRACT, None if vetoes else guess
