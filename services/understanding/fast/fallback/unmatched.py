"""What words may mean that no template took: the parts of an order, an answer's value, or what has to be asked."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Final

from schemas.consent import ORDERS, Awaited
from schemas.ids import RuleId
from schemas.intent import MONEY_MOVING, NO_SLOTS, Intent, Route, SlotName, Slots, Understood
from schemas.money import Money, exponent
from schemas.payee import MatchOutcome
from schemas.span import SUMS, Span, SpanKind, amount_readings
from services.understanding.fast.asides.vetoes import vetoes_met
from services.understanding.fast.consent.consent import ConsentGrammar
from services.understanding.fast.fallback.alarmed import alarmed, only_asks
from services.understanding.fast.fallback.asked import asked
from services.understanding.fast.fallback.carded import carded, with_its_own
from services.understanding.fast.fallback.partings import holding, parting, person_offered
from services.understanding.fast.fallback.routing import route_unmatched
from services.understanding.fast.fallback.tails import ends_in_order
from services.understanding.fast.freeform.cued import barred, cued, offered
from services.understanding.fast.freeform.loose import billed, ordered, plain
from services.understanding.fast.freeform.parts import as_source
from services.understanding.fast.freeform.told import (
    STOPS,
    against,
    answer,
    own_accounts,
    told,
    unread_words,
)
from services.understanding.fast.matching.remainder import (
    bills_beside,
    in_a_slot,
    names_a_value,
    part_beside,
    says,
    sums_beside,
    times_beside,
)
from services.understanding.fast.ruleset.grammar import INQUIRING, Grammar
from services.understanding.fast.ruleset.meanings import SERIOUS, named_for
from services.understanding.fast.words.hearing import Hearing
from services.understanding.fast.words.left import Leftover, dated, settled, unknown, unmatched
from services.understanding.fast.words.reading import UtteranceLattice

_GREETING: Final = RuleId("intents.greeting@1")
_CLOSING: Final = RuleId("intents.closing@1")
_TOLD_ABOUT: Final = frozenset({SlotName.AMOUNT, SlotName.PAYEE, SlotName.SOURCE, SlotName.TARGET, SlotName.DATE})
_ABOUT_MONEY: Final = MONEY_MOVING | {None, Intent.QNA}
"""What words that nobody understood may seem to be about, and still be an answer."""
_SAME: Final = 0.9
"""How well a name fits that is the payee's once more, at least."""
_A_SUM: Final = 1000
"""A bare number from here on, said with a word of its size, is no count of things, in yen: 四万五千."""
_TELLS: Final = frozenset({"past", "negation", "reported"})
"""Vetoes of what speaks against an order, or for another."""
_LED_UP: Final = frozenset({"past", "conditional", "reported"})
"""Those of what may lead up to a bill that is then asked to be paid, which is a question."""


