"""How sure a match is: rule class × transcript × agreement of the alternatives × the payee's margin."""

import math

from schemas.intent import Annotation
from schemas.payee import PayeeMatch
from schemas.transcript import Hypothesis, Transcript
from services.understanding.fast.ruleset.rules import ConfidenceFile, RuleClass


def confidence(rules: ConfidenceFile, rule_class: RuleClass, heard: Annotation, payees: PayeeMatch | None) -> float:
    """0 … 1. A choice among payees is made or asked elsewhere; here a clear one counts with its probability."""
    sure = rules.classes[rule_class] * _transcript(rules, heard.transcript) * _agreement(rules, heard.transcript)
    if payees is not None and payees.choice is not None:
        chosen = next((c.score for c in payees.candidates if c.id == payees.choice), 1.0)
        sure *= min(1.0, 0.5 + chosen / 2)
    return round(max(0.0, min(1.0, sure)), 4)


def _transcript(rules: ConfidenceFile, transcript: Transcript) -> float:
    below = max(0.0, -transcript.avg_logprob - rules.logprob_free)
    return max(0.0, 1.0 - rules.logprob_slope * below) * (1.0 - transcript.no_speech_prob / 2)


def _agreement(rules: ConfidenceFile, transcript: Transcript) -> float:
    """The alternatives' shared words: what they all say is more likely what was said. An unlikely one says little."""
    best, *others = transcript.hypotheses or (Hypothesis("", 0.0),)
    if not others:
        return 1.0
    words, doubt = set(_pieces(best.text)), 0.0
    for other in others:
        theirs = set(_pieces(other.text))
        likely = math.exp(min(0.0, other.avg_logprob - best.avg_logprob))
        doubt += likely * (1.0 - len(words & theirs) / max(1, len(words | theirs)))
    return 1.0 - rules.disagreement * doubt / len(others)


def _pieces(text: str) -> list[str]:
    words = text.casefold().split()
    return words if len(words) > 1 else list(text.casefold())
