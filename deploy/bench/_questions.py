"""Questions for the answer benchmarks: answerable ones with the passages that answer, and ones nothing answers."""

from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field


class _QuestionsPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Answerable(_QuestionsPart):
    """A question and the ids of the passages that answer it."""

    q: str
    passages: list[str] = Field(alias="in", min_length=1)


class Half(_QuestionsPart):
    """One part of a language's questions."""

    answerable: list[Answerable]
    unanswerable: list[str]


class Questions(_QuestionsPart):
    """A file of questions."""

    id: str
    version: int
    development: Half
    held: Half
    fresh: Half


def read_questions(folder: Path, language: str) -> dict[str, Half]:
    """A language's questions: `development` may be tuned on, `held` and the later `fresh` not."""
    read = Questions.model_validate(
        yaml.load((folder / f"{language}.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
    )
    return {"development": read.development, "held": read.held, "fresh": read.fresh}
