"""What is wanted in words of no template, in a language that says it last: by cues and the caller's own things.

Nothing here moves money: an order is offered with what was told of it, and only where no word speaks against it.
"""

from typing import Any, Final

from schemas.ids import AccountId, CardId, RuleId
from schemas.intent import Evidence, Intent, Route, Slot, Slots, Understood
from schemas.payee import MatchOutcome
from schemas.span import DateValue, Span, SpanKind
from services.understanding.fast.asides.reasons import PARTS, bill_slot, own_bill
from services.understanding.fast.asides.vetoes import vetoes_met
from services.understanding.fast.clauses.clauses import pauses, sentences
from services.understanding.fast.patterns.lattice import FILLER
from services.understanding.fast.ruleset.grammar import BANKING
from services.understanding.fast.words.hearing import Hearing

RULE: Final = RuleId("intents.cued@1")
_SURE: Final = 0.8
_STOPS: Final = frozenset({"question", "conditional", "reported", "recurring"})
_AGAINST: Final = frozenset({"how", "whether", "conditional", "reported", "recurring", "direction", "refusal"})
"""Vetoes that let no order be offered, wherever they stand."""
_SENDING: Final = ("transfer_do", "repay_do", "give_do", "transfer_noun")
_PAYING: Final = ("pay_do", "pay_noun")
_LOCKING: Final = {
    "lock_do": Intent.CARD_LOCK,
    "lock_noun": Intent.CARD_LOCK,
    "unlock_do": Intent.CARD_UNLOCK,
    "unlock_noun": Intent.CARD_UNLOCK,
}
_ORDERING: Final = ("transfer_do", "give_do", "pay_do")
_TELLING: Final = ("oshiete",)
_CLOSING: Final = ("pleading", "onegai", "be", "desu", "suru")
_ASKS: Final = ("?", "？")
_LAST: Final = 16
"""Units from the end at which a goodbye begins, at most."""


def cued(hearing: Hearing, vetoes: set[str]) -> Understood | None:
    """A card, a list, a person, help or a goodbye that cues speak for; never in a language whose rules have none."""
    if hearing.grammar.endings is None:
        return None
    if _dropped(hearing):
        return Understood(Intent.CANCEL, route=Route.FAST, confidence=_SURE, rule=RULE)
    found = _carded(hearing)
    if found is not None or any(span.kind in PARTS - {SpanKind.DATE} for span in hearing.heard.spans):
        return found
    return _listed(hearing, vetoes) or _social(hearing, vetoes)


def offered(hearing: Hearing, slots: Slots) -> tuple[Intent, Slots] | None:
    """What may be ordered where not all was read: money for somebody, or a bill, with what was told of it."""
    told = [slot for slot in (slots.amount, slots.payee) if slot is not None]
    if len(told) > 1 or (told and _said(hearing, _SENDING)):
        return Intent.TRANSFER_MONEY, slots
    alone, size = _by_itself(hearing, told), len(hearing.reading.words)
    bill = own_bill(hearing, 0, size) if slots.payee is None or alone else None
    if bill is None or not (alone or _said(hearing, _PAYING)):
        return (Intent.TRANSFER_MONEY, slots) if alone else None
    return Intent.BILL_PAYMENT, Slots(bill=bill_slot(hearing, *bill, RULE))


def _by_itself(hearing: Hearing, told: list[Slot[Any]]) -> bool:
    """Whether a name or a sum is all that is said, but for courtesies."""
    match, reading = hearing.heard.payees, hearing.reading
    places = [(each.evidence.start, each.evidence.end) for each in told]
    if match is not None and match.outcome is MatchOutcome.ASK and not hearing.heard.spans:
        places.append((match.start, match.end))
    place = reading.units.covering(*places[0]) if len(places) == 1 else None
    if place is None:
        return False
    said = hearing.grammar.named((*_CLOSING, "person")) | {FILLER}
    size, reached = len(reading.words), {0}
    for at in range(size):
        if at in reached:
            reached |= {place[1]} if at == place[0] else set()
            reached |= {end for end, read in reading.lattice.steps(at) if not said.isdisjoint(read)}
            reached |= {at + 1} if at >= place[1] and reading.words[at] in hearing.grammar.words.reaching else set()
    return size in reached


