"""Another amount of the order that waits with why it is that, or one that is to stay: 「源泉引いて2万円にして」."""

from dataclasses import replace
from typing import Final

from schemas.consent import ORDERS, Awaited
from schemas.ids import RuleId
from schemas.intent import TOLD_ALONE, Intent, Route, Slot, SlotName, Slots, Topic, Understood
from schemas.payee import MatchOutcome
from schemas.span import NUMBERS, Span
from services.understanding.correction.amounts import comes_to, unit
from services.understanding.correction.merging import said_in
from services.understanding.correction.said import Said

_WAITING: Final = ORDERS | {Awaited.TASK}
_UNREAD: Final = frozenset({None, Intent.DENY, Intent.QNA})
_FEW: Final = 10
_KEPT: Final = RuleId("intents.kept_there@1")


def reasoned_amount(said: Said, found: Understood) -> Understood | None:
    """The one amount that is named, behind a reason for it; None where anything else is named."""
    sums = _sums(said)
    if said.context.terms.awaited not in ORDERS or len(sums) != 1 or found.intent is Intent.CONFIRM:
        return None
    if found.slots == Slots(amount=found.slots.amount) and found.intent in TOLD_ALONE and found.whole:
        return None
    match, (span,), text = said.heard.payees, sums, said.text
    named = match is not None and match.outcome is not MatchOutcome.NOBODY and match.choice is not None
    lead = said.rules.patterns.amounts.so_much.search(text, 0, span.start)
    if named or lead is None or not said.rules.patterns.amounts.so_much_after.search(text[span.end :]):
        return None
    if not said.rules.patterns.amounts.why_so_much.search(text[: lead.start("at")]):
        return None
    nouns = said.hearing.nouns
    if any(nouns.nouns[edge.symbol].id for row in said.hearing.reading.phrases(nouns.trie) for edge in row):
        return None
    told = said.look(lead.start("at"), len(text), said.context)
    alone = told.slots.amount is not None and told.slots == Slots(amount=told.slots.amount) and told.whole
    sure = told.intent in TOLD_ALONE and told.route is Route.FAST and not told.by("intents.told")
    return told if alone and sure else None


def explained_amount(said: Said, found: Understood) -> Understood | None:
    """The one amount that is named, and why behind it: "fifty actually, she did extra"; None where that tells more."""
    context, patterns, text = said.context, said.rules.patterns.amounts, said.text
    if context.idle or context.code or found.consent is not None or found.then is not None:
        return None
    open_ = (found.intent in _UNREAD and found.rule is None) or found.slots.topic is not None or found.unread
    span = next(iter(_sums(said)), None)
    why = patterns.told_why.search(text, span.end) if open_ and span is not None else None
    if why is None or patterns.mends.search(text, why.end("why")) or not _only_tells(said, why.start("why")):
        return None
    told = said.look(0, why.start("why"), context)
    alone = told.slots.amount is not None and told.slots == Slots(amount=told.slots.amount) and told.whole
    return told if alone and told.intent in TOLD_ALONE and told.route is Route.FAST else None


def one_or_of_one(said: Said, found: Understood) -> Understood | None:
    """Both amounts that "make that one seventy five" may be, of which one is asked; None for any other words."""
    place = (
        said.rules.patterns.amounts.that_one.search(said.text) if not said.context.idle and found.rule is None else None
    )
    if place is None:
        return None
    text, begin = said.text, place.start()
    more, alone = (said.again(text[:begin] + text[at:]) for at in place.span("one"))
    told = [each.slots.amount for each in (more, alone) if each.intent in TOLD_ALONE and each.whole]
    amounts = [each for each in told if each is not None]
    if len(amounts) != 2 or more.slots != Slots(amount=amounts[0]):  # noqa: PLR2004 - both, or it is no such
        return None
    whole = said.heard.evidence(place.start("one"), len(text), _KEPT)
    return said_in(replace(more, slots=Slots(amount=Slot(amounts[0].value, whole, (amounts[1].value,)))), text)


def _only_tells(said: Said, start: int) -> bool:
    """Whether the words from `start` on name no sum, no day, nobody and nothing of the caller's."""
    units, nouns, match = said.units, said.hearing.nouns, said.heard.payees
    places = [at for at, begin in enumerate(units.starts) if begin >= start]
    if any(span.start >= start and (span.kind not in NUMBERS or _much(said, span)) for span in said.heard.spans):
        return False
    if match is not None and match.outcome is not MatchOutcome.NOBODY and match.start >= start:
        return False
    if any(said.rules.cues.repairs.scan(units.words, at) for at in places):
        return False
    return not any(nouns.nouns[e.symbol].id for at in places for e in nouns.trie.scan(units.words, at))


def _much(said: Said, span: Span) -> bool:
    """Whether a number is more than how many of something: "two hours"."""
    return any(value.amount_minor >= _FEW * unit(said.heard) for value in comes_to(span, said.heard))


def kept_there(said: Said, found: Understood) -> Understood | None:
    """That the one amount which is named is to stay where it is, and is not the order's: nobody knows what is then."""
    context, sums, patterns = said.context, _sums(said), said.rules.patterns.amounts
    if context.idle or context.code or len(sums) != 1 or found.intent is Intent.CANCEL:
        return None
    if context.terms.awaited not in _WAITING and context.asked is not SlotName.AMOUNT:
        return None
    (span,) = sums
    before, behind = said.text[: span.start], said.text[span.end :]
    if not (patterns.kept_before.search(before) and patterns.kept_behind.search(behind)):
        return None
    slots = Slots(topic=Slot(Topic.EXACT, said.heard.whole(_KEPT)))
    meant = replace(found, intent=Intent.CORRECT, slots=slots, rule=_KEPT, rejected=(SlotName.AMOUNT,))
    return replace(meant, route=Route.FAST, confidence=1.0, unread=(), unresolved=(), then=None, doubted=(), missing=())


def _sums(said: Said) -> list[Span]:
    return [span for span in said.heard.spans if span.kind in NUMBERS]
