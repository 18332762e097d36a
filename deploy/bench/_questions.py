"""Questions for the answer benchmarks: answerable ones with the passages that answer, and ones nothing answers."""

from pathlib import Path
from typing import Annotated, NamedTuple

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict

from deploy.bench._lines import unpacked


class _QuestionsPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Answerable(NamedTuple):
    """A question and the ids of the passages that answer it."""

    q: str
    passages: tuple[str, ...]


def _answerable(written: str) -> tuple[Answerable, ...]:
    """Of each line the question, and behind => its passages. Raises ValueError."""
    parts = [line.split(" => ") for line in written.splitlines()]
    return tuple(Answerable(question, tuple(passages.split(", "))) for question, passages in parts)


class Half(_QuestionsPart):
    """One part of a language's questions."""

    answerable: Annotated[tuple[Answerable, ...], BeforeValidator(_answerable)]
    unanswerable: Annotated[tuple[str, ...], BeforeValidator(str.splitlines)]


class Questions(_QuestionsPart):
    """A file of questions."""

    id: str
    version: int
    development: Half
    held: Half
    fresh: Half


def read_questions(folder: Path, language: str) -> dict[str, Half]:
    """A language's questions, packed or not: `development` may be tuned on, `held` and the later `fresh` not."""
    path = next(folder.glob(f"{language}.yaml*"))
    read = Questions.model_validate(yaml.load(unpacked(path), yaml.CSafeLoader))
    return {"development": read.development, "held": read.held, "fresh": read.fresh}
