"""Grounding: what the model chose counts only where the caller's own words or an offered candidate stand behind it."""

from dataclasses import replace
from typing import Final

from rules.locales import locale_rules
from schemas.extraction import Extraction, ExtractionOffer, Fallback
from schemas.ids import Locale, PayeeId, RuleId
from schemas.intent import Evidence, Heard, Intent, Route, Slot, SlotName, Slots, Understood
from schemas.money import exponent
from schemas.payee import MatchOutcome
from schemas.span import MoneyValue, Span, SpanKind, amount_readings

MAX_OFFERED_AMOUNTS: Final = 4
_NEEDED: Final = {
    Intent.TRANSFER_MONEY: (SlotName.AMOUNT, SlotName.PAYEE),
    Intent.RECIPIENT_LOOKUP: (SlotName.PAYEE,),
}


def offer_of(heard: Heard, asked: SlotName | None = None) -> ExtractionOffer:
    """What of an utterance is put before the model: its amounts' readings and the candidates for its payee."""
    transcript = heard.transcript
    return ExtractionOffer(
        text=transcript.text,
        locale=transcript.locale,
        alternatives=transcript.alternatives,
        spans=heard.spans,
        amounts=_amounts(heard.spans, transcript.locale)[:MAX_OFFERED_AMOUNTS],
        payees=heard.payees.candidates if heard.payees else (),
        asked=asked,
    )


def ground(offer: ExtractionOffer, extraction: Extraction) -> Extraction:
    """`extraction`, or a question in its place where a slot resolves to nothing that was said or offered."""
    if extraction.amount is not None and _span_of(offer.spans, extraction.amount, offer.locale) is None:
        return _ungrounded(extraction, Fallback.AMBIGUOUS_AMOUNT)
    if extraction.payee is not None and extraction.payee not in {candidate.id for candidate in offer.payees}:
        return _ungrounded(extraction, Fallback.AMBIGUOUS_PAYEE)
    return extraction


def understood(heard: Heard, extraction: Extraction) -> Understood:
    """An extraction as the dialogue takes it: slots with the caller's words as evidence. No slot without words."""
    rule = RuleId(extraction.prompt_version)
    slots = Slots(
        amount=_amount_slot(heard, extraction.amount, rule),
        payee=_payee_slot(heard, extraction.payee, rule),
    )
    filled = {SlotName.AMOUNT: slots.amount, SlotName.PAYEE: slots.payee}
    needed = _NEEDED.get(extraction.intent, ()) if extraction.intent else ()
    missing = tuple(name for name in needed if filled[name] is None)
    clear = extraction.fallback is Fallback.OK and extraction.intent is not None
    return Understood(
        intent=extraction.intent,
        slots=slots,
        missing=missing,
        route=_route(extraction.intent) if clear else Route.CLARIFY,
        confidence=0.5 if clear else 0.0,
        rule=rule,
        payees=heard.payees,
    )


def _route(intent: Intent | None) -> Route:
    if intent is Intent.QNA:
        return Route.QNA
    return Route.HUMAN if intent is Intent.HUMAN_HANDOFF else Route.FAST


def _ungrounded(extraction: Extraction, fallback: Fallback) -> Extraction:
    return replace(extraction, amount=None, payee=None, fallback=fallback, needs_confirmation=True, reason="ungrounded")


def _digits(locale: Locale) -> int:
    return exponent(locale_rules(locale).currency)


def _amounts(spans: tuple[Span, ...], locale: Locale) -> tuple[MoneyValue, ...]:
    """Amounts of money spans; of bare numbers only where no money was said."""
    money = [span for span in spans if span.kind is SpanKind.MONEY]
    chosen = money or [span for span in spans if span.kind is SpanKind.NUMBER]
    return tuple(dict.fromkeys(a for span in chosen for a in amount_readings(span, _digits(locale))))


def _span_of(spans: tuple[Span, ...], amount: MoneyValue, locale: Locale) -> Span | None:
    return next((span for span in spans if amount in amount_readings(span, _digits(locale))), None)


def _amount_slot(heard: Heard, amount: MoneyValue | None, rule: RuleId) -> Slot[MoneyValue] | None:
    if amount is None:
        return None
    span = _span_of(heard.spans, amount, heard.transcript.locale)
    return None if span is None else Slot(amount, Evidence(span.start, span.end, span.surface, rule))


def _payee_slot(heard: Heard, payee: PayeeId | None, rule: RuleId) -> Slot[PayeeId] | None:
    match = heard.payees
    if payee is None or match is None or match.outcome is MatchOutcome.NOBODY:
        return None
    if payee not in {candidate.id for candidate in match.candidates}:
        return None
    return Slot(payee, Evidence(match.start, match.end, match.heard, rule))
