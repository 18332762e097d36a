"""Contested amounts: where hypotheses not far behind the best have as many amounts and others, each gives a reading.

Their other words may differ: what is hard to hear is often heard wrong in its name too. A wrong amount that is read
back may be agreed to, so the caller is asked, as about an amount that reads two ways.
"""

from collections.abc import Callable
from dataclasses import replace

from rules.load import load
from rules.locales import locale_rules
from schemas.ids import language
from schemas.span import Ambiguity, MoneyValue, Span, SpanKind, SpanReading, amount_readings, amount_spans
from schemas.transcript import Source, Transcript
from services.understanding.fast.ruleset.rules import ConfidenceFile
from services.understanding.fast.words.hypotheses import rivals

Normalize = Callable[[str], tuple[Span, ...]]


def contested(transcript: Transcript, spans: tuple[Span, ...], normalize: Normalize) -> tuple[Span, ...]:
    """`spans` of the best hypothesis, its amounts with what the others make of them as further readings.

    Unchanged for typed text, and where every hypothesis near the best has the same amounts, or more or fewer of them.
    """
    amounts = amount_spans(spans)
    if transcript.source is not Source.SPEECH or not amounts:
        return spans
    digits = locale_rules(transcript.locale).digits
    found: dict[Span, Span] = {}
    rules = load("intents/confidence.yaml", ConfidenceFile).contested[language(transcript.locale)]
    near = (each for each in rivals(transcript, rules.tokens_a_character, end=0) if each.by_token <= rules.odds)
    for other in near:
        theirs = amount_spans(normalize(other.text))
        if len(theirs) == len(amounts):
            for span, heard in zip(amounts, theirs, strict=True):
                if other.by_token + rules.figures * _more_figures(span, heard, digits) <= rules.odds:
                    found[span] = _with(found.get(span, span), heard, digits)
    return tuple(found.get(span, span) for span in spans)


def _more_figures(span: Span, heard: Span, digits: int) -> int:
    """How many figures more than one an amount has beyond the best's: few people send 5,001, and many 5,000."""
    known, others = (
        min((len(str(each.amount_minor).strip("0")) for each in amount_readings(said, digits)), default=0)
        for said in (span, heard)
    )
    return others - known if others - known > 1 else 0


def _with(span: Span, heard: Span, digits: int) -> Span:
    """`span` with the first reading of `heard` as one more, unless it has that amount; a currency left out is alike."""
    known, others = amount_readings(span, digits), amount_readings(heard, digits)
    if not known or not others:
        return span
    amount = MoneyValue(others[0].amount_minor, others[0].currency or known[0].currency)
    if any(
        (each.amount_minor, each.currency or amount.currency) == (amount.amount_minor, amount.currency)
        for each in known
    ):
        return span
    reading = SpanReading(SpanKind.MONEY, amount, heard.rule)
    return replace(span, ambiguity=Ambiguity.HEARD_TWO_WAYS, readings=(*span.readings, reading))
