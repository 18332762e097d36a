"""What may not appear in a log, a metric or an error's text."""

import re
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator

from rules.load import RuleFile, load


class RedactionPattern(BaseModel):
    """A regular expression whose matches are replaced. Patterns run in order, each over the result of the last."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=r"^[a-z_]+$")]
    pattern: Annotated[str, Field(min_length=1, max_length=400)]

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(str(error)) from error
        return pattern


class RedactionRules(RuleFile):
    """Patterns of personal and secret text, and the bound on what is looked at."""

    max_characters: int = Field(ge=256, le=65_536)
    patterns: tuple[RedactionPattern, ...] = Field(min_length=1, max_length=40)


def redaction_rules() -> RedactionRules:
    """The rules in force. Raises RulesInvalid."""
    return load("guard/redaction.yaml", RedactionRules)
