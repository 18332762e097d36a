"""rules/answer/thresholds.yaml: when evidence is strong enough, how much context is given, what is released."""

import math

from pydantic import BaseModel, ConfigDict, Field

from rules.load import RuleFile, load
from services.answering.retrieve import RetrievalResult


class _ThresholdPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Likelihood(_ThresholdPart):
    """How likely the best passage answers: weights of what a search found, and how sure is sure enough.

    The weights are fitted on one library of documents; another wants its own (`tellerline bench evidence`).
    """

    coverage: float = Field(ge=0)
    score: float = Field(ge=0)
    margin: float = Field(ge=0)
    constant: float
    sure: float = Field(gt=0, lt=1)

    def probability(self, found: RetrievalResult) -> float:
        """0 … 1. The caller's own account is in no document."""
        if found.personal or not found.hits:
            return 0.0
        odds = self.constant + self.coverage * found.coverage + self.score * found.score + self.margin * found.margin
        return 1.0 / (1.0 + math.exp(-odds))

    def strong(self, found: RetrievalResult) -> bool:
        """Whether `found` may be answered from."""
        return self.probability(found) >= self.sure


class ContextLimits(_ThresholdPart):
    """What the model is given."""

    passages: int = Field(ge=1, le=9)
    characters: int = Field(ge=200)


class Quote(_ThresholdPart):
    """What is quoted where no model answers."""

    passages: int = Field(ge=1, le=3)
    near: float = Field(gt=0, le=1)


class Release(_ThresholdPart):
    """What is released of a model's answer."""

    sentence_characters: int = Field(ge=80)
    sentences: int = Field(ge=1)
    shared_terms: float = Field(ge=0, le=1)


class Thresholds(RuleFile):
    """The whole file."""

    evidence: Likelihood
    context: ContextLimits
    quote: Quote
    release: Release


def thresholds() -> Thresholds:
    """The validated thresholds. Raises RulesInvalid."""
    return load("answer/thresholds.yaml", Thresholds)
