"""A card that is not to be locked, and the other one that is: "don't lock the debit card, lock the other one"."""

from dataclasses import replace
from itertools import pairwise
from typing import Final, NamedTuple

from schemas.consent import Awaited
from schemas.ids import CardId
from schemas.intent import Intent, Route, Slot, Slots, Understood
from schemas.pick import Pick
from services.understanding.correction.merging import one_after_another
from services.understanding.correction.said import Said
from services.understanding.fast.asides.vetoes import vetoes_met
from services.understanding.fast.fallback.carded import CALLED, CARD, RULE, of_a_card
from services.understanding.fast.fallback.tails import ends_in_order
from services.understanding.fast.ruleset.meanings import CARDS
from services.understanding.fast.words.vocabulary import vocabulary

_OPEN: Final = {None, Intent.DENY, Intent.CANCEL, Intent.CORRECT, Intent.QNA}
_VERBS: Final = {"lock": Intent.CARD_LOCK, "unlock": Intent.CARD_UNLOCK}
_DOES: Final = {"lock_do": Intent.CARD_LOCK, "unlock_do": Intent.CARD_UNLOCK}
"""Verbs that count where every card is spoken of: 「家族カード以外全部止めて」."""
_EVERYTHING: Final = "everything"
_BOTH: Final = 2
_STOPS: Final = frozenset({"question", "conditional", "reported", "negation", "refusal"})
_ASKING: Final = frozenset({"question", "conditional", "reported"})
_BEHIND: Final = 3
"""Units from the last card named to the verb, at most: 「の方を止めて」."""
_NEAR: Final = 6
"""Characters between two cards that are both meant, at most: 「Visaのカードも」."""


class _Mention(NamedTuple):
    """Where a card is named, and by its id where it is not by the other's."""

    start: int
    end: int
    card: str | None


def spared(said: Said, found: Understood) -> Understood | None:
    """The card that is meant, which is offered; nothing where none is; None where no card is said to be left alone."""
    if (meant := _of_cards(said, found)) is None:
        return None
    mentions = [*_mentions(said)]
    named = {each.card for each in mentions if each.card is not None}
    owned: list[str] = [card.id for card in said.context.cards]
    if not named or not named <= set(owned):
        return None
    left = [each for each in mentions if _left(said, each)]
    if not left and len(named) > 1 and _joined(said, mentions, sure=meant.route is Route.FAST):
        return _each(said, meant, [card.id for card in said.context.cards if card.id in named])
    if not left:
        return _with_the_other(said, meant, mentions) if len(owned) == _BOTH and len(named) == 1 else None
    out = {each.card for each in left if each.card is not None}
    if not out or (named - out and _every(said)):
        return None  # the other one is, of which nothing else is said; 「JCBと家族カード以外」
    rest = set(owned) - out if _another(said, mentions) or _every(said) else set()
    return _of_the_rest(said, meant, (named - out) or rest, mentions)


def meant_instead(said: Said, found: Understood) -> Understood | None:
    """Behind a lock that is done or offered, the other card that was meant: "not that one, the other one"."""
    context, terms = said.context, said.context.terms
    behind = context.recent is Intent.CARD_LOCK or terms.awaited is Awaited.LOCK
    if not behind or found.rule is not None or not said.rules.patterns.refusals.other_card.search(said.text):
        return None
    meant = [each for each in _mentions(said) if not _left(said, each)]
    named = {each.card for each in meant if each.card is not None}
    others = {card.id for card in context.cards} - {terms.card} if terms.card and not named else set[CardId]()
    cards = named or (others if len(others) == 1 else set())
    if not meant or len(cards) > 1 or vetoes_met(said.hearing, 0, len(said.units.words)) & _ASKING:
        return None
    slots = {each: Slot(CardId(each), said.heard.whole(RULE)) for each in cards}
    return of_a_card(Intent.CARD_LOCK, slots, Route.CLARIFY, RULE)


def _of_the_rest(said: Said, meant: Understood, wanted: set[str], mentions: list[_Mention]) -> Understood | None:
    """The one that is not left alone, which is offered; each where several are spoken of; else which is asked."""
    if not wanted:
        return Understood(None, payees=meant.payees)
    rest = [card for card in said.context.cards if card.id in wanted]
    open_to = [card for card in rest if card.locked is (meant.intent is Intent.CARD_UNLOCK)] or rest
    several = _every(said) or _several(said)
    if len(wanted) == 1 or (len(open_to) == 1 and not several):
        return _offered(said, meant, open_to[0].id, mentions)
    if not several or meant.intent not in CARDS:
        return of_a_card(meant.intent or Intent.CARD_LOCK, {}, Route.FAST, RULE)
    return _each(said, meant, [card.id for card in open_to])


def _of_cards(said: Said, found: Understood) -> Understood | None:
    """What is wanted of a card, told by its verb where nothing else was read."""
    if found.intent in CARDS or found.intent not in _OPEN or said.context.code:
        return found if found.intent in CARDS and not said.context.code else None
    symbols, reading = said.rules.symbols, said.hearing.reading
    names = _VERBS | (_DOES if _every(said) else {})
    verbs = {symbols[name]: intent for name, intent in names.items() if name in symbols}
    wanted = {verbs[each] for each in reading.lattice.said() if each in verbs}
    meant = wanted.pop() if len(wanted) == 1 else None
    return replace(found, intent=meant, consent=None, then=None) if meant is not None else None


