"""A part of what is read back that will not do, alone or with what is said besides: 「金曜はだめ、六千円にして」."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from schemas.consent import ORDERS
from schemas.intent import MONEY_MOVING, READING, Intent, Route, SlotName, Understood
from schemas.money import exponent
from schemas.span import SUMS, Span, SpanKind, amount_readings
from services.understanding.correction.merging import said_in, values, with_words
from services.understanding.correction.said import Said
from services.understanding.fast.freeform.told import RULE as TOLD

_LEFT: Final = READING | {Intent.HUMAN_HANDOFF, Intent.REPEAT}
"""What is wanted besides, and says nothing of the order."""
_LEAST: Final = 2
"""Characters of a name, at least."""


def refused(said: Said, found: Understood) -> Understood | None:
    """What is told besides, with the parts that are refused as such; None where none is, or all of it was read."""
    if said.rules.spaced or said.context.terms.awaited not in ORDERS:
        return None
    text, parts = said.text, list[SlotName]()
    for part, start, end in sorted(_named(said), key=lambda each: each[1]):
        clause = said.rules.patterns.no_good.match(text, end)
        if clause is None or _read(found, part, start, clause.end()):
            continue
        parts.append(part)
        text = with_words(text, start, clause.end(), "、")
    if not parts:
        return None
    rest = said_in(said.again(text), said.text) if text.strip(" 、。") else Understood(None)
    if rest.intent in _LEFT:
        return None
    own = _own(said)
    mine = [part for part in dict.fromkeys(parts) if part in own and part.value not in values(rest.slots)]
    if rest.intent in {Intent.CORRECT, Intent.INFORM} | MONEY_MOVING and rest.consent is None:
        return replace(rest, rejected=tuple(dict.fromkeys((*rest.rejected, *mine))))
    return Understood(Intent.DENY, route=Route.FAST, confidence=1.0, rule=TOLD, rejected=tuple(mine))


def _read(found: Understood, part: SlotName, start: int, end: int) -> bool:
    """Whether a rule has read it as refused already, or as what another value takes the place of."""
    told = values(found.slots).get(part.value)
    instead = told is not None and not start <= told.evidence.start < end
    return found.intent is Intent.CANCEL or (found.sure and found.rule != TOLD and (instead or part in found.rejected))


def _named(said: Said) -> Iterator[tuple[SlotName, int, int]]:
    """The days and own accounts that are named, and the order's own parts, each with its place."""
    terms, units, nouns = said.context.terms, said.units, said.hearing.nouns
    for span in said.heard.spans:
        if span.kind is SpanKind.DATE:
            yield SlotName.DATE, span.start, span.end
        elif span.kind in SUMS and _so_much(said, span):
            yield SlotName.AMOUNT, span.start, span.end
    for that in said.rules.patterns.that_part.finditer(said.text):
        yield SlotName(that.lastgroup or ""), that.start(), that.end()
    for row in said.hearing.reading.phrases(nouns.trie):
        edges = [edge for edge in row if nouns.nouns[edge.symbol].kind == "account"]
        for edge in edges:
            into = terms.target is not None and nouns.nouns[edge.symbol].id == terms.target
            yield SlotName.TARGET if into else SlotName.SOURCE, units.starts[edge.start], units.ends[edge.end - 1]
    names = {each for name in terms.names for each in (name, name.replace(" ", ""))} if terms.bill is None else set()
    called = max((each for each in names if len(each) >= _LEAST and each in said.text), key=len, default="")
    if called:
        at = said.text.index(called)
        yield SlotName.PAYEE, at, at + len(called)


def _own(said: Said) -> set[SlotName]:
    """The parts of which the order's own value is named."""
    terms, nouns = said.context.terms, said.hearing.nouns
    named = {nouns.nouns[edge.symbol].id for row in said.hearing.reading.phrases(nouns.trie) for edge in row}
    days = [span.value for span in said.heard.spans if span.kind is SpanKind.DATE]
    told = {SlotName.AMOUNT, SlotName.PAYEE}
    told |= {SlotName(that.lastgroup or "") for that in said.rules.patterns.that_part.finditer(said.text)}
    told |= {SlotName.DATE} if any(getattr(day, "start", None) == terms.on for day in days) else set()
    told |= {SlotName.SOURCE} if terms.source in named else set()
    return told | ({SlotName.TARGET} if terms.target in named else set())


def _so_much(said: Said, span: Span) -> bool:
    """Whether a sum is first of all the order's."""
    amount = said.context.terms.amount
    readings = amount_readings(span, exponent(amount.currency)) if amount is not None else ()
    return amount is not None and bool(readings) and readings[0].amount_minor == amount.minor
