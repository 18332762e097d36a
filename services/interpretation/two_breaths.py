"""An amount that comes in two breaths: "fifty" … "thousand dollars to Emily"."""

from collections.abc import Callable
from dataclasses import replace

from rules.locales import locale_rules, space
from schemas.intent import Slot
from schemas.interpretation import Interpretation
from schemas.transcript import Hypothesis, Transcript


def gone_on(before: str, alone: Interpretation, interpret: Callable[[Transcript], Interpretation]) -> Interpretation:
    """`alone`, whose first words may go on with the amount `before` that was given just before it.

    The whole is one reading of the amount, what was said last the other, and callers are asked which. `interpret`
    interprets other words in the same context.
    """
    transcript = alone.transcript
    between = space(transcript.locale)
    text = f"{before}{between}{transcript.text}"
    whole = interpret(
        Transcript(text, transcript.locale, (Hypothesis(text, transcript.avg_logprob),), source=transcript.source)
    )
    amount, last = whole.understood.slots.amount, alone.understood.slots.amount
    first = len(before) + len(between)
    if amount is None or amount.evidence.start > 0 or amount.evidence.end <= first:
        return alone
    if last is not None and last.evidence.end + first != amount.evidence.end:
        return alone
    begun = interpret(Transcript.typed(before, transcript.locale)).understood.slots.amount
    digits = locale_rules(transcript.locale).digits
    either = [each.value for each in (begun, last) if each is not None]
    if last is not None and any(amount.value.agrees_with(each, digits) for each in either):
        return alone  # another amount, not more of the first: "fifty" … "sixty dollars"
    other = last or begun
    others = () if other is None else (other.value, *other.readings)
    in_doubt = any(amount.value.agrees_with(each, digits) for each in others[1:])  # the first breath had left this open
    apart = (each for each in others if not amount.value.agrees_with(each, digits))
    readings = () if in_doubt else (amount.value, *apart)
    evidence = replace(amount.evidence, start=0, end=max(0, amount.evidence.end - first))
    understood = whole.understood if last is None else alone.understood
    slots = replace(understood.slots, amount=Slot(amount.value, evidence, tuple(dict.fromkeys(readings))))
    return replace(alone, understood=replace(understood, slots=slots))