def barred(hearing: Hearing) -> bool:
    """Whether a word speaks against an order: some anywhere, others where a value or a verb of it is said, or last."""
    reading, size = hearing.reading, len(hearing.reading.words)
    if vetoes_met(hearing, 0, size) & _AGAINST:
        return True
    verbs = hearing.grammar.named((*_SENDING, *_PAYING))
    clauses = [clause for piece in sentences(hearing) for clause in pauses(hearing, *piece)]
    for start, end in clauses:
        told = end == size or any(
            at in reading.taken or reading.lattice.of(verbs, at, at + 1) for at in range(start, end)
        )
        if told and vetoes_met(hearing, start, end):
            return True
    return False


def _said(hearing: Hearing, names: tuple[str, ...]) -> bool:
    """Whether one of the lists or verbs is said anywhere."""
    return not hearing.reading.lattice.said().isdisjoint(hearing.grammar.named(names))


def _last(hearing: Hearing, names: tuple[str, ...], size: int = 0) -> str:
    """Which of the verbs ends the utterance, or its first `size` units, but for words that only plead; the longest."""
    reading = hearing.reading
    symbols = {hearing.grammar.symbols[name]: name for name in names}
    if reading.lattice.said().isdisjoint(symbols):
        return ""
    closing = hearing.grammar.named(_CLOSING) | {FILLER}
    size = size or len(reading.words)
    ends = {size}
    for at in range(size - 1, -1, -1):
        if any(end in ends and not closing.isdisjoint(read) for end, read in reading.lattice.steps(at)):
            ends.add(at)
    for at in range(size):
        for end, read in reading.lattice.steps(at):
            if end in ends and end - at > 1 and not symbols.keys().isdisjoint(read):
                return next(symbols[each] for each in read if each in symbols)
    return ""


def _carded(hearing: Hearing) -> Understood | None:
    """The one card that is named, where the last words ask that it be locked, or opened again.

    In an earlier clause it is asked about: 「クレジットカード止めて、再発行もお願いしたいし」.
    """
    whole = size = len(hearing.reading.words)
    verb, stops = _last(hearing, tuple(_LOCKING)), _STOPS
    if not verb and hearing.context.idle:
        size = next((end for _, end in pauses(hearing, 0, size)[:-1] if _last(hearing, tuple(_LOCKING), end)), 0)
        verb, stops = _last(hearing, tuple(_LOCKING), size) if size else "", _STOPS - {"question"}
    if not verb or any(span.kind is SpanKind.MONEY for span in hearing.heard.spans):
        return None
    if vetoes_met(hearing, 0, whole) & stops or vetoes_met(hearing, 0, size) & _STOPS:
        return None
    nouns, found = hearing.nouns, dict[str, Slot[CardId]]()
    for edge in (edge for edges in hearing.reading.phrases(nouns.trie) for edge in edges if edge.end <= size):
        noun = nouns.nouns[edge.symbol]
        if noun.kind == "card" and noun.id is not None:
            found[noun.id] = Slot(CardId(noun.id), hearing.said(edge.start, edge.end, RULE))
    if len(found) != 1:
        return None
    slots = Slots(card=next(iter(found.values())))
    billing = _said(hearing, ("pay_noun", "billed"))  # 支払いを止めたい: its payments, and not the card
    route = Route.CLARIFY if billing or size < whole else Route.FAST
    return Understood(_LOCKING[verb], slots, route=route, confidence=_SURE, rule=RULE, payees=hearing.heard.payees)


