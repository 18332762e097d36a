"""Words that are no answer to what was asked: the context in which they are heard again, and whether that counts."""

from dataclasses import replace
from typing import Final

from schemas.consent import NO_TERMS, Awaited
from schemas.intent import MONEY_MOVING, PROPOSING, READING, Context, Intent, Understood
from schemas.span import Span, SpanKind

_MOST_FIGURES: Final = 4
_ANEW: Final = "acts.code_anew"
"""The rule of a number that may be a code, behind words that correct."""
_WISHES: Final = READING | MONEY_MOVING | {Intent.CARD_LOCK, Intent.CARD_UNLOCK}


def unasked(context: Context, spans: tuple[Span, ...], found: Understood) -> Context | None:
    """The context without what was asked; None where the words are an answer, or something waits behind it."""
    if context.code:
        code = found.slots.digits
        anew = code is not None and len(code.value) < _MOST_FIGURES and found.by(_ANEW)
        return replace(context, code=False) if anew or _no_code(found, spans) else None
    offered = context.terms.awaited is Awaited.PERSON and context.asked is None and not context.confirming
    return replace(context, terms=NO_TERMS) if offered and found.intent is None else None


def counts(context: Context, spans: tuple[Span, ...], found: Understood, meant: Understood) -> bool:
    """Whether what words are `meant` for unasked is wanted: another amount than a code, or a wish of its own."""
    if context.code:
        return _corrects(meant, alone=not _no_code(found, spans))
    return meant.intent in _WISHES and not (meant.rule or PROPOSING).startswith(PROPOSING)


def _no_code(found: Understood, spans: tuple[Span, ...]) -> bool:
    return found.intent is None and any(each.kind is SpanKind.DIGITS for each in spans)


def _corrects(meant: Understood, *, alone: bool) -> bool:
    """Whether what is no code corrects the amount: "make it 900 instead"; one of more figures is rather a code."""
    amount = meant.slots.amount if meant.intent is Intent.CORRECT else None
    if alone and (meant.rule is None or meant.by("correct.bare", "acts.told", "intents.told")):
        return False  # a part of a code
    return amount is not None and sum(map(str.isdigit, amount.evidence.surface)) <= _MOST_FIGURES
