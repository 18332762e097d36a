"""Questions about the caller's own things in words of no rule: a card's state, a bill, what went to somebody or where.

What only a history can tell is looked for there; the documents are asked where it is not found.
"""

import re
from collections.abc import Mapping
from typing import Final

from schemas.ids import BillId, CardId, PayeeId, RuleId
from schemas.intent import NO_SLOTS, Evidence, Intent, Route, Slot, Slots, Topic, Understood
from schemas.payee import PayeeMatch
from schemas.span import DateValue, MoneyValue
from services.understanding.clarification.money_questions import NamedThings
from services.understanding.correction.amounts import comes_to
from services.understanding.correction.said import Said
from services.understanding.fast.fallback.carded import CALLED, of_a_card, own_cards
from services.understanding.fast.ruleset.meanings import CARDS

_RULE: Final = RuleId("intents.own_asked@1")
_AGAIN: Final = RuleId("intents.same_history@1")
_IT: Final = RuleId("intents.of_history@1")
_LAST: Final = RuleId("intents.last_of_it@1")
_OTHERS: Final = RuleId("intents.other_cards@1")
_LEAST: Final = 4
"""Letters of a word that may tell a merchant."""
_STRETCH: Final = 5
"""Days of a stretch of which a history is told; a single day is often remembered wrongly."""


def own_asked(said: Said, found: Understood) -> Understood | None:
    """What is asked of a thing of the caller's own, or of what was just told of their history; else None."""
    if found.intent not in {None, Intent.QNA} or found.rule is not None or found.then is not None:
        return None
    patterns, text, context = said.rules.patterns.own, said.text, said.context
    if not context.idle or context.code or patterns.bids_for.search(text):
        return None
    if patterns.unbooked.search(text):
        return Understood(Intent.CANCEL, NO_SLOTS, (), Route.FAST, 1.0, _RULE)
    asks = patterns.asks_own.search(text) is not None
    if (state := _states(said) or (_card(said) if asks else None)) is not None:
        return state
    if patterns.in_general.search(text):
        return None
    things = NamedThings(said, found)
    return _of_bill(said, things, asks=asks) or _of_history(said, things, asks=asks)


def of_one_card(said: Said, found: Understood) -> Understood | None:
    """A question to the documents for what is asked of one card: what a bank tells is of accounts, not by card."""
    slots, cards = found.slots, found.intent in CARDS and found.route is Route.CLARIFY
    other = slots.payee or slots.account or found.unresolved or found.then
    if other or not (cards or found.intent in {Intent.RECENT_TRANSACTIONS, Intent.BALANCE_INQUIRY}):
        return None
    match = said.rules.patterns.own.of_one_card.search(said.text)
    if match is None or (cards and match["where"] is None) or (slots.bill is not None and match["by"] is None):
        return None
    return Understood(Intent.QNA, route=Route.QNA)


def beside_the_lock(said: Said, found: Understood) -> Understood | None:
    """Behind a lock another card that may be gone too, or whether it is locked: the one named, or all the others."""
    context = said.context
    if not context.idle or context.recent is not Intent.CARD_LOCK or found.then is not None:
        return None
    cards, whole = own_cards(said.hearing) or {}, said.heard.whole(_OTHERS)
    if len(cards) == 1 and said.rules.patterns.own.lost_too.fullmatch(_lettered(said.text, cards)) is not None:
        return of_a_card(Intent.CARD_LOCK, cards, Route.CLARIFY, _RULE)
    if said.rules.patterns.own.beside_the_lock.search(said.text) is None:
        return None
    one = next(iter(cards.values())) if len(cards) == 1 else None
    topic = Slot(str(Topic.OTHERS if one is None else Topic.WHETHER), whole)
    rule = _OTHERS if one is None else _RULE
    return Understood(Intent.CARD_LOCK, Slots(card=one, topic=topic), (), Route.FAST, 1.0, rule)


def _card(said: Said) -> Understood | None:
    """Whether the one card that is named can be used, where no more is asked of it."""
    cards = own_cards(said.hearing) or {}
    if len(cards) != 1:
        return None
    (card,) = cards.values()
    name = next(each.name for each in said.context.cards if each.id == card.value)
    called = "|".join(map(re.escape, {*name.casefold().split(), *card.evidence.surface.casefold().split()}))
    rest = re.sub(rf"\b(?:{called})\b", "C", said.text.casefold())
    if said.rules.patterns.own.of_its_state.fullmatch(rest) is None:
        return None
    whether = Slot(str(Topic.WHETHER), said.heard.whole(_RULE))
    return Understood(Intent.CARD_LOCK, Slots(card=card, topic=whether), (), Route.FAST, 1.0, _RULE)


def _states(said: Said) -> Understood | None:
    """How the card that is named stands, or all of them, all others, or the one that was just spoken of."""
    patterns, cards = said.rules.patterns.own, own_cards(said.hearing)
    if cards is None:
        return None
    text = _lettered(said.text, cards)
    again = said.context.recent is Intent.CARD_LOCK and patterns.card_again.fullmatch(text) is not None
    others, one = patterns.card_others.fullmatch(text), len(cards) == 1 and patterns.card_state.fullmatch(text)
    if not (again or others or one or patterns.card_states.fullmatch(text)):
        return None
    topic = Slot(str(Topic.OTHERS if others else Topic.WHETHER), said.heard.whole(_RULE))
    slots = Slots(card=next(iter(cards.values())) if one else None, topic=topic)
    rule = _OTHERS if again or others else _RULE
    return Understood(Intent.CARD_LOCK, slots, (), Route.FAST, 1.0, rule)


