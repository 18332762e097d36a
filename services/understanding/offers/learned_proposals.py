"""What words that nobody read may ask for, by the learned reader: a question with what the rules found in them.

Nothing is read back and no card is locked by it; what is only told is told where the reader is all but sure.
"""

from dataclasses import replace
from typing import Final

from rules.locales import locale_rules
from schemas.ids import AccountId, BillId, CardId, language
from schemas.intent import MONEY_MOVING, Annotation, Evidence, Intent, Mention, Route, Slot, SlotName, Slots, Understood
from schemas.payee import MatchOutcome, PayeeMatch
from schemas.span import SUMS, SpanKind, overlap
from services.understanding.correction.coordinated_names import beside_others
from services.understanding.correction.merging import values
from services.understanding.correction.said import Said
from services.understanding.fast.asides.reasons import ClauseSpan, acts, named
from services.understanding.fast.asides.vetoes import vetoes_met
from services.understanding.fast.clauses.clauses import pauses, sentences
from services.understanding.fast.freeform.cued import barred, period_of
from services.understanding.fast.freeform.loose import sent_from
from services.understanding.fast.freeform.told import RULE as TOLD
from services.understanding.fast.freeform.told import told
from services.understanding.fast.patterns.units import MAX_CHARS
from services.understanding.fast.ruleset.meanings import CARDS
from services.understanding.fast.words.hearing import Hearing
from services.understanding.fast.words.left import Leftover, settled, unmatched
from services.understanding.learned.features import features
from services.understanding.learned.reader import FAMILIES, LearnedReader
from services.understanding.offers.guessed_transfers import hindered

_SURE: Final = 0.5
_NUMBERS: Final = SUMS | {SpanKind.DIGITS}
_OPEN: Final = frozenset({None, Intent.QNA})
"""What words that nobody read may have been taken for."""
_TOLD: Final = frozenset({Intent.BALANCE_INQUIRY, Intent.BILL_INQUIRY, Intent.RECENT_TRANSACTIONS})
"""What may be told without a question."""
_SOUGHT: Final = frozenset({Intent.BALANCE_INQUIRY, Intent.BILL_INQUIRY})
"""What the documents may be asked about as well."""
_ABOUT: Final = {
    Intent.BILL_PAYMENT: "bill",
    Intent.BILL_INQUIRY: "bill",
    Intent.CARD_LOCK: "card",
    Intent.CARD_UNLOCK: "card",
}
"""The kind of own things of which one has to be named, or spoken of."""
_HOW: Final = "question"
"""The veto of how and why; what is asked about a bill or an account is met by it only in a language with spaces."""
_REFUSED: Final = "refusal"
"""The veto of what is itself not to be done."""
_LED: Final = 4
"""Words before what is called off, at most: "i want to cancel"."""
_BARRED: Final = frozenset({"question", "conditional", "recurring"})
"""Vetoes that let no order be offered, wherever they stand."""


def proposed(said: Said, found: Understood) -> Understood | None:
    """The question, or what is told; None where the rules read the words, or the reader is not sure."""
    reader, context = LearnedReader.of(language(said.heard.transcript.locale)), said.context
    short = len(said.text) <= MAX_CHARS
    if reader is None or not unread(found) or not context.idle or context.code or not short:
        return None
    logits = reader.logits(features(said.heard, found.vetoes, spaced=said.rules.spaced))
    best = int(logits.argmax())
    intent, sure = Intent(FAMILIES[best]), float(logits[best])
    if sure < reader.offered[best] or intent is Intent.FAREWELL:  # too soon a goodbye ends the call
        return None
    hearing = said.naming
    meant = Understood(
        intent, route=Route.CLARIFY, confidence=_SURE, rule=reader.rule, vetoes=found.vetoes, begun=found.begun
    )
    if elsewhere(hearing, intent) or _left_alone(hearing, intent):
        return None
    if intent in MONEY_MOVING:
        span = ClauseSpan.whole(hearing)
        order = None if hindering(span) else _order(span, meant)
        order = order and _dated(hearing, settled(hearing, order, Leftover()))
        if order is not None and intent is Intent.BILL_PAYMENT:
            order = replace(order, unread=order.unread or _sums_left(said.heard, order.slots))
        return order and beside_others(said, order)
    meant = replace(meant, slots=_own(hearing, intent))
    if intent in _TOLD and sure >= reader.told[best]:
        return replace(meant, route=Route.FAST)
    return meant


def _dated(hearing: Hearing, order: Understood) -> Understood:
    """The order with words for a day that is no date, which is asked for: "on her birthday"."""
    open_ = hearing.grammar.spaced and order.slots.date is None and not order.unresolved
    told = [each for each in unmatched(hearing, ()) if each.slot is SlotName.DATE and " " in each.evidence.surface]
    return replace(order, unresolved=tuple(told[:1])) if open_ and told else order


def _left_alone(hearing: Hearing, intent: Intent) -> bool:
    """Whether a card is to be left as it is: 「止めないで」."""
    return intent in CARDS and _REFUSED in vetoes_met(hearing, 0, len(hearing.reading.words))


