"""A complaint, or a worry about money, that asks for nothing: a person is offered, or the lock of the card named.

"There's a charge i don't remember", 「暗証番号を聞かれて心配で」; what no desk here does is offered to a person, too.
"""

from typing import Final

from schemas.ids import RuleId
from schemas.intent import Intent, Route, Slot, Slots, Understood
from services.understanding.correction.said import Said
from services.understanding.fast.fallback.carded import SURE, of_a_card, own_cards

_RULE: Final = RuleId("intents.grievance@1")
_SORRY, _NOT_HERE = "sorry", "not_here"
"""Topics of the offer."""


def aggrieved(said: Said, found: Understood) -> Understood | None:
    """What is offered to somebody who complains, worries, or wants what only a person does; None for what was read."""
    patterns, text = said.rules.patterns, said.text
    read = found.intent not in {None, Intent.QNA} or found.rule is not None or found.then is not None
    if read or not said.context.idle or patterns.wonders.search(text):
        return None
    worried = patterns.worried.search(text) is not None
    cards = own_cards(said.hearing) if worried else None
    if cards is not None and len(cards) == 1:
        return of_a_card(Intent.CARD_LOCK, cards, Route.CLARIFY, _RULE)
    complains = worried or patterns.grievance.search(text)
    if not (complains or patterns.not_here.search(text)):
        return None
    topic = Slot(_SORRY if complains else _NOT_HERE, said.heard.whole(_RULE))
    return Understood(Intent.HUMAN_HANDOFF, Slots(topic=topic), (), Route.CLARIFY, SURE, _RULE)
