"""Where words go that no template takes: questions to the documents, banking talk to the model, the rest back."""

from schemas.intent import Heard, Route
from services.understand.fast.grammar import ASKING, BANKING, TROUBLE, Grammar
from services.understand.fast.reading import Reading


def route_unmatched(grammar: Grammar, heard: Heard, reading: Reading, vetoes: set[str]) -> Route:
    """QNA when banking is asked about, EXTRACT when it is spoken of, CLARIFY otherwise."""
    found: set[int] = set()
    for at in range(len(reading.words)):
        for edge in grammar.routing.scan(reading.words, at):
            found.add(edge.symbol)
    if BANKING not in found:
        return Route.CLARIFY
    asked = ASKING in found or TROUBLE in found or heard.transcript.text.rstrip().endswith(("?", "？"))
    if asked or vetoes & {"question", "past", "conditional", "reported"}:
        return Route.QNA
    return Route.EXTRACT
