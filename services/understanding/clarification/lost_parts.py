"""A card's lock, or an order, beside something that is only looked up, where that alone was read.

「VISA止めて、あとさっきの残高」. A lock is never passed over in silence: where it can't be told which, it is said that
something was missed. And behind a lock, the wish to undo it after other words.
"""

from dataclasses import replace
from typing import Final

from schemas.intent import READING, Intent, Route, Slots, Understood
from services.understanding.clarification.interposed_questions import MOST_PARTS, parts
from services.understanding.correction.merging import one_after_another
from services.understanding.correction.said import Said
from services.understanding.fast.asides.vetoes import vetoes_met
from services.understanding.fast.fallback.carded import own_cards
from services.understanding.fast.ruleset.meanings import CARDS, SERIOUS

_LOCKS: Final = ("lock_do", "lost_do", "unlock_do")
_MOVES: Final = ("transfer_do", "pay_do")
"""Lists of the verbs of what may be lost."""
_NO_WISH: Final = frozenset({"negation", "conditional", "reported"})
"""Vetoes with which a lock may be no wish."""
_MOST: Final = 3
"""Units of a word that joins two commands, at most."""
_MISSED: Final = Understood(Intent.QNA, route=Route.QNA)
"""Behind a command: that not all was understood is told before it."""


def ordered_before(said: Said, found: Understood) -> Understood | None:
    """A card's lock beside what is only looked up or nobody read, or an order before it, where that part was lost."""
    context = said.context
    if not context.idle or context.code or found.intent not in READING | {None, Intent.QNA} or _acts(found.then):
        return None
    verbs = _LOCKS if found.intent in READING else (*_LOCKS, *_MOVES)
    if said.hearing.reading.lattice.said().isdisjoint(said.rules.named(verbs)):
        return None
    pauses = _pauses(said)
    for end, start in [*pauses, *parts(said)][:MOST_PARTS]:
        order, asked = said.look(0, end, context), said.look(said.units.starts[start], len(said.text), context)
        looked_up = asked.intent in READING and asked.route is Route.FAST and asked.whole
        more = (end, start) in pauses and asked.intent in {None, Intent.QNA} and _goes_over(said, start)
        if _locks(order) and (looked_up or more):
            last = asked if looked_up else _MISSED
            return one_after_another([*_apart(order), last])
        if looked_up and verbs is not _LOCKS and order.moves and order.route is Route.FAST and order.rule is not None:
            plain = order.whole and order.slots != Slots() and order.then is None
            return replace(order, then=asked) if plain else None
        if _locks(asked) and order.intent in READING and order.route is Route.FAST and order.whole:
            return one_after_another([order, *_apart(asked)])
    return _not_all(said, found)


def found_again(said: Said, found: Understood) -> Understood | None:
    """A card just locked that is to work again, asked for in the last words: the others tell where it was."""
    context, unread = said.context, found.intent in {None, Intent.QNA} and found.rule is None and found.then is None
    if not unread or context.recent is not Intent.CARD_LOCK or not context.idle:
        return None
    for end, start in reversed(_pauses(said)):
        asked = said.look(said.units.starts[start], len(said.text), context)
        if asked.intent is Intent.CARD_UNLOCK and asked.route is Route.FAST and asked.whole and asked.then is None:
            told = said.look(0, end, context)
            return asked if told.intent is None or told.intent in {Intent.QNA, Intent.CARD_UNLOCK} else None
    return None


def _not_all(said: Said, found: Understood) -> Understood | None:
    """What is looked up, beside the wish to lock a card of the caller's that was not read: told to be not all."""
    hearing, read = said.hearing, found.intent in READING and found.then is None
    if not read or not own_cards(hearing) or vetoes_met(hearing, 0, len(said.units.words)) & _NO_WISH:
        return None
    return replace(found, then=_MISSED)


def _goes_over(said: Said, at: int) -> bool:
    """Whether a word that joins two commands stands right before a unit or begins there."""
    joining, words = said.rules.phrases.conjunctions, said.units.words
    return joining.ends(words, at, _MOST) or joining.longest(words, at)[0] > at


def _acts(then: Understood | None) -> bool:
    """Whether more than a question stands behind the first part."""
    return then is not None and (then.intent in SERIOUS or _acts(then.then))


def _locks(found: Understood) -> bool:
    """Whether it is about cards to be stopped, or to be used again, and nothing else."""
    sure = found.intent in CARDS and found.rule is not None and found.whole
    return sure and (found.then is None or _locks(found.then))


def _apart(found: Understood) -> list[Understood]:
    """What follows one after the other, each by itself."""
    return [replace(found, then=None), *(_apart(found.then) if found.then is not None else ())]


def _pauses(said: Said) -> list[tuple[int, int]]:
    """Where a space stands in a language that is written without them."""
    units = said.units
    pauses = [at for at in range(1, len(units.words)) if units.ends[at - 1] < units.starts[at]]
    return [(units.ends[at - 1], at) for at in pauses if not said.rules.spaced]
