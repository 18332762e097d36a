"""Grounding: no amount without words, no payee without a candidate."""

from dataclasses import replace

import pytest

from schemas.extraction import Extraction, ExtractionOffer, Fallback
from schemas.ids import EN_US, JA_JP, Locale, PayeeId, RuleId
from schemas.intent import Annotation, Intent, SlotName
from schemas.payee import MatchOutcome, PayeeCandidate, PayeeMatch
from schemas.span import Ambiguity, MoneyValue, Span, SpanKind, SpanReading, amount_readings
from schemas.transcript import Transcript
from services.understanding.extraction.ground import ground, offer_of

RULE = RuleId("test@1")
HEARD = Ambiguity.HEARD_TWO_WAYS
FIFTY = MoneyValue(5000, None)
KEN = PayeeCandidate(PayeeId("p-ken"), "Ken Sato", "", 0.9)
KIM = PayeeCandidate(PayeeId("p-kim"), "Kim Suter", "", 0.001)


def span(kind: SpanKind, value: MoneyValue | str, *readings: MoneyValue) -> Span:
    further = tuple(SpanReading(SpanKind.MONEY, r, RULE) for r in readings)
    return Span(kind, "one fifty", 5, 14, value, RULE, Ambiguity.HUNDREDS_OR_DECIMAL if further else None, further)


def heard(*spans: Span, locale: Locale = EN_US, outcome: MatchOutcome = MatchOutcome.ASK) -> Annotation:
    match = PayeeMatch("ken", 18, 21, (KEN, KIM), outcome, plausible=int(outcome is not MatchOutcome.NOBODY))
    return Annotation(Transcript.typed("send one fifty to ken", locale), spans, match)


def extraction(
    amount: MoneyValue | None = None, payee: str | None = None, intent: Intent | None = Intent.TRANSFER_MONEY
) -> Extraction:
    chosen = PayeeId(payee) if payee else None
    return Extraction(intent, amount, chosen, True, Fallback.OK, "m", "prompt.extraction@1", 1.0)


def test_every_reading_of_the_money_said_is_offered() -> None:
    offer = offer_of(heard(span(SpanKind.MONEY, MoneyValue(15000, None), MoneyValue(150, None))), SlotName.AMOUNT)
    assert offer.amounts == (MoneyValue(15000, None), MoneyValue(150, None))
    assert offer.payees == (KEN,)
    assert offer.asked is SlotName.AMOUNT


@pytest.mark.parametrize(
    ("locale", "number", "minor"),
    [(EN_US, "50", 5000), (EN_US, "1.5", 150), (JA_JP, "5000", 5000), (EN_US, "1.005", None), (EN_US, "0", None),
     (EN_US, "-4", None), (EN_US, "1e400", None), (EN_US, "NaN", None), (EN_US, "fifty", None)],
)  # fmt: skip
def test_a_bare_number_is_an_amount_only_in_whole_minor_units(locale: Locale, number: str, minor: int | None) -> None:
    offer = offer_of(heard(span(SpanKind.NUMBER, number), locale=locale))
    assert offer.amounts == (() if minor is None else (MoneyValue(minor, None),))


def test_numbers_are_not_offered_beside_money_nor_account_digits_ever() -> None:
    offer = offer_of(heard(span(SpanKind.MONEY, FIFTY), span(SpanKind.NUMBER, "7"), span(SpanKind.DIGITS, "1234")))
    assert offer.amounts == (FIFTY,)
    assert amount_readings(span(SpanKind.DIGITS, "1234"), 2) == ()


def test_an_amount_that_was_not_said_is_asked_again() -> None:
    offer = ExtractionOffer("send it", EN_US, amounts=(FIFTY,), payees=(KEN,))
    got = ground(offer, extraction(FIFTY, "p-ken"))
    assert (got.amount, got.payee, got.fallback) == (None, None, Fallback.AMBIGUOUS_AMOUNT)
    assert got.reason == "ungrounded"


def test_a_payee_that_was_not_offered_is_asked_again() -> None:
    offer = offer_of(heard(span(SpanKind.MONEY, FIFTY)))
    got = ground(offer, extraction(FIFTY, "p-eve"))
    assert (got.payee, got.fallback) == (None, Fallback.AMBIGUOUS_PAYEE)


@pytest.mark.parametrize(("outcome", "offered"), [(MatchOutcome.ASK, (KEN,)), (MatchOutcome.NOBODY, ())])
def test_a_payee_not_worth_asking_about_is_no_choice(
    outcome: MatchOutcome, offered: tuple[PayeeCandidate, ...]
) -> None:
    offer = offer_of(heard(span(SpanKind.MONEY, FIFTY), outcome=outcome))
    assert offer.payees == offered
    got = ground(offer, extraction(FIFTY, "p-kim"))
    assert (got.payee, got.fallback) == (None, Fallback.AMBIGUOUS_PAYEE)


def test_what_is_grounded_passes_unchanged() -> None:
    assert ground(offer_of(heard(span(SpanKind.MONEY, FIFTY))), extraction(FIFTY, "p-ken")) == extraction(
        FIFTY, "p-ken"
    )


def test_a_further_reading_of_the_words_is_grounded_too() -> None:
    said = heard(span(SpanKind.MONEY, MoneyValue(15000, None), MoneyValue(150, None)))
    found = ground(offer_of(said), extraction(MoneyValue(150, None)))
    assert (found.amount, found.readings) == (MoneyValue(150, None), ())


@pytest.mark.parametrize(("chosen", "other"), [(15000, 150), (150, 15000)])
def test_which_of_two_ways_an_amount_was_heard_is_not_for_the_model_to_say(chosen: int, other: int) -> None:
    two_ways = replace(span(SpanKind.MONEY, MoneyValue(15000, None), MoneyValue(150, None)), ambiguity=HEARD)
    found = ground(offer_of(heard(two_ways)), extraction(MoneyValue(chosen, None), "p-ken"))
    assert (found.amount, found.readings) == (MoneyValue(chosen, None), (MoneyValue(other, None),))
    assert found.payee == "p-ken"
