"""What a clause tells that no template takes: parts of an order, what is owed, or nothing of an order at all."""

from dataclasses import replace
from typing import Final

from schemas.intent import Intent, Understood
from services.understanding.fast.asides.background import background, called, purposes
from services.understanding.fast.asides.reasons import NO_REASON, ClauseSpan, reason
from services.understanding.fast.asides.spoken import owes, owing, told_of
from services.understanding.fast.asides.vetoes import vetoes_met
from services.understanding.fast.clauses.clauses import Clauses
from services.understanding.fast.clauses.joining import OWING
from services.understanding.fast.freeform.parts import parts
from services.understanding.fast.matching.matching import Matching, MatchInput

_PROMISED: Final = "transfer_money.promised"
"""A rule of what the caller said that they would pay."""


def tells(found: Understood | None, span: ClauseSpan, matching: Matching, hearing: MatchInput) -> Clauses:
    """What a template `found` in a clause; else what its words tell, or that they tell nothing of an order."""
    if found is None:
        return _untaken(span, matching, hearing)
    told = found.intent is Intent.INFORM and found.slots.amount is not None
    owed = told and (owes(span) or found.by(_PROMISED))  # "emily needs fifty dollars"
    return Clauses((replace(found, rule=OWING) if owed else found,), ())


def _untaken(span: ClauseSpan, matching: Matching, hearing: MatchInput) -> Clauses:
    vetoes = vetoes_met(span, span.start, span.end)
    idle, hinders, left = span.context.idle, vetoes & NO_REASON, Clauses((), ((span.start, span.end),))
    found: Understood | None = None
    if idle and background(span):
        return Clauses((), ())
    if idle:
        found = called(span) or _for(span, matching, hearing) or parts(span)
    if found is None and not hinders:
        found = told_of(span, past="past" in vetoes)
    elif found is None and hinders == {"reported"}:
        found = owing(span)  # "she wants ninety dollars"
    if found is not None:
        return Clauses((found,), ())
    aside = not hinders or (hinders == {"question"} and span.named)  # "ken sato did the gutters"
    return Clauses((), ()) if aside and reason(span) else left


def _for(span: ClauseSpan, matching: Matching, hearing: MatchInput) -> Understood | None:
    """An order with what it is for, in any words, left out: "nine dollars to Cathy for the bus she paid for"."""
    for at in purposes(span):
        found = matching.within(hearing, span.start, at)[0]
        if found is not None and found.intent is Intent.TRANSFER_MONEY and found.slots.amount is not None:
            return found
    return None
