"""Grounding: what the model chose counts only where the caller's own words or an offered candidate stand behind it."""

from dataclasses import replace
from typing import Final

from rules.locales import locale_rules
from schemas.extraction import Extraction, ExtractionOffer, Fallback
from schemas.ids import Locale
from schemas.intent import Annotation, SlotName
from schemas.payee import PayeeCandidate, PayeeMatch
from schemas.span import Ambiguity, MoneyValue, Span, amount_readings, amount_spans

MAX_OFFERED_AMOUNTS: Final = 4


def offer_of(heard: Annotation, asked: SlotName | None = None) -> ExtractionOffer:
    """What of an utterance is put before the model: its amounts' readings and the candidates for its payee."""
    transcript = heard.transcript
    return ExtractionOffer(
        text=transcript.text,
        locale=transcript.locale,
        alternatives=transcript.alternatives,
        spans=heard.spans,
        amounts=_amounts(heard.spans, transcript.locale)[:MAX_OFFERED_AMOUNTS],
        payees=_payees(heard.payees),
        asked=asked,
    )


def ground(offer: ExtractionOffer, extraction: Extraction) -> Extraction:
    """`extraction`, or a question in its place where a slot resolves to nothing that was said or offered."""
    said = None if extraction.amount is None else _span_of(offer.spans, extraction.amount, offer.locale)
    if extraction.amount is not None and said is None:
        return _ungrounded(extraction, Fallback.AMBIGUOUS_AMOUNT)
    if extraction.payee is not None and extraction.payee not in {candidate.id for candidate in offer.payees}:
        return _ungrounded(extraction, Fallback.AMBIGUOUS_PAYEE)
    if said is not None and said.ambiguity is Ambiguity.HEARD_TWO_WAYS:  # no words tell which: the caller is asked
        others = (a for a in amount_readings(said, locale_rules(offer.locale).digits) if a != extraction.amount)
        return replace(extraction, readings=tuple(others))
    return extraction


def _payees(match: PayeeMatch | None) -> tuple[PayeeCandidate, ...]:
    """Those worth asking the caller about: a name that merely sounds like the one said is nobody's choice."""
    return match.candidates[: match.plausible] if match else ()


def _ungrounded(extraction: Extraction, fallback: Fallback) -> Extraction:
    return replace(extraction, amount=None, payee=None, fallback=fallback, needs_confirmation=True, reason="ungrounded")


def _amounts(spans: tuple[Span, ...], locale: Locale) -> tuple[MoneyValue, ...]:
    digits = locale_rules(locale).digits
    return tuple(dict.fromkeys(a for span in amount_spans(spans) for a in amount_readings(span, digits)))


def _span_of(spans: tuple[Span, ...], amount: MoneyValue, locale: Locale) -> Span | None:
    return next((span for span in spans if amount in amount_readings(span, locale_rules(locale).digits)), None)
