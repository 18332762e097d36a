"""rules/answer/thresholds.yaml: when evidence is strong enough, how much context is given, what is released."""

from pydantic import BaseModel, ConfigDict, Field

from rules.load import RuleFile, load
from services.answer.retrieve import Found


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Evidence(_Part):
    """When a search's result is strong enough to answer from."""

    coverage: float = Field(gt=0, le=1)
    score: float = Field(gt=0)
    strange_coverage: float = Field(gt=0, le=1)
    strange_margin: float = Field(ge=0, le=1)
    crowd: float = Field(gt=0)

    def strong(self, found: Found) -> bool:
        """Whether `found` may be answered from. The caller's own account never is."""
        if found.personal or found.score < self.score:
            return False
        if found.strange:
            return found.coverage >= self.strange_coverage and found.margin >= self.strange_margin
        return found.coverage >= self.coverage and found.third < self.crowd


class Context(_Part):
    """What the model is given."""

    passages: int = Field(ge=1, le=9)
    characters: int = Field(ge=200)


class Quote(_Part):
    """What is quoted where no model answers."""

    passages: int = Field(ge=1, le=3)
    near: float = Field(gt=0, le=1)


class Release(_Part):
    """What is released of a model's answer."""

    sentence_characters: int = Field(ge=80)
    sentences: int = Field(ge=1)
    shared_terms: float = Field(ge=0, le=1)


class Thresholds(RuleFile):
    """The whole file."""

    evidence: Evidence
    context: Context
    quote: Quote
    release: Release


def thresholds() -> Thresholds:
    """The validated thresholds. Raises RulesInvalid."""
    return load("answer/thresholds.yaml", Thresholds)
