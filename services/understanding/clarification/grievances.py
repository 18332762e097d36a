"""A complaint, or a worry about money, that asks for nothing: a person is offered, or the lock of the card named.

"There's a charge i don't remember", 「暗証番号を聞かれて心配で」; what no desk here does is offered to a person, too.
Who was told to move money to a "safe account" is warned; a card that is to work again is offered to be unlocked.
What was sent by mistake only a person may recall.
"""

from dataclasses import replace
from typing import Final

from schemas.consent import Awaited
from schemas.ids import RuleId
from schemas.intent import MONEY_MOVING, READING, Intent, Route, Slot, SlotName, Slots, Topic, Understood
from services.understanding.clarification.money_questions import NamedThings
from services.understanding.clarification.own_questions import what_to_seek
from services.understanding.correction.merging import said_in
from services.understanding.correction.said import Said
from services.understanding.fast.fallback.carded import CALLED, RULE, SURE, of_a_card, own_cards

_RULE: Final = RuleId("intents.grievance@1")
_ASKED: Final = RuleId("intents.asks_advice@1")
_RECALL: Final = RuleId("intents.sent_wrongly@1")
_SORRY, _NOT_HERE, _SCAM, _KIN, _HOLD, _ABOUT, _ADVICE = "sorry", "not_here", "scam", "kin", "hold", "about", "advice"
_LOCK: Final = Intent.CARD_LOCK
"""Topics of the offer."""
_READ: Final = frozenset({None, Intent.QNA, Intent.DENY, Intent.CANCEL, Intent.BALANCE_INQUIRY})
"""What a wish to have money back may have been read as."""


def deceived(said: Said, found: Understood) -> Understood | None:
    """A warning to whom a stranger told to pay, somebody from a new number asked, or to bring money into safety."""
    patterns, slots = said.rules.patterns.alarms, found.slots
    pressed = patterns.pressed.search(said.text) or patterns.demanded.search(said.text)
    if said.context.idle and pressed:
        return _offer(said, _SCAM)
    if said.context.idle and patterns.new_number.match(said.text):
        return _offer(said, _KIN)
    safe = patterns.safe_account.search(said.text)
    if safe is None or not said.context.idle or any(safe["safe"] in each.name for each in said.context.accounts):
        return None
    unknown = found.intent is Intent.TRANSFER_MONEY and slots.payee is None and slots.target is None
    return _offer(said, _SCAM) if unknown or patterns.was_told.search(said.text) else None


def taken_back(said: Said, found: Understood) -> Understood | None:
    """A person for what was sent by mistake; at the offer of one, what to do about what may be a scam."""
    patterns, text, asked = said.rules.patterns.alarms, said.text, said.context.terms.awaited
    open_ = found.route is Route.CLARIFY or found.intent in {Intent.QNA, Intent.DENY}
    advice = patterns.asks_advice.search(text) if asked is Awaited.PERSON and open_ and found.consent is None else None
    if advice is not None:
        again = Understood(Intent.REPEAT, route=Route.FAST, confidence=1.0, rule=_ASKED)
        return _offer(said, _ADVICE) if advice["sure"] else again
    if found.consent is None and asked is Awaited.PERSON and patterns.better_not.search(text):
        return _offer(said, _HOLD)
    wrongly = said.context.idle and found.intent in _READ and patterns.sent_wrongly.search(text)
    return replace(_offer(said, "recall"), rule=_RECALL) if wrongly else None


def asked_of_person(said: Said, found: Understood) -> Understood | None:
    """What a person does who is offered, for whoever asks about that: "what would they do", "how long is the wait"."""
    offered = said.context.terms.awaited is Awaited.PERSON and found.consent is None
    unread = found.intent is Intent.QNA or (found.intent is None and found.rule is None)
    return (
        _offer(said, _ABOUT)
        if offered and unread and said.rules.patterns.alarms.of_the_person.search(said.text)
        else None
    )


def back_on(said: Said, found: Understood) -> Understood | None:
    """A card that does not work, and is to be turned on again: whether to unlock it is asked."""
    if found.intent not in {None, Intent.QNA} or found.rule is not None or not said.context.idle:
        return None
    cards = own_cards(said.hearing) if said.rules.patterns.alarms.back_on.search(said.text) else None
    named = cards is not None and len(cards) <= 1 and (cards or CALLED.intersection(said.units.words))
    return of_a_card(Intent.CARD_UNLOCK, cards or {}, Route.CLARIFY, _RULE) if named else None


