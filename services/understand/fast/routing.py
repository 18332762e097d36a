"""Where words go that no template takes: questions to the documents, banking talk to the model, the rest back."""

from typing import Final

from schemas.intent import Heard, Intent, Route
from services.understand.fast.grammar import ASKING, BANKING, TROUBLE, Grammar
from services.understand.fast.reading import Reading

_ASKED_ABOUT: Final = frozenset({"question", "past", "conditional", "reported"})
"""Vetoes that make of banking words a question about banking."""


def route_unmatched(grammar: Grammar, heard: Heard, reading: Reading, vetoes: set[str]) -> tuple[Route, Intent | None]:
    """QNA when banking is asked about, EXTRACT (with a guess where one suggests itself) when it is spoken of."""
    found = {edge.symbol for at in range(len(reading.words)) for edge in grammar.routing.scan(reading.words, at)}
    if BANKING not in found:
        return Route.CLARIFY, None
    asked = ASKING in found or TROUBLE in found or heard.transcript.text.rstrip().endswith(("?", "？"))
    if asked or vetoes & _ASKED_ABOUT:
        return Route.QNA, Intent.QNA
    if vetoes:
        return Route.EXTRACT, None
    guesses = (intent for intent, needed in grammar.guesses if found.issuperset(needed))
    return Route.EXTRACT, next(guesses, None)
