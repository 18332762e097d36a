"""A card that is gone or found again, told in words of no template: what may be wanted is done or asked about.

Only where one card of the caller's own is named, or none but "the card", and no word that asks or tells of another's.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from schemas.ids import BillId, CardId, RuleId
from schemas.intent import Intent, Route, Slot, SlotName, Slots, Understood
from services.understanding.fast.asides.reasons import PARTS
from services.understanding.fast.asides.vetoes import vetoes_met
from services.understanding.fast.clauses.clauses import bare
from services.understanding.fast.freeform.loose import commanded
from services.understanding.fast.ruleset.meanings import CARDS
from services.understanding.fast.words.hearing import Hearing
from services.understanding.fast.words.vocabulary import Noun

RULE: Final = RuleId("intents.carded@1")
_CUES: Final = {"card_lost": "lock", "card_found": "unlock", "card_opens": "unlock", "lock": "lock", "unlock": "unlock"}
"""What tells of a card that is to be locked, or unlocked."""
_STOPS: Final = frozenset({"question", "negation", "conditional", "reported", "recurring"})
_TELLING: Final = frozenset({"negation", "reported"})
"""Those that a clause beside an order may have: "they don't have it, so please lock it"; then it is asked about."""
SURE: Final = 0.8
CARD: Final = "card"
CALLED: Final = frozenset({CARD, "cards"})
"""Words for one; "card's" is spelled as if it were several."""
_LOST: Final = "card_lost"
_STOPPING: Final = "card_stop"
"""Verbs that stop a card which is told to be gone: "cancel my card, someone's got hold of it"."""
_POSSESSIVES: Final = ("'s", "’s", "s'", "s’")


def carded(hearing: Hearing) -> Understood | None:
    """The card that is to be locked or unlocked; never in a language whose rules have no such cues."""
    grammar, reading = hearing.grammar, hearing.reading
    if not _CUES.keys() <= grammar.symbols.keys() or any(span.kind in PARTS for span in hearing.heard.spans):
        return None
    names = {grammar.symbols[name]: verb for name, verb in _CUES.items()}
    size, words = len(reading.words), reading.words
    begin = bare(grammar.phrases.asides_unasked, reading, 0, size)[0]
    cues = [
        e
        for e in reading.lattice.of(names.keys())
        if e.start > begin or "question" not in vetoes_met(hearing, e.start, e.end)
    ]
    wanted = {names[edge.symbol] for edge in cues}
    places = frozenset(at for edge in cues for at in range(edge.start, edge.end))
    # none is wanted by "has my new card arrived"
    if not wanted or (stops := vetoes_met(hearing, 0, size, places) & _STOPS) - _TELLING:
        return None
    cards, verb = own_cards(hearing), "unlock" if "unlock" in wanted else "lock"
    if cards is None:  # "kill her card"
        locks = verb == "lock" and not stops and commanded(hearing, verb)
        return of_a_card(Intent.CARD_LOCK, {}, Route.CLARIFY, RULE) if locks else None
    if len(cards) > 1 or not (cards or CALLED.intersection(words)):
        return None
    ends = verb == "lock" and any(edge.symbol == grammar.symbols[_LOST] for edge in cues)
    asked = commanded(hearing, verb) or (ends and commanded(hearing, _STOPPING))
    if stops and not asked:
        return None
    ordered = len(wanted) == 1 and len(cards) == 1 and asked and not stops
    intent = Intent.CARD_UNLOCK if verb == "unlock" else Intent.CARD_LOCK
    return of_a_card(intent, cards, Route.FAST if ordered else Route.CLARIFY, RULE)


def of_a_card(intent: Intent, cards: Mapping[str, Slot[CardId]], route: Route, rule: RuleId) -> Understood:
    """What is to be done to the one card that was named; where none was, which one stays to be asked."""
    slots, missing = Slots(card=next(iter(cards.values()), None)), () if cards else (SlotName.CARD,)
    return Understood(intent, slots, missing=missing, route=route, confidence=SURE, rule=rule)


def with_its_own(hearing: Hearing, intent: Intent | None, slots: Slots) -> Slots:
    """The slots with the one card, or bill, of the caller's that is named beside a guess at what is wanted of it."""
    if intent in CARDS:
        cards = own_cards(hearing) or {}
        return replace(slots, card=next(iter(cards.values()))) if len(cards) == 1 else slots
    if intent is not Intent.BILL_PAYMENT:
        return slots
    nouns, words = hearing.nouns, hearing.reading.words
    named = {noun.id: edge for edge in nouns.trie.edges(words) if (noun := nouns.nouns[edge.symbol]).kind == "bill"}
    if len(named) != 1 or None in named:
        return slots
    ((id_, edge),) = named.items()
    return replace(slots, bill=Slot(BillId(str(id_)), hearing.said(edge.start, edge.end, RULE)), payee=None)


def _of_another(hearing: Hearing, at: int) -> bool:
    """Whether the word before a card makes it somebody's, or any: "my sister's", "a"."""
    word, said = hearing.reading.words[at], hearing.said(at, at + 1, RULE).surface
    known = hearing.grammar.words
    return word in known.others | known.any_one or said.endswith(_POSSESSIVES)


def own_cards(hearing: Hearing) -> dict[str, Slot[CardId]] | None:
    """The caller's own cards that are named; None where one is said to be another's."""
    nouns, reading = hearing.nouns, hearing.reading
    found: dict[str, Slot[CardId]] = {}
    for at in range(len(reading.words)):
        named = [(e, nouns.nouns[e.symbol]) for e in reading.phrases(nouns.trie)[at]]
        named += [(e, e.value) for e in reading.lattice.edges(at) if isinstance(e.value, Noun)]  # by its digits
        named = [(edge, noun) for edge, noun in named if noun.kind == CARD]
        if (named or reading.words[at] in CALLED) and at and _of_another(hearing, at - 1):
            return None
        for edge, noun in named:
            if noun.id is not None:
                found[noun.id] = Slot(CardId(noun.id), hearing.said(at, edge.end, RULE))
    return found
