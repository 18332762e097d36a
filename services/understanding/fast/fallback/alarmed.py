"""A fraud, or money that went by another's hand, in words of no template: a lock or a person is offered."""

from typing import Final

from schemas.ids import RuleId
from schemas.intent import Intent, Route, Understood
from services.understanding.fast.asides.vetoes import vetoes_met
from services.understanding.fast.fallback.carded import CARD, SURE, of_a_card, own_cards
from services.understanding.fast.ruleset.grammar import ASKING
from services.understanding.fast.words.hearing import Hearing

RULE: Final = RuleId("intents.alarmed@1")


def alarmed(hearing: Hearing) -> Understood | None:
    """What is offered to somebody who was robbed or deceived, or does not know a payment; never done at once."""
    if not any(hearing.reading.phrases(hearing.grammar.phrases.alarms)):
        return None
    cards = own_cards(hearing)
    if cards is None or len(cards) > 1 or not (cards or _speaks_of_cards(hearing)):
        return Understood(Intent.HUMAN_HANDOFF, route=Route.CLARIFY, confidence=SURE, rule=RULE)
    return of_a_card(Intent.CARD_LOCK, cards, Route.CLARIFY, RULE)


def only_asks(hearing: Hearing, vetoes: set[str]) -> bool:
    """Whether something is only asked about: "what should i do if i get scammed", not 「…があるんですが見て」."""
    grammar, reading = hearing.grammar, hearing.reading
    told = min((edge.end for edges in reading.phrases(grammar.phrases.alarms) for edge in edges), default=0)
    if told and grammar.leads is not None:
        ends = [at for at in grammar.leads.ends(hearing.text, reading.units, reading.taken) if at >= told]
        if ends and "conditional" not in vetoes_met(hearing, 0, ends[0]):
            return False
    within = {at for edges in reading.phrases(grammar.phrases.alarms) for e in edges for at in range(e.start, e.end)}
    asks = (edge for edges in reading.phrases(grammar.routing) for edge in edges if edge.symbol == ASKING)
    asking = any(edge.start not in within for edge in asks)
    return asking or "question" in vetoes


def _speaks_of_cards(hearing: Hearing) -> bool:
    nouns = hearing.nouns
    named = (nouns.nouns[edge.symbol] for edges in hearing.reading.phrases(nouns.trie) for edge in edges)
    return CARD in hearing.reading.words or any(noun.kind == CARD for noun in named)