def _lettered(text: str, cards: Mapping[str, Slot[CardId]]) -> str:
    """The words with a letter for each card."""
    for card in cards.values():
        text = text.replace(card.evidence.surface, "C")
    return text


def _of_bill(said: Said, things: NamedThings, *, asks: bool) -> Understood | None:
    """What is due of the one bill that is named; or what was paid of it, where that is asked."""
    named = {each.value: each for each in things.of("B")} if asks else {}
    if len(named) != 1 or not said.rules.patterns.own.of_own_bill.search(things.text):
        return None
    if CALLED.intersection(said.units.words):  # of a card much else may be asked than its bill
        return None
    ((id_, at),) = named.items()
    paid = any(
        each.search(said.text) for each in (said.rules.patterns.own.went_out, said.rules.patterns.own.sought_out)
    )
    intent = Intent.RECENT_TRANSACTIONS if paid else Intent.BILL_INQUIRY
    return Understood(intent, Slots(bill=Slot(BillId(id_), at.evidence)), (), Route.FAST, 1.0, _RULE)


def _of_history(said: Said, things: NamedThings, *, asks: bool) -> Understood | None:
    """What went to somebody, to a merchant or by a sum; behind a history, of that alone."""
    patterns, text, match = said.rules.patterns.own, said.text, said.heard.payees
    behind = said.context.recent is Intent.RECENT_TRANSACTIONS and patterns.of_what_was_told.search(text) is not None
    out = patterns.sought_out.search(text) is not None
    if not (behind or out or patterns.went_out.search(text)):
        return None
    rule, period = _AGAIN if behind else _RULE, _stretch(said)
    whom = _whom(match)
    if match is not None and whom is not None and (asks or behind):
        told = _amount(said, things)
        exact = told if told is not None and not told.readings else None
        named = Slot(whom, Evidence.naming(match, rule))
        one = Slot(1, named.evidence) if patterns.that_payment.search(text) else None
        slots = Slots(payee=named, period=period, topic=_sum(said), choice=one, at_least=exact, at_most=exact)
        return Understood(Intent.RECENT_TRANSACTIONS, slots, (), Route.FAST, 1.0, rule, payees=match)
    if match is not None and match.plausible > 1 and whom is None:
        return None
    sought = what_to_seek(said, things, period) if behind or (asks and out) else None
    if sought is not None:
        return Understood(Intent.RECENT_TRANSACTIONS, sought, (), Route.FAST, 1.0, rule)
    if behind and not any(isinstance(span.value, DateValue) for span in said.heard.spans):
        return _of_the_last(said)
    return None


def _whom(match: PayeeMatch | None) -> PayeeId | None:
    """Who is named: for what is but looked up the one who may be meant is sure enough."""
    if match is None or match.choice is not None or match.plausible != 1:
        return None if match is None or match.choice is None else PayeeId(match.choice)
    return match.candidates[0].id


def _of_the_last(said: Said) -> Understood | None:
    """What was told, or the last of it, once more: "so what was the last one for"."""
    match = said.rules.patterns.own.points_back.fullmatch(said.text)
    if match is None:
        return None
    rule = _LAST if match["last"] else _IT
    slots = Slots(choice=Slot(1, said.heard.whole(rule)))
    return Understood(Intent.RECENT_TRANSACTIONS, slots, (), Route.FAST, 1.0, rule)


def what_to_seek(said: Said, things: NamedThings, period: Slot[DateValue] | None) -> Slots | None:
    """What to look for: words that no rule knows, which may name a merchant, and the one sum told."""
    heard, words = said.heard, _unknown(said)
    asked = heard.whole(_RULE) if things.found.intent is Intent.QNA else heard.evidence(0, 0, _RULE)
    more = (str(Topic.TOTAL),) if _sum(said) is not None else ()
    topic = Slot(str(Topic.SOUGHT), asked, more)
    amount = _amount(said, things)
    if not (words or amount):
        return None
    merchant = Slot(" ".join(words), heard.whole(_RULE)) if words else None
    last = not more and said.rules.spaced and said.rules.cues.last_one.holds(said.units.words)
    one = Slot(1, heard.whole(_RULE)) if last else None
    return Slots(merchant=merchant, amount=amount, topic=topic, period=period, choice=one)


def _amount(said: Said, things: NamedThings) -> Slot[MoneyValue] | None:
    """The one sum that is told, as all that it may stand for."""
    sums = things.of("M")
    values = comes_to(sums[0].value, said.heard) if len(sums) == 1 else ()
    return Slot(values[0], sums[0].evidence, values[1:]) if values else None


def _unknown(said: Said) -> list[str]:
    """The words that none of the rules knows, without what makes an owner of them."""
    units, trie = said.units, said.rules.trie
    taken = [(span.start, span.end) for span in said.heard.spans]
    at = [i for i, word in enumerate(units.words) if len(word) >= _LEAST and trie.longest(units.words, i)[0] <= i]
    free = [i for i in at if not any(start <= units.starts[i] < end for start, end in taken)]
    return [units.words[i] for i in free]


def _stretch(said: Said) -> Slot[DateValue] | None:
    """The week or longer that is named; a single day may be remembered wrongly."""
    days = [(span, span.value) for span in said.heard.spans if isinstance(span.value, DateValue)]
    if len(days) != 1 or (days[0][1].end - days[0][1].start).days < _STRETCH:
        return None
    return Slot(days[0][1], Evidence.of(days[0][0]))


def _sum(said: Said) -> Slot[str] | None:
    """That their sum is asked, where it is."""
    summed = said.rules.cues.in_all.holds(said.units.words)
    return Slot(str(Topic.TOTAL), said.heard.whole(_RULE)) if summed else None