def unread(found: Understood) -> bool:
    """Whether no rule has read the words."""
    return found.rule is None and found.then is None and found.consent is None and found.intent in _OPEN


def hindering(span: ClauseSpan) -> bool:
    """Whether an order is asked about, or one of its clauses is denied, or told of others or of what was."""
    grammar, reading = span.grammar, span.reading
    if not grammar.spaced:
        return barred(span)
    if vetoes_met(span, 0, len(reading.words)) & _BARRED or hindered(span):
        return True
    if any(grammar.cues.calling_off.begins(reading.words, at) for at in range(min(_LED, len(reading.words)))):
        return True
    clauses = [clause for piece in sentences(span) for clause in pauses(span, *piece)]
    if any(vetoes_met(span, *clause) and _of_an_order(span, *clause) for clause in clauses):
        return True
    match = named(span)
    return match is not None and match.choice is not None and sent_from(span, match.start)


def elsewhere(hearing: Hearing, intent: Intent) -> bool:
    """Whether what a wish is about is not named, or something else is asked about it: its interest, how it is paid."""
    grammar, reading = hearing.grammar, hearing.reading
    size, nouns = len(reading.words), hearing.nouns
    named = (nouns.nouns[edge.symbol].kind for edge in nouns.trie.edges(reading.words))
    if intent in _ABOUT and _ABOUT[intent] not in named:
        return True
    if intent not in _SOUGHT:
        return False
    if not grammar.spaced and _HOW in vetoes_met(hearing, 0, size):
        return True
    return grammar.symbols.get("asks_else") in reading.lattice.said()


def _of_an_order(span: ClauseSpan, start: int, end: int) -> bool:
    """Whether a value, a name or a verb of sending stands among the units."""
    return not span.reading.taken.isdisjoint(range(start, end)) or acts(span, start, end)


def _order(span: ClauseSpan, meant: Understood) -> Understood | None:
    """An order with the values that were told once each, the rest to be asked for; None for money that goes nowhere."""
    heard = span.heard
    slots = told(span, locale_rules(heard.transcript.locale).currency, bare=span.grammar.spaced)
    bill = _only(span, "bill")
    if meant.intent is Intent.BILL_PAYMENT:
        slots = replace(slots, payee=None, target=None, bill=bill and Slot(BillId(bill[0]), bill[1]))
        return replace(meant, slots=slots)
    if span.grammar.spaced and slots.payee is None and slots.target is None:
        match = named(span)
        if match is not None and match.choice is not None:
            slots = replace(slots, payee=Slot(match.choice, Evidence.naming(match, TOLD)))
    several = several_of(heard.payees)
    named_one = slots.payee or slots.source or slots.target or several
    order = replace(meant, slots=slots, payees=several)
    if several is not None and slots.payee is None and not span.grammar.spaced:  # which of them is asked next
        order = replace(order, unresolved=(Mention(SlotName.PAYEE, Evidence.naming(several, TOLD)),))
    return order if named_one else None


def _sums_left(heard: Annotation, slots: Slots) -> tuple[Evidence, ...]:
    """The numbers that no slot holds: a payment is not offered as if none had been said."""
    told = [slot.evidence for slot in values(slots).values()]
    places = (Evidence.of(span) for span in heard.spans if span.kind in _NUMBERS)
    return tuple(each for each in places if not any(overlap(each, one) for one in told))[:1]


def several_of(match: PayeeMatch | None) -> PayeeMatch | None:
    """The payees that may be meant; a name that is nobody's is asked for again."""
    return match if match is not None and match.outcome is not MatchOutcome.NOBODY else None


def _own(hearing: Hearing, intent: Intent) -> Slots:
    """The one own thing that is named, of the kind that is asked about."""
    kind = _ABOUT.get(intent, "account")
    only = _only(hearing, kind)
    days = [s for s in hearing.heard.spans if s.kind is SpanKind.DATE and intent is Intent.RECENT_TRANSACTIONS]
    period = period_of(days) if len(days) == 1 else None
    if only is None:
        return Slots(period=period)
    noun, evidence = only
    if kind == "bill":
        return Slots(bill=Slot(BillId(noun), evidence))
    if kind == "card":
        return Slots(card=Slot(CardId(noun), evidence))
    return Slots(account=Slot(AccountId(noun), evidence), period=period)


def _only(hearing: Hearing, kind: str) -> tuple[str, Evidence] | None:
    """The one own thing of a kind that is named, none of them said to be another's."""
    nouns, words = hearing.nouns, hearing.reading.words
    found: dict[str, Evidence] = {}
    for edge in nouns.trie.edges(words):
        noun = nouns.nouns[edge.symbol]
        if noun.kind != kind or noun.id is None:
            continue
        if edge.start and words[edge.start - 1] in hearing.grammar.words.others:
            return None
        said = hearing.said(edge.start, edge.end, TOLD)
        longer = noun.id in found and found[noun.id].end - found[noun.id].start > said.end - said.start
        if not longer:
            found[noun.id] = said
    return next(iter(found.items())) if len(found) == 1 else None