def _dropped(hearing: Hearing) -> bool:
    """Whether an order was begun in an earlier clause, or by its deed, and the last words drop it."""
    size = len(hearing.reading.words)
    last = pauses(hearing, 0, size)[-1][0] or _sent(hearing)
    if _last(hearing, _ORDERING):
        return False
    if not _names(hearing, 0, last) or _names(hearing, last, size):
        return False
    if _said(hearing, ("drops_else",)) or hearing.text.rstrip().endswith((*_ASKS, *hearing.grammar.words.asks)):
        return False
    cue = hearing.grammar.symbols["drop_cue"]
    return bool(hearing.reading.lattice.of({cue}, max(last, size - _LAST)))


def _sent(hearing: Hearing) -> int:
    """Behind the last deed that is named: 「送るの」, or before one denied at the end; 0 if there is none."""
    grammar, reading = hearing.grammar, hearing.reading
    deed, denied = grammar.symbols["deed"], grammar.patterns.refusals.denied_deed.search(hearing.text)
    ends = [edge.end for edge in reading.lattice.of({deed})]
    place = reading.units.covering(*denied.span()) if denied is not None else None
    return max(ends, default=place[0] if place is not None else 0)


def _names(hearing: Hearing, start: int, end: int) -> bool:
    """Whether a value, or a thing of the caller's own, is named among the units."""
    nouns, reading = hearing.nouns, hearing.reading
    return not reading.taken.isdisjoint(range(start, end)) or any(
        nouns.nouns[edge.symbol].id is not None for edges in reading.phrases(nouns.trie)[start:end] for edge in edges
    )


def _listed(hearing: Hearing, vetoes: set[str]) -> Understood | None:
    """What moved on the account, where the last words ask to be told."""
    if vetoes & {"conditional", "recurring", "reported", "trouble"} or not _said(hearing, ("history_cue",)):
        return None
    if _said(hearing, ("asks_else_listed",)) or not _last(hearing, _TELLING):
        return None
    days = [span for span in hearing.heard.spans if span.kind is SpanKind.DATE]
    if len(days) > 1:
        return Understood(Intent.RECENT_TRANSACTIONS, route=Route.CLARIFY, confidence=_SURE, rule=RULE)
    slots = Slots(period=period_of(days), account=_account(hearing))
    return Understood(Intent.RECENT_TRANSACTIONS, slots, route=Route.FAST, confidence=_SURE, rule=RULE)


def _account(hearing: Hearing) -> Slot[AccountId] | None:
    """The one account of the caller's that is named."""
    nouns = hearing.nouns
    edges = [edge for begun in hearing.reading.phrases(nouns.trie) for edge in begun]
    named = [(nouns.nouns[e.symbol].id, e) for e in edges if nouns.nouns[e.symbol].kind == "account"]
    if len({id_ for id_, _ in named}) != 1 or named[0][0] is None:
        return None
    return Slot(AccountId(named[0][0]), hearing.said(named[0][1].start, named[0][1].end, RULE))


def period_of(days: list[Span]) -> Slot[DateValue] | None:
    """The days that a list is asked of."""
    for day in days:
        if isinstance(day.value, DateValue):
            return Slot(day.value, Evidence.of(day))
    return None


def _social(hearing: Hearing, vetoes: set[str]) -> Understood | None:
    """Somebody to speak to, what can be asked for, or a goodbye, where nothing of an order is said."""
    heard, reading = hearing.heard, hearing.reading
    size = len(reading.words)
    if heard.payees is not None and heard.payees.choice is not None:
        return None
    if _said(hearing, ("human",)) and not vetoes & _STOPS and _last(hearing, ("talk_do", "reach_do")):
        return Understood(Intent.HUMAN_HANDOFF, route=Route.HUMAN, confidence=_SURE, rule=RULE)
    if BANKING in hearing.routed or heard.spans:
        return None
    if _said(hearing, ("help_cue",)):
        return Understood(Intent.HELP, route=Route.FAST, confidence=_SURE, rule=RULE)
    parting = reading.lattice.of({hearing.grammar.symbols["goodbye_cue"]}, max(0, size - _LAST))
    if parting and not vetoes & _STOPS:
        return Understood(Intent.FAREWELL, route=Route.FAST, confidence=_SURE, rule=RULE)
    return None