def _every(said: Said) -> bool:
    """Whether all are spoken of."""
    return said.rules.symbols.get(_EVERYTHING) in said.hearing.reading.lattice.said()


def _several(said: Said) -> bool:
    """Whether more than one is spoken of."""
    return said.rules.cues.every.holds(said.units.words) or not CALLED.isdisjoint({*said.units.words} - {CARD})


def _each(said: Said, meant: Understood, cards: list[CardId]) -> Understood:
    """What was asked for, of each of the cards."""
    told, intent = said.heard.whole(RULE), meant.intent or Intent.CARD_LOCK
    return one_after_another([of_a_card(intent, {each: Slot(each, told)}, Route.FAST, RULE) for each in cards])


def _joined(said: Said, mentions: list[_Mention], *, sure: bool) -> bool:
    """Whether each of several is meant: "lock the debit card and the gold one", 「VisaもJCBも止めて」."""
    ends = [(each.start, each.end) for each in mentions]
    places = sorted(one for one in ends if not any(e[0] < one[0] < e[1] for e in ends))
    gaps = [said.text[one[1] : two[0]] for one, two in pairwise(places)]
    if said.rules.spaced:
        both = all(map(said.rules.patterns.refusals.both_cards.fullmatch, gaps))
        return both and sure and not vetoes_met(said.hearing, 0, len(said.units.words)) & _STOPS
    joined = all(len(gap) <= _NEAR and said.rules.patterns.refusals.as_well.search(gap) for gap in gaps)
    lost = said.rules.patterns.refusals.lost_behind.search(said.text, places[-1][1])
    stop = sum(1 for start in said.units.starts if lost is None or start <= lost.start())
    if not joined or vetoes_met(said.hearing, 0, stop) & _STOPS:
        return False
    behind = sum(1 for end in said.units.ends if end <= places[-1][1])
    verbs = said.hearing.reading.lattice.of(said.rules.named(_DOES), behind, behind + _BEHIND)
    ordered = lost is not None or ends_in_order(said.hearing, (*_DOES, "please", "onegai", "pleading"))
    return ordered and (_every(said) or bool(verbs))


def _with_the_other(said: Said, found: Understood, mentions: list[_Mention]) -> Understood | None:
    """Both, where the other one is named as well: "lock my debit card and the other one"; else that one is meant."""
    other = next((each for each in mentions if each.card is None), None)
    if other is None:
        return None
    first = min(each.start for each in mentions)
    if other.start != first and said.rules.patterns.refusals.as_well.search(said.text, first, other.start):
        slots = Slots(choice=Slot(Pick.EVERY, said.heard.evidence(other.start, other.end, RULE)))
        return replace(found, slots=slots, missing=())
    if found.route is Route.FAST:
        return None
    named = {each.card for each in mentions}
    return _offered(said, found, next(c.id for c in said.context.cards if c.id not in named), mentions)


def _offered(said: Said, found: Understood, card: str, mentions: list[_Mention]) -> Understood:
    """What was asked for, of this card: by a name of its own, or as the other one; done where that was read."""
    told = next((each for each in mentions if each.card == card), mentions[-1])
    slot = Slot(CardId(card), said.heard.evidence(told.start, told.end, RULE))
    sure = found.route is Route.FAST and found.slots.card is not None and found.slots.card.value == card
    return found if sure else of_a_card(found.intent or Intent.CARD_LOCK, {card: slot}, Route.CLARIFY, RULE)


def _mentions(said: Said) -> list[_Mention]:
    """Every card that is named, the longest name at a place, and every "other one"."""
    units, nouns = said.units, vocabulary(said.rules, said.context)
    found = {}
    for edge in nouns.trie.edges(units.words):
        noun = nouns.nouns[edge.symbol]
        if noun.kind == CARD and noun.id is not None:
            found[edge.start] = _Mention(units.starts[edge.start], units.ends[edge.end - 1], noun.id)
    for at in range(len(units.words)):
        end, _ = said.rules.cues.other_one.longest(units.words, at)
        if end > at:
            found[at] = _Mention(units.starts[at], units.ends[end - 1], None)
    return list(found.values())


def _left(said: Said, mention: _Mention) -> bool:
    """Whether a card is said to be left alone, or not to be meant."""
    found = said.rules.patterns.refusals.spared_card.finditer(said.text)
    return any({each.start("card"), each.end("card")} & {mention.start, mention.end} for each in found)


def _another(said: Said, mentions: list[_Mention]) -> bool:
    """Whether one more is spoken of than is named: "the other one", "lock my card, but not the debit one"."""
    if any(each.card is None and not _left(said, each) for each in mentions):
        return True
    units = said.units
    places = (units.starts[at] for at, word in enumerate(units.words) if word in CALLED)
    return said.rules.spaced and (
        _several(said) or any(not any(m.start <= at < m.end for m in mentions) for at in places)
    )