def in_trouble(said: Said, found: Understood) -> Understood | None:
    """A card of the caller's that was declined or does not work, or which it is, where that is asked."""
    read = found.intent not in {None, Intent.QNA} and (found.route is not Route.CLARIFY or found.intent is not _LOCK)
    if read or found.rule not in {None, RULE} or found.then is not None or not said.context.idle:
        return None
    if said.rules.patterns.alarms.card_trouble.search(said.text) is None or (cards := own_cards(said.hearing)) is None:
        return None
    if len(cards) > 1:
        return None
    topic = Slot(str(Topic.TROUBLE), said.heard.whole(_RULE))
    slots = Slots(card=next(iter(cards.values()), None), topic=topic)
    return Understood(_LOCK, slots, (), Route.FAST, SURE, _RULE)


def robbed(said: Said, found: Understood) -> Understood | None:
    """The lock of the card that is told to be stolen or lost, in a story; of several which, of none named any."""
    unread = found.intent in {None, Intent.QNA, Intent.HUMAN_HANDOFF} and found.route is not Route.FAST
    if not (unread and said.context.idle) or said.rules.patterns.alarms.robbed.search(said.text) is None:
        return None
    cards = own_cards(said.hearing)
    if cards is None or len(cards) < 2:  # noqa: PLR2004
        return of_a_card(_LOCK, cards, Route.CLARIFY, _RULE) if cards is not None else None
    first, *others = cards.values()
    either = replace(first, readings=tuple(each.value for each in others))
    return Understood(_LOCK, Slots(card=either), (), Route.FAST, SURE, _RULE, doubted=(SlotName.CARD,))


def disputed(said: Said, found: Understood) -> Understood | None:
    """A payment that the caller does not know, by its sum or who got it: it is looked up, and a person offered."""
    if found.intent in MONEY_MOVING or found.then is not None or not said.context.idle:
        return None
    match = said.rules.patterns.alarms.disputed.search(said.text)
    slots = what_to_seek(said, NamedThings(said, found), None) if match is not None else None
    if match is None or slots is None or (slots.amount is None and not match["at"]):
        return None
    topic = Slot(str(Topic.SOUGHT), said.heard.evidence(0, 0, _RULE), (str(Topic.TROUBLE),))
    slots = replace(slots, topic=topic, choice=None, merchant=slots.merchant if match["at"] else None)
    return Understood(Intent.RECENT_TRANSACTIONS, slots, (), Route.FAST, SURE, _RULE)


def asked_plainly(said: Said, found: Understood) -> Understood | None:
    """What is asked behind a complaint: "your app locked me out, just tell me my balance"."""
    match = said.rules.patterns.alarms.asked_plainly.search(said.text)
    if match is None or found.intent not in {None, Intent.QNA} or found.rule is not None or not said.context.idle:
        return None
    asked = said_in(said.again(" " * match.start("asked") + match["asked"]), said.text)
    plain = asked.intent in READING and asked.route is Route.FAST and asked.then is None and not asked.unread
    return asked if plain else None


def aggrieved(said: Said, found: Understood) -> Understood | None:
    """What is offered to somebody who complains, worries, or wants what only a person does; None for what was read."""
    patterns, text = said.rules.patterns.alarms, said.text
    read = found.intent not in {None, Intent.QNA} or found.rule is not None or found.then is not None
    read = read and not _but_held(said, found)
    if read or not said.context.idle or patterns.wonders.search(text):
        return None
    worried = patterns.worried.search(text) is not None
    cards = own_cards(said.hearing) if worried else None
    if cards is not None and len(cards) == 1:
        return of_a_card(Intent.CARD_LOCK, cards, Route.CLARIFY, _RULE)
    complains = worried or patterns.grievance.search(text)
    if not (complains or patterns.not_here.search(text)):
        return None
    return _offer(said, _SORRY if complains else _NOT_HERE)


def _but_held(said: Said, found: Understood) -> bool:
    """Whether a card's lock was read of nothing but a word of waiting: "my card is declined, I've been on hold"."""
    bare = found.rule == RULE and found.slots == Slots()
    return bare and said.rules.symbols.get("card_lost") not in said.hearing.reading.lattice.said()


def _offer(said: Said, topic: str) -> Understood:
    """That a person is offered, and what for."""
    told = Slots(topic=Slot(topic, said.heard.whole(_RULE)))
    return Understood(Intent.HUMAN_HANDOFF, told, (), Route.CLARIFY, SURE, _RULE)
