"""What no order of ours can hold, a note, a repetition, "the usual": it is answered, and one payment offered."""

from dataclasses import replace
from typing import Final

from schemas.consent import ORDERS
from schemas.ids import RuleId
from schemas.intent import TOLD_ALONE, Intent, Route, Slot, SlotName, Slots, Topic, Understood
from services.understanding.correction.merging import said_in
from services.understanding.correction.said import Said
from services.understanding.fast.ruleset.cue_phrases import CuePhrases
from services.understanding.fast.words.reading import UtteranceLattice

_RULE: Final = RuleId("intents.remark@1")
_MOST: Final = 4
"""Words before what is left, at most."""
_RECURRING: Final = (RuleId("veto.recurring"),)


def remarked(said: Said, found: Understood) -> Understood | None:
    """The remark by its topic, or the order with it; None where there is none, or the words were understood."""
    context, text, again = said.context, said.text, said.again
    waits = context.terms.awaited in ORDERS or context.asked is not None
    repeats = context.idle and _repeats(found)
    lacking = context.idle and found.intent is Intent.TRANSFER_MONEY and found.slots.amount is None
    stays = context.asked is SlotName.AMOUNT and _stays(said, found)
    if not (stays or repeats or lacking or (waits and _not_understood(found))):
        return None
    reading, words = said.hearing.reading, said.rules.cues
    topics = {Topic.NOTE: words.notes, Topic.REPEATED: words.recurring, Topic.EXACT: words.unmeasured}
    topic = next((name for name, trie in topics.items() if any(reading.phrases(trie))), Topic.EXACT if stays else "")
    about = _about(topic, said)
    if repeats:
        order = again(_single(words, text, reading)) if any(reading.phrases(words.recurring)) else None
        not_repeated = Understood(None, vetoes=_RECURRING, payees=found.payees, begun=found.begun)
        return replace(not_repeated, then=said_in(order, text)) if order is not None and _whole(order) else None
    if lacking:
        then = [m for m in found.unresolved if words.elapsed.begins(said.rules.units(m.evidence.surface).words, 0)]
        now = replace(found, unresolved=tuple(m for m in found.unresolved if m not in then))  # "as last month"
        return _lacking(now, about) if topic == Topic.EXACT else None
    if not topic or (topic == Topic.EXACT and context.asked is not SlotName.AMOUNT):
        return None
    told = again(plain) if topic == Topic.REPEATED and (plain := _single(words, text, reading)).strip() else None
    if told is not None and told.intent in TOLD_ALONE and told.slots != Slots() and not told.unread:
        return replace(said_in(told, text), slots=replace(told.slots, topic=about))  # "make it 60 every month"
    return _alone(about)


def _stays(said: Said, found: Understood) -> bool:
    """Whether the amount is what is to be left where it is, not what is sent: "leave five hundred in there"."""
    amount, units = found.slots.amount, said.units
    place = units.covering(amount.evidence.start, amount.evidence.end) if amount is not None else None
    return place is not None and said.rules.cues.staying.ends(units.words, place[0], _MOST)


def _repeats(found: Understood) -> bool:
    """Whether it may be an order that is to be repeated: one that nobody read for that, or that is but offered."""
    offered = found.intent is Intent.TRANSFER_MONEY and found.route is Route.CLARIFY and found.slots.amount is not None
    return offered or (found.intent in {None, Intent.QNA} and found.vetoes == _RECURRING)


def noted(said: Said, _: Understood) -> Understood | None:
    """The order, with that no note can go with it, nor the rest of a sum later: "with the reference pitch fees"."""
    patterns, text = said.rules.patterns.orders, said.text
    if not said.context.idle or said.context.code:
        return None
    note = patterns.noted.search(text)
    if not (tail := note or patterns.the_rest.search(text)):
        return None
    order = said_in(said.again(text[: tail.start()]), text)
    plain = order.moves and order.rule is not None
    if not plain or not order.whole or order.then is not None or order.slots == Slots():
        return None
    return replace(order, slots=replace(order.slots, topic=_about(Topic.NOTE if note else Topic.SPLIT, said)))


def _about(topic: str, said: Said) -> Slot[str]:
    return Slot(topic, said.heard.whole(_RULE))


def _alone(topic: Slot[str]) -> Understood:
    return Understood(Intent.INFORM, Slots(topic=topic), route=Route.FAST, confidence=1.0, rule=_RULE)


def _not_understood(found: Understood) -> bool:
    """Whether nobody understood it, but perhaps that something else is wanted."""
    open_ = found.intent is None or (found.intent is Intent.DENY and found.rule is None)
    return (open_ or found.rejected == (SlotName.PAYEE,)) and found.slots == Slots() and found.then is None


def _whole(order: Understood) -> bool:
    named = order.slots.bill or (order.slots.amount and order.intent is Intent.TRANSFER_MONEY)
    to_whom = order.slots.payee is not None and order.missing == (SlotName.AMOUNT,)  # how much is asked then
    return bool(named or to_whom) and order.route is Route.FAST and order.whole and (to_whom or not order.missing)


def _single(words: CuePhrases, text: str, reading: UtteranceLattice) -> str:
    """The text, in the same places, without the words that repeat what is ordered."""
    units = reading.units
    places = {(e.start, e.end): "" for row in reading.phrases(words.recurring) for e in row}
    places |= {(e.start, e.end): words.single for row in reading.phrases(words.standing) for e in row}
    for start, end in sorted(places, reverse=True):
        begin, stop = units.starts[start], units.ends[end - 1]
        text = text[:begin] + places[start, end].ljust(stop - begin)[: stop - begin] + text[stop:]
    return text


def _lacking(found: Understood, said: Slot[str]) -> Understood | None:
    """The order, of which the amount is told by words that name none."""
    slots = replace(found.slots, topic=said)
    if found.vetoes or found.then is not None:
        return None
    if found.route is Route.FAST or not (slots.payee or slots.target):
        return replace(found, slots=slots)
    return replace(found, slots=slots, route=Route.FAST, confidence=1.0, missing=(SlotName.AMOUNT,), unread=())
