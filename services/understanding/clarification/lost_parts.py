"""A card's lock, or an order, beside something that is only looked up, where that alone was read.

「VISA止めて、あとさっきの残高」. A lock is never passed over in silence: where it can't be told which, it is said that
something was missed. And behind a lock, the wish to undo it after other words.
"""

from dataclasses import replace
from typing import Final

from schemas.intent import READING, Intent, Route, Slots, Understood
from services.understanding.clarification.interposed_questions import MOST_JOINING, MOST_PARTS, parts
from services.understanding.correction.merging import one_after_another
from services.understanding.correction.said import Said
from services.understanding.fast.asides.vetoes import vetoes_met
from services.understanding.fast.fallback.carded import own_cards
from services.understanding.fast.ruleset.meanings import CARDS

_LOCKS: Final = ("lock_do", "lost_do", "unlock_do")
_MOVES: Final = ("transfer_do", "pay_do")
"""Lists of the verbs of what may be lost."""
_NO_WISH: Final = frozenset({"negation", "conditional", "reported"})
"""Vetoes with which a lock may be no wish."""
_MISSED: Final = Understood(Intent.QNA, route=Route.QNA)
"""Behind a command: that not all was understood is told before it."""


def ordered_before(said: Said, found: Understood) -> Understood | None:
    """A card's lock beside what is only looked up or nobody read, or an order before it, where that part was lost."""
    context, unread = said.context, found.intent in {None, Intent.QNA}
    if not context.idle or context.code or found.then is not None or not (unread or found.intent in READING):
        return None
    verbs = said.rules.named((*_LOCKS, *_MOVES) if unread else _LOCKS)
    if said.hearing.reading.lattice.said().isdisjoint(verbs):
        return None
    pauses = _pauses(said)
    for end, start in [*pauses, *parts(said)][:MOST_PARTS]:
        first, last = said.look(0, end, context), said.look(said.units.starts[start], len(said.text), context)
        over = (end, start) in pauses and _goes_over(said, start)
        if _locks(first) and (_asks(last) or (over and last.intent in {None, Intent.QNA})):
            return one_after_another([*first.in_turn, last if _asks(last) else _MISSED])
        if _locks(last) and _asks(first):
            return one_after_another([*first.in_turn, last])
        if _asks(last) and unread and over and first.moves and first.route is Route.FAST and first.rule is not None:
            return replace(first, then=last) if first.whole and first.slots != Slots() and not first.then else None
    named = not unread and own_cards(said.hearing) and not vetoes_met(said.hearing, 0, len(said.units.words)) & _NO_WISH
    return replace(found, then=_MISSED) if named else None


def found_again(said: Said, found: Understood) -> Understood | None:
    """A card just locked that is to work again, asked for in the last words: the others tell where it was."""
    context, then = said.context, found.then
    if context.recent is not Intent.CARD_LOCK or not context.idle or found.rule is not None:
        return None
    if then is not None or found.intent not in {None, Intent.QNA}:
        return then if found.intent is Intent.CANCEL and then and then.intent is Intent.CARD_UNLOCK else None
    for end, start in reversed(_pauses(said)):
        last = said.look(said.units.starts[start], len(said.text), context)
        if last.intent is Intent.CARD_UNLOCK and last.route is Route.FAST and _locks(last):
            return last if said.look(0, end, context).intent in {None, Intent.QNA, Intent.CARD_UNLOCK} else None
    return None


def _goes_over(said: Said, at: int) -> bool:
    """Whether a word that joins two commands stands right before a unit or begins there."""
    joining, words = said.rules.phrases.conjunctions, said.units.words
    return joining.ends(words, at, MOST_JOINING) or joining.longest(words, at)[0] > at


def _asks(found: Understood) -> bool:
    """Whether something is looked up, and all of it was read."""
    return found.intent in READING and found.route is Route.FAST and found.whole


def _locks(found: Understood) -> bool:
    """Whether it is about cards to be stopped, or to be used again, and nothing else."""
    sure = found.intent in CARDS and found.rule is not None and found.whole
    return sure and (found.then is None or _locks(found.then))


def _pauses(said: Said) -> list[tuple[int, int]]:
    """Where a space stands in a language that is written without them."""
    units = said.units
    pauses = [at for at in range(1, len(units.words)) if units.ends[at - 1] < units.starts[at]]
    return [(units.ends[at - 1], at) for at in pauses if not said.rules.spaced]
