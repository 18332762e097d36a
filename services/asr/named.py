"""A name told by its sound: of those that may be meant the one that fits, clearly before the rest."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from rules.asr import NameOdds, asr_rules
from schemas.ids import language
from schemas.transcript import Hypothesis, Transcript, Wordings


async def told_by_sound(
    heard: Transcript, wordings: Wordings | None, weigh: Callable[[Sequence[str]], Awaitable[Sequence[float] | None]]
) -> Transcript:
    """`heard`, with the name in it told by its sound where it is not clear; nothing is weighed in other languages.

    `weigh` gives the natural-log odds of other words against those of `heard`, none where nothing tells them,
    and None where that failed.
    """
    rules = asr_rules(language(heard.locale)).names
    others = wordings(heard) if wordings is not None and rules is not None and heard.text else ()
    if not others or rules is None:
        return heard
    odds = await weigh(others)
    return replace(heard, unweighed=True) if odds is None else named(heard, others, odds, rules)


def named(heard: Transcript, others: Sequence[str], odds: Sequence[float], rules: NameOdds) -> Transcript:
    """`heard`, led by the one of `others` that sounds like it; as it was where none does, or two do."""
    if len(odds) != len(others):
        return heard
    ranked = sorted(zip(odds, others, strict=True), reverse=True)
    (best, text), rivals = ranked[0], [odd for odd, other in ranked if other != ranked[0][1]]
    if best < rules.odds or (rivals and best - rivals[0] < rules.lead):
        return heard
    first = Hypothesis(text, min(0.0, heard.avg_logprob + best / (1 + len(text))))
    rest = tuple(each for each in heard.hypotheses if each.text != text)
    return replace(heard, text=text, hypotheses=(first, *rest), named=True)
