"""Rescoring by the grammar: where the likeliest words are no sentence, one about as likely may be what was said."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from rules.load import load
from schemas.intent import Context, Intent, Route, Understood
from schemas.transcript import Hypothesis, Source, Transcript
from services.understanding.fast.fallback.partings import RULE as LOOSE
from services.understanding.fast.ruleset.rules import ConfidenceFile

Meaning = Callable[[Transcript], Understood]
_TAKEN: Final = frozenset({Route.FAST, Route.HUMAN})
_LOST: Final = frozenset({Route.CLARIFY, Route.EXTRACT})


def rescored(transcript: Transcript, context: Context, meaning: Meaning) -> Transcript:
    """`transcript`, or the same hypotheses led by the one that is meant. Only harmless intents are found so.

    The likeliest words stay in front where they mean something or are vetoed, where a yes or a code is awaited, and
    where the others near them disagree: no money moves, and nothing is agreed to, on words that were not the likeliest.
    """
    rules, best = load("intents/confidence.yaml", ConfidenceFile).rescoring, transcript.avg_logprob
    if transcript.source is not Source.SPEECH or context.confirming or context.code or best < rules.above:
        return transcript
    near = [other for other in transcript.hypotheses[1:] if other.avg_logprob >= best - rules.within]
    if not near or not _lost(meaning(transcript)):
        return transcript
    found = [(led, meaning(led)) for led in (_led_by(other, transcript) for other in near)]
    meant = [(led, understood) for led, understood in found if understood.intent is not None]
    intents = {understood.intent for _, understood in meant}
    if len(intents) != 1 or any(understood.vetoes for _, understood in found):
        return transcript
    led, understood = meant[0]
    return led if _harmless(understood, rules.intents) else transcript


def _lost(understood: Understood) -> bool:
    """Whether no sentence of ours is in these words, and nothing speaks against them."""
    if understood.rule == LOOSE:
        return True
    return understood.intent is None and not understood.vetoes and understood.route in _LOST


def _harmless(understood: Understood, intents: frozenset[Intent]) -> bool:
    return understood.intent in intents and understood.then is None and understood.route in _TAKEN


def _led_by(first: Hypothesis, transcript: Transcript) -> Transcript:
    others = tuple(each for each in transcript.hypotheses if each is not first)
    return replace(transcript, text=first.text, hypotheses=(first, *others))
