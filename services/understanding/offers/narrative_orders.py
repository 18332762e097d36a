"""An order behind a story: "my sister paid for us all and that was a hundred and eighty, so can you send her ninety".

Nobody can read the talk before it, which may name other sums and other people: what is asked for at the end is offered,
with the one person who was named where it says but "her". A condition in the talk is told to have been missed.
"""

from dataclasses import replace
from typing import Final

from schemas.ids import AccountId, PayeeId, RuleId
from schemas.intent import MONEY_MOVING, Evidence, Intent, Mention, Route, Slot, SlotName, Slots, Understood
from schemas.payee import MatchOutcome
from schemas.span import SpanKind
from services.understanding.correction.said import Said
from services.understanding.fast.asides.reasons import ClauseSpan, another_named
from services.understanding.fast.asides.vetoes import goes_over
from services.understanding.fast.clauses.segments import begins
from services.understanding.fast.freeform.parts import sole_amount
from services.understanding.fast.freeform.told import own_accounts
from services.understanding.fast.ruleset.grammar import TROUBLE
from services.understanding.fast.words.hearing import Hearing
from services.understanding.offers.learned_proposals import several_of, unread

_RULE: Final = RuleId("intents.behind_talk@1")
_SURE: Final = 0.5
_MOST: Final = 4
"""Places at which what is asked for may begin, from the last one on."""
_LEAST: Final = 2
"""Words of the talk, at least."""
_STOPS: Final = frozenset({"negation", "conditional", "recurring", "trouble", "thing"})
_TELLING: Final = frozenset({"past"})
"""The only veto of a story in which an order may be meant."""
_STORY: Final = 16
"""Words of one, at least."""
_TO_THEM: Final = "transfer_money.to_them"


def behind_talk(said: Said, found: Understood) -> Understood | None:
    """The offer; None where the words were read, or no whole order stands at their end."""
    text, context = said.text, said.context
    if not said.rules.spaced or not context.idle or context.code or not unread(found) or text.rstrip().endswith("?"):
        return None
    hearing = said.naming
    for at in [at for at in reversed(range(_LEAST, len(hearing.reading.words))) if _asks(hearing, at)][:_MOST]:
        order = said.look(hearing.reading.units.starts[at], len(text), context)
        if _whole(order):
            return _offer(hearing, found, order, at)
    return _paid_from(said, ClauseSpan.whole(hearing), found)


def spoken_of(said: Said, found: Understood) -> Understood | None:
    """The offer of the one sum to the one person that a story names where the verb comes last; None where it asks."""
    match, text, patterns = said.heard.payees, said.text, said.rules.patterns
    stopped = found.stopped - _TELLING - ({"negation"} if patterns.stories.not_yet.search(text) else set())
    if said.rules.spaced or not said.context.idle or said.context.code or not unread(found) or stopped:
        return None
    if match is None or match.choice is None or match.outcome is not MatchOutcome.CLEAR:
        return None
    span = ClauseSpan.whole(said.naming)
    amount = sole_amount(span)
    no_order = (
        patterns.stories.settled,
        patterns.stories.came_in,
        patterns.refusals.already_done,
        patterns.alarms.worried,
        patterns.alarms.grievance,
    )
    if amount is None or TROUBLE in span.routed or another_named(span) or any(each.search(text) for each in no_order):
        return None
    slots = Slots(amount=amount, payee=Slot(PayeeId(match.choice), Evidence.naming(match, _RULE)))
    offer = Understood(Intent.TRANSFER_MONEY, slots, route=Route.CLARIFY, confidence=_SURE, rule=_RULE, payees=match)
    return replace(offer, unread=(said.heard.whole(_RULE),))


def _paid_from(said: Said, span: ClauseSpan, found: Understood) -> Understood | None:
    """A transfer of what was told, where a story ends with the account that pays: "… him ninety, out of joint"."""
    last = [(edge, id_) for part, edge, id_ in own_accounts(span) if part == "source" and edge.end >= span.end - 1]
    asks = len(span.words) < _STORY or span.words[0] in span.grammar.words.asking or TROUBLE in span.routed
    stopped = asks or bool(found.stopped & _STOPS)
    if stopped or len(last) != 1 or not any(each.kind is SpanKind.MONEY for each in said.heard.spans):
        return None
    source = Slot(AccountId(last[0][1]), span.said(last[0][0].start, last[0][0].end, _RULE))
    match = several_of(said.heard.payees)
    who = () if match is None else (Mention(SlotName.PAYEE, Evidence.naming(match, _RULE)),)
    slots = Slots(amount=sole_amount(span), source=source)
    offer = Understood(Intent.TRANSFER_MONEY, slots, route=Route.CLARIFY, confidence=_SURE, rule=_RULE, payees=match)
    return replace(offer, unresolved=(*who, *_days_behind(said, slots)))


def _days_behind(said: Said, slots: Slots) -> tuple[Mention, ...]:
    """The first day behind the sum, which may be the order's: it is asked about; one before it is the story's."""
    sum_ends = slots.amount.evidence.end if slots.amount is not None else 0
    days = [span for span in said.heard.spans if span.kind is SpanKind.DATE and span.start >= sum_ends]
    return tuple(Mention(SlotName.DATE, said.heard.evidence(span.start, span.end, _RULE)) for span in days[:1])


def _offer(hearing: Hearing, found: Understood, order: Understood, at: int) -> Understood:
    """What is ordered from a unit on; to nobody yet, where it says "her" and more than one was named."""
    slots, match, reading = order.slots, order.payees, hearing.reading
    one = None if another_named(ClauseSpan.whole(hearing)) else hearing.heard.payees
    if SlotName.PAYEE in order.missing and one is not None and one.choice is not None:
        match = one
        slots = replace(slots, payee=Slot(PayeeId(one.choice), Evidence(one.start, one.end, one.heard, _RULE)))
    conditions = hearing.grammar.cues.conditions
    given = any(conditions.begins(reading.words, before) for before in range(at))
    talk = (hearing.said(0, at, _RULE),) if given else ()
    meant = Understood(order.intent, slots, route=Route.CLARIFY, confidence=_SURE, rule=_RULE, vetoes=found.vetoes)
    return replace(meant, payees=match, unread=talk)


def _asks(hearing: Hearing, at: int) -> bool:
    """Whether something is asked for from a unit on, and no word before it turns that around."""
    words = hearing.reading.words
    asked = hearing.grammar.phrases.requests.begins(words, at) and words[at - 1] not in hearing.grammar.words.onto
    return asked and begins(hearing, at) and not goes_over(hearing, at)


def _whole(order: Understood) -> bool:
    """Whether it is an order of which nothing is open but whom "her" means."""
    if order.intent not in MONEY_MOVING or order.route is not Route.FAST or order.rule is None:
        return False
    if order.then or order.unread or order.unresolved or order.rejected or order.doubted:
        return False
    them = order.by(_TO_THEM) and order.missing == (SlotName.PAYEE,)
    named = order.slots.bill if order.intent is Intent.BILL_PAYMENT else order.slots.amount
    return bool(named) and (them or not order.missing)
