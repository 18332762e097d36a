"""A transfer behind a story, told by the account that is to pay: "I promised will ninety, it comes out of savings"."""

from dataclasses import replace
from typing import Final

from schemas.ids import AccountId, RuleId
from schemas.intent import Intent, Mention, Route, Slot, SlotName, Slots, Understood
from schemas.span import SpanKind
from services.understanding.correction.said import Said
from services.understanding.fast.asides.reasons import ClauseSpan
from services.understanding.fast.clauses.segments import begins
from services.understanding.fast.freeform.parts import sole_amount
from services.understanding.fast.ruleset.grammar import TROUBLE
from services.understanding.offers.proposed import several_of, unread

_RULE: Final = RuleId("intents.paid_from@1")
_STOPS: Final = frozenset({"negation", "conditional", "recurring", "trouble", "thing"})
_MOST: Final = 3
"""Words that join two clauses, at most."""


def paid_from(said: Said, found: Understood) -> Understood | None:
    """The offer, of several sums without one; None where the words were read, or ask."""
    if not said.rules.spaced or not said.context.idle or not unread(found) or said.text.rstrip().endswith("?"):
        return None
    span, vetoes = ClauseSpan.whole(said.naming), {veto.partition(".")[2] for veto in found.vetoes}
    told = any(each.kind is SpanKind.MONEY for each in said.heard.spans)
    asks = not told or span.words[0] in said.rules.words.asking or TROUBLE in span.routed or vetoes & _STOPS
    source = _source(said, span) if told and not asks else None
    if source is None:
        return None
    match = several_of(said.heard.payees)
    who = () if match is None else (Mention(SlotName.PAYEE, said.heard.evidence(match.start, match.end, _RULE)),)
    slots = Slots(amount=sole_amount(span), source=source)
    offer = Understood(Intent.TRANSFER_MONEY, slots, route=Route.CLARIFY, confidence=0.5, rule=_RULE, payees=match)
    return replace(offer, unresolved=who)


def _source(said: Said, span: ClauseSpan) -> Slot[AccountId] | None:
    """The account that the last clause says the money comes from, and nothing else."""
    units, joins = said.units, said.rules.phrases.conjunctions
    for at in range(len(units.words) - 1, 0, -1):
        paused = said.text[units.ends[at - 1] : units.starts[at]].strip()
        part = paused or joins.ends(units.words, at, _MOST) or begins(span, at)
        told = said.told(units.starts[at], len(said.text)) if part else None
        if told is not None and told.slots.source is not None:
            return told.slots.source if told.slots == Slots(source=told.slots.source) else None
    return None
