"""An order in words that do not order, beside words of what was seen, spent or found: it is offered, never read back.

"There's a payment here, ken sato, two hundred dollars", "the dress was fifty dollars, give it to emily". Likewise one
without a verb behind a refusal of nothing: "don't send it, fifty dollars to emily".
"""

from dataclasses import replace
from typing import Final

from schemas.intent import MONEY_MOVING, Intent, Mention, Route, SlotName, Understood
from schemas.span import overlap
from services.understanding.correction.merging import values
from services.understanding.correction.said import Said
from services.understanding.fast.freeform.loose import commanded
from services.understanding.fast.freeform.told import RULE
from services.understanding.fast.words.hearing import Hearing
from services.understanding.fast.words.reading import UtteranceLattice
from services.understanding.fast.words.vocabulary import owned

_SURE: Final = 0.5


def mentioned(said: Said, found: Understood) -> Understood | None:
    """The offer; None where something is ordered in so many words, or nothing but the order is spoken of."""
    if not said.rules.spaced or not said.context.idle:
        return None
    if found.intent is Intent.CANCEL:
        return _refused(said.hearing, found)
    if found.intent is not Intent.TRANSFER_MONEY:
        return None
    history = found.then is not None and found.then.intent is Intent.RECENT_TRANSACTIONS
    if history and found.route is Route.FAST and not commanded(said.hearing):  # "fifty for emily, did it go through"
        return replace(found, route=Route.CLARIFY, confidence=_SURE)
    whole = found.route is Route.FAST and found.then is None and not found.missing and not found.unread
    if not whole or found.unresolved or found.doubted:
        return None
    hearing = said.hearing
    spoken_of = _spoken_of(hearing) and not commanded(hearing)
    return replace(found, route=Route.CLARIFY, confidence=_SURE) if spoken_of or _of_a_thing(hearing) else None


def of_an_account(said: Said, found: Understood) -> Understood | None:
    """What is but offered, with an own account that has no place in it: where the money comes from is asked then."""
    hearing, held = said.hearing, [slot.evidence for slot in values(found.slots).values()]
    offered = found.intent in MONEY_MOVING and found.route is not Route.FAST and said.rules.spaced
    if not offered or not said.context.idle or found.slots.source or found.unresolved or found.unread:
        return None
    words = hearing.reading.words
    own = owned(hearing.nouns, words, len(words)).get("account", {}).values()
    free = [each for each in (hearing.said(*at, RULE) for at in own) if not any(overlap(each, one) for one in held)]
    return replace(found, unresolved=(Mention(SlotName.SOURCE, free[0]),)) if free else None


def _refused(hearing: Hearing, found: Understood) -> Understood | None:
    """What stands behind a refusal, where nothing else was to be stopped: "don't send it, fifty dollars to emily"."""
    behind = found.then
    if behind is None or behind.intent not in MONEY_MOVING:
        return None
    verb = "pay" if behind.intent is Intent.BILL_PAYMENT else "sends"
    named = max((slot.evidence.start for slot in values(behind.slots).values()), default=0)
    wanted = commanded(hearing, verb, named)
    return None if wanted else replace(behind, route=Route.CLARIFY, confidence=_SURE)


def _spoken_of(hearing: Hearing) -> bool:
    """Whether money is declined first, or told of as seen or spent in words that correct nothing."""
    words = hearing.reading.words
    if hearing.grammar.phrases.declining.scan(words, 0):
        return True
    told = any(hearing.grammar.phrases.mentioning.begins(words, at) for at in _free(hearing.reading))
    return told and not _corrected(hearing)


def _of_a_thing(hearing: Hearing) -> bool:
    """Whether what is to be given may be what was bought, not the money for it."""
    grammar, reading = hearing.grammar, hearing.reading
    words, pronoun = reading.words, grammar.symbols.get("pronoun")
    ends = (edge.end for edge in grammar.phrases.pricing.edges(words))
    costs = next((end for end in ends if end in reading.taken), len(words))
    return bool(reading.lattice.of({pronoun}, costs)) and not _corrected(hearing)


def _corrected(hearing: Hearing) -> bool:
    return any(hearing.grammar.cues.repairs.begins(hearing.reading.words, at) for at in _free(hearing.reading))


def _free(reading: UtteranceLattice) -> list[int]:
    """Units that are no part of the order."""
    return [at for at in range(len(reading.words)) if at not in reading.taken]
