"""A name told by its sound: of those that may be meant the one that fits, clearly before the rest."""

from collections.abc import Sequence
from dataclasses import replace

from rules.asr import asr_rules
from schemas.ids import language
from schemas.transcript import Hypothesis, Transcript


def named(heard: Transcript, others: Sequence[str], odds: Sequence[float]) -> Transcript:
    """`heard`, led by the one of `others` that sounds like it; as it was where none does, or two do.

    `odds` are natural-log odds of each of `others` against the words of `heard`, or none where nothing tells them.
    """
    if len(odds) != len(others):
        return heard
    rules = asr_rules(language(heard.locale))
    ranked = sorted(zip(odds, others, strict=True), reverse=True)
    (best, text), rivals = ranked[0], [odd for odd, other in ranked if other != ranked[0][1]]
    if best < rules.name_odds or (rivals and best - rivals[0] < rules.name_lead):
        return heard
    first = Hypothesis(text, min(0.0, heard.avg_logprob + best / (1 + len(text))))
    rest = tuple(each for each in heard.hypotheses if each.text != text)
    return replace(heard, text=text, hypotheses=(first, *rest), named=True)
