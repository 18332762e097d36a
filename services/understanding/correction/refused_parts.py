"""A part of what is read back that will not do, alone or with what is said besides: 「金曜はだめ、六千円にして」."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from schemas.consent import ORDERS
from schemas.intent import MONEY_MOVING, READING, Intent, Route, SlotName, Understood
from schemas.span import SUMS, SpanKind
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
    text, parts = said.text, dict[SlotName, None]()
    for start, end, part, own in sorted(_named(said)):
        clause = said.rules.patterns.refusals.no_good.match(text, end)
        if clause is not None and not _read(found, part, start, clause.end()):
            parts |= {part: None} if own else {}
            text = with_words(text, start, clause.end(), "、")
    if text == said.text:
        return None
    rest = said_in(said.again(text), said.text) if text.strip(" 、。") else Understood(None)
    if rest.intent in _LEFT:
        return None
    rejected = tuple(part for part in parts if part.value not in values(rest.slots))
    if rest.intent in {Intent.CORRECT, Intent.INFORM} | MONEY_MOVING and rest.consent is None:
        return replace(rest, rejected=tuple(dict.fromkeys((*rest.rejected, *rejected))))
    return Understood(Intent.DENY, route=Route.FAST, confidence=1.0, rule=TOLD, rejected=rejected)


def _read(found: Understood, part: SlotName, start: int, end: int) -> bool:
    """Whether a rule has read it as refused already, or as what another value takes the place of."""
    told = values(found.slots).get(part.value)
    instead = told is not None and not start <= told.evidence.start < end
    return found.intent is Intent.CANCEL or (found.sure and found.rule != TOLD and (instead or part in found.rejected))


def _named(said: Said) -> Iterator[tuple[int, int, SlotName, bool]]:
    """The days and accounts that are named, and the order's own sum and payee: where, and whether it is its own."""
    terms, units, nouns = said.context.terms, said.units, said.hearing.nouns
    for span in said.heard.spans:
        sum_ = getattr(span.value, "amount_minor", None) if span.kind in SUMS else None
        if span.kind is SpanKind.DATE:
            yield span.start, span.end, SlotName.DATE, getattr(span.value, "start", None) == terms.on
        elif terms.amount is not None and sum_ == terms.amount.minor:
            yield span.start, span.end, SlotName.AMOUNT, True
    for that in said.rules.patterns.refusals.that_part.finditer(said.text):
        yield that.start(), that.end(), SlotName(that.lastgroup or ""), True
    for edge in nouns.trie.edges(said.hearing.reading.words):
        if (noun := nouns.nouns[edge.symbol]).kind == "account":
            part = SlotName.TARGET if noun.id in {terms.target} - {None} else SlotName.SOURCE
            yield units.starts[edge.start], units.ends[edge.end - 1], part, noun.id in {terms.source, terms.target}
    names = {each for name in terms.names for each in (name, name.replace(" ", ""))} if terms.bill is None else set()
    if called := max((each for each in names if len(each) >= _LEAST and each in said.text), key=len, default=""):
        yield said.text.index(called), said.text.index(called) + len(called), SlotName.PAYEE, True