class Unmatched:
    """One locale's."""

    def __init__(self, rules: Grammar, consent: ConsentGrammar, currency: str) -> None:
        self._grammar = rules
        self._consent = consent
        self._currency = currency

    def meaning(
        self,
        hearing: Hearing,
        vetoes: tuple[RuleId, ...],
    ) -> Understood:
        """What is made of it; `vetoes` are those met already."""
        context = hearing.context
        if (first := self._before_all(hearing)) is not None:
            return first
        stopped, vetoes = self._stopped(hearing, vetoes)
        named = vetoes or tuple(RuleId(f"veto.{name}") for name in sorted(stopped))
        all_told = cache(partial(told, hearing, self._currency))
        slots = NO_SLOTS if stopped & STOPS else all_told()
        route, intent = route_unmatched(hearing, stopped, told=slots != NO_SLOTS)
        orders = context.terms.awaited in ORDERS
        wished = person_offered(hearing, stopped) if orders else None
        if orders and (wished := wished or self._asking(hearing, slots)) is not None:
            return replace(wished, vetoes=named)
        if (context.asked in _TOLD_ABOUT or context.confirming) and not context.code and intent in _ABOUT_MONEY:
            found = None if stopped & STOPS else answer(hearing.heard, context, slots)
            if found is not None:
                return self._with_words(hearing, as_source(hearing, found), slots)
        if context.asked is None and context.terms.awaited is Awaited.NOTHING:
            loose = None if stopped or not self._grammar.spaced else ordered(hearing, slots)
            if (found := self._unasked(hearing, stopped, loose)) is not None:
                return found
            offer = self._offered(hearing, all_told)
            if offer is not None and intent in {None, Intent.QNA, offer[0]}:
                (intent, slots), route = offer, Route.EXTRACT
            if loose is not None and intent in {None, Intent.QNA}:  # an order, of which some words were not read
                intent, route = Intent.TRANSFER_MONEY, Route.EXTRACT
        slots = with_its_own(hearing, intent, slots)
        rejected: tuple[SlotName, ...] = ()
        objects = self._consent.objects(hearing.reading.units) or against(hearing)
        if intent is None and orders and (objects or self._other(hearing, stopped)):
            intent, route = Intent.DENY, Route.FAST if route is Route.CLARIFY else route
            rejected = _of_what_waits(hearing) if self._grammar.spaced else ()
        return self._settled(hearing, Understood(intent, slots, route=route, vetoes=named, rejected=rejected))

    def _before_all(self, hearing: Hearing) -> Understood | None:
        """A greeting; a moment that is wanted; what takes back what waits; a fraud, where anything is awaited."""
        context, words = hearing.context, hearing.reading.words
        if context.idle and self._grammar.patterns.wordings.greeting.fullmatch(hearing.text):
            return Understood(Intent.REPEAT, route=Route.FAST, confidence=1.0, rule=_GREETING)
        if context.idle and self._grammar.patterns.wordings.closing.fullmatch(hearing.text):
            return Understood(Intent.FAREWELL, route=Route.FAST, confidence=1.0, rule=_CLOSING)
        if not context.code and (wait := holding(hearing)) is not None:
            return wait
        awaited = context.terms.awaited
        taken_back = awaited in ORDERS | {Awaited.PERSON} and self._taken_back(words)  # "i paid her, never mind"
        if taken_back or (awaited is Awaited.PERSON and self._declined_last(hearing)):
            return Understood(Intent.DENY, route=Route.FAST, confidence=1.0, payees=hearing.heard.payees)
        return None if context.idle else alarmed(hearing)

    def _taken_back(self, words: tuple[str, ...]) -> bool:
        """Whether the last words call off what was said."""
        return self._grammar.spaced and self._grammar.cues.withdrawing.closes(words)

    def _declined_last(self, hearing: Hearing) -> bool:
        """Whether the last clause alone is a no: 「薬局のだった、やっぱりいいです」."""
        _, mark, last = hearing.text.rstrip("。").rpartition("、")
        return bool(mark) and self._consent.part(last, hearing.context) in {Intent.DENY, Intent.CANCEL}

    def _stopped(self, hearing: Hearing, vetoes: tuple[RuleId, ...]) -> tuple[set[str], tuple[RuleId, ...]]:
        """What speaks against a command; nothing where what was before is told, and then what is wanted."""
        stopped = vetoes_met(hearing, 0, len(hearing.reading.words))
        if self._grammar.endings is not None and stopped == {"past"} and ends_in_order(hearing):
            return set(), ()
        return stopped, vetoes

    def _settled(self, hearing: Hearing, meant: Understood) -> Understood:
        """With what was told that such an intent may have, and what is named in it that stays open."""
        heard = hearing.heard
        intent, slots, route = meant.intent, meant.slots, meant.route
        if self._grammar.spaced and hearing.context.idle and intent in MONEY_MOVING and not meant.vetoes:
            slots = told(hearing, self._currency, bare=True)
        serious = slots if intent in SERIOUS | {Intent.BALANCE_INQUIRY} else NO_SLOTS
        guessed = slots if intent is Intent.BILL_PAYMENT and slots.bill else named_for(intent, serious)
        own = own_accounts(hearing) if not (guessed.source or guessed.target) else ()
        mentions = unmatched(hearing, [(e.start, e.end) for _, e, _ in own])
        if intent not in MONEY_MOVING | {None, Intent.QNA}:
            mentions = ()
        if intent is Intent.BILL_PAYMENT and guessed.bill is not None and route is Route.EXTRACT:
            guessed = dated(hearing, guessed, mentions)
        found = replace(meant, slots=guessed, payees=heard.payees)
        used = route is Route.EXTRACT or hearing.context.asked is SlotName.PAYEE  # by the model, or as the answer
        unread = unknown(hearing) if used else ()
        if route is Route.EXTRACT and hearing.context.idle:
            beside = times_beside(heard, guessed) if intent in MONEY_MOVING else ()
            unread = (*unread, *bills_beside(hearing, found), *part_beside(hearing, found), *beside)
        sure = settled(hearing, found, Leftover())
        left = tuple(each for each in mentions if getattr(sure.slots, each.slot.value) is None)  # no stretch of days
        return replace(sure, unresolved=left, unread=tuple(dict.fromkeys((*unread, *sure.unread))))

    def _offered(self, hearing: Hearing, all_told: Callable[[], Slots]) -> tuple[Intent, Slots] | None:
        """An order to ask about, where nothing speaks against one; an account that is not said to pay stays open."""
        if self._grammar.endings is None or barred(hearing):
            return None
        slots = replace(all_told(), target=None)
        if slots.amount is None and slots.payee is not None:  # 「隆さん、4万5千、事業用」
            sum_ = told(hearing, self._currency, bare=True).amount
            if sum_ is not None and sum_.value.amount_minor >= _A_SUM and not sum_.evidence.surface.isdecimal():
                slots = replace(slots, amount=sum_)
        source, units = slots.source, hearing.reading.units
        place = units.covering(source.evidence.start, source.evidence.end) if source is not None else None
        if place is None or not self._grammar.cues.outof.scan(units.words, place[1]):
            slots = replace(slots, source=None)
        return offered(hearing, slots)

    def _with_words(
        self,
        hearing: Hearing,
        found: Understood,
        slots: Slots,
    ) -> Understood:
        """An answer, with the words beside its values that say something more; the payee's name once more does not."""
        find = hearing.find_payee
        unread = unread_words(hearing)
        words = [each for each in unread if says(self._grammar, each) and not in_a_slot(each, slots)]
        name = slots.payee.evidence.surface if slots.payee is not None and not self._grammar.spaced else ""
        words = [each for each in words if each.surface not in name]  # 「佐藤です、佐藤健」
        if slots.payee is not None and find is not None:  # "kate newman, my colleague" is one
            named = [find(each.surface) for each in words]
            best = [one.candidates[0] if one is not None and one.candidates else None for one in named]
            same = [one is not None and one.id == slots.payee.value and one.score > _SAME for one in best]
            words = [each for each, alike in zip(words, same, strict=True) if not alike]
        beside = Leftover((*words, *sums_beside(hearing, slots)))
        return settled(hearing, found, beside)

    def _other(self, hearing: Hearing, stopped: set[str]) -> bool:
        """Whether words that were not understood name a value or a part of an order, without a yes before them.

        Or something is told of it that was, or is not, after words that announce as much: "oh wait, he has paid me".
        """
        reading = hearing.reading
        announced = self._hesitating(reading.words)
        if max(self._consent.begins(reading.units), default=0) > announced:
            return False
        if announced and stopped & _TELLS:
            return True
        named = hearing.heard.payees is not None and hearing.heard.payees.outcome is MatchOutcome.CLEAR
        parts = self._grammar.cues.parts
        spoken_of = any(reading.phrases(parts))
        return named or spoken_of or names_a_value(hearing)

    def _asking(self, hearing: Hearing, slots: Slots) -> Understood | None:
        """What is asked about the order that waits: it is read again where its payee is asked about, else answered."""
        if slots == NO_SLOTS and self._asks(hearing):
            return Understood(Intent.QNA, route=Route.QNA, payees=hearing.heard.payees)
        if self._asks_who(hearing):
            return Understood(Intent.REPEAT, route=Route.FAST, confidence=1.0, payees=hearing.heard.payees)
        return None

    def _asks(self, hearing: Hearing) -> bool:
        """Whether something is asked about the order that waits, and no other value of it is named."""
        if hearing.heard.payees is not None or names_a_value(hearing):
            return False
        return self._inquires(hearing.reading)

    def _asks_who(self, hearing: Hearing) -> bool:
        """Whether it is asked if the payee is the one who is read back: "is that the ken at harbour federal"."""
        match, phrases = hearing.heard.payees, self._grammar.phrases
        if match is None or match.choice is None or hearing.heard.spans or not self._inquires(hearing.reading):
            return False
        marks = (phrases.objecting, phrases.relative, self._grammar.cues.repairs)
        if any(any(hearing.reading.phrases(trie)) for trie in marks):
            return False
        own = next(each.display_name for each in match.candidates if each.id == match.choice)
        alone = sum(each.display_name == own for each in match.candidates) == 1  # of two of one name it may be either
        return alone and own in hearing.context.terms.names

    def _inquires(self, reading: UtteranceLattice) -> bool:
        begin = self._hesitating(reading.words)
        edges = self._grammar.routing.scan(reading.words, begin) if begin < len(reading.words) else ()
        return any(edge.symbol == INQUIRING for edge in edges)

    def _hesitating(self, words: tuple[str, ...]) -> int:
        """How many words at the beginning only hesitate, or announce something anew."""
        marks, at = self._grammar.cues, 0
        while at < len(words):
            end = max(each.longest(words, at)[0] for each in (marks.hesitations, marks.repairs))
            if end == at:
                break
            at = end
        return at

    def _unasked(
        self,
        hearing: Hearing,
        stopped: set[str],
        loose: Understood | None,
    ) -> Understood | None:
        """What is wanted in words of no template, where nothing was asked: by its cues and the caller's own things."""
        rules = self._grammar
        if loose is not None and plain(hearing, loose.slots):
            return settled(hearing, loose, Leftover())
        paid = billed(hearing) if rules.spaced and not stopped - _LED_UP else None
        found = paid or carded(hearing)
        if found is None and not only_asks(hearing, stopped):
            found = alarmed(hearing)
        found = found or parting(hearing, stopped) or asked(hearing, stopped)
        return found or cued(hearing, stopped)


def _of_what_waits(hearing: Hearing) -> tuple[SlotName, ...]:
    """The one part of the order that is named as it was read back, behind which it is not to go out; a day first."""
    terms, nouns, match = hearing.context.terms, hearing.nouns, hearing.heard.payees
    named = {edge.symbol for row in hearing.reading.phrases(nouns.trie) for edge in row}
    owned = {nouns.nouns[each].id for each in named if nouns.nouns[each].kind == "account"}
    sums = [each for each in hearing.heard.spans if each.kind in SUMS]
    called = any(set(each.casefold().split()) <= set(hearing.reading.words) for each in terms.names)
    clear = match is not None and match.outcome is MatchOutcome.CLEAR
    told = {
        SlotName.DATE: any(each.kind is SpanKind.DATE for each in hearing.heard.spans),
        SlotName.SOURCE: terms.source in owned,
        SlotName.TARGET: terms.target is not None and terms.target in owned,
        SlotName.AMOUNT: terms.amount is not None and any(_so_much(each, terms.amount) for each in sums),
        SlotName.PAYEE: (called or clear) and terms.bill is None,
    }
    parts = tuple(each for each, so in told.items() if so)
    return parts[:1] if len(parts) == 1 or told[SlotName.DATE] else ()


def _so_much(said: Span, amount: Money) -> bool:
    """Whether a number or sum is first of all an order's amount."""
    readings = amount_readings(said, exponent(amount.currency))
    return bool(readings) and readings[0].amount_minor == amount.minor
