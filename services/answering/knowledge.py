"""The bank's documents, cut into clauses. Each clause is a passage with an id, a product and the days it holds for."""

from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Final, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from rules.load import ROOT, RuleFile, load_own
from schemas.errors import RulesInvalid

DEMO: Final = ROOT / "demo" / "knowledge"
"""The fictional bank's documents, which nobody else's callers may hear."""
MAX_PASSAGES: Final = 20_000


class Clause(BaseModel):
    """One clause of a document. `about` names its subject as callers do; it is searched, never spoken or cited."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=r"^\d+(\.\d+)*$")
    product: str = Field(pattern="^[a-z]+$")
    about: str = Field(default="", max_length=120)
    text: str = Field(min_length=10, max_length=600)
    effective_from: date | None = None
    effective_to: date | None = None


class Document(RuleFile):
    """One document, <language>/<document>.yaml of a knowledge folder. Clauses hold for its days or their own."""

    document: str = Field(pattern=r"^[a-z0-9-]+$")
    title: str = Field(min_length=2, max_length=60)
    language: str = Field(pattern="^[a-z]{2}$")
    effective_from: date
    effective_to: date | None = None
    clauses: list[Clause]

    @model_validator(mode="after")
    def _clauses_differ(self) -> Self:
        if len({clause.id for clause in self.clauses}) != len(self.clauses):
            raise ValueError("two clauses share an id")
        return self


@dataclass(frozen=True, slots=True)
class Passage:
    """A clause as it is searched and cited. `id` is document§clause; both days are inclusive."""

    id: str
    title: str
    text: str
    language: str
    product: str
    effective_from: date
    effective_to: date
    about: str = ""


def passages_of(document: Document) -> list[Passage]:
    """The passages of one document."""
    return [
        Passage(
            id=f"{document.document}§{clause.id}",
            title=document.title,
            text=" ".join(clause.text.split()),
            language=document.language,
            product=clause.product,
            effective_from=clause.effective_from or document.effective_from,
            effective_to=clause.effective_to or document.effective_to or date.max,
            about=clause.about,
        )
        for clause in document.clauses
    ]


@lru_cache(maxsize=4)
def load_passages(folder: Path = DEMO) -> tuple[Passage, ...]:
    """Every passage of a knowledge folder, in the order of the files' names. Raises RulesInvalid."""
    found: list[Passage] = []
    for path in sorted(folder.rglob("*.yaml")):
        document = load_own(path, Document)
        _in_its_place(path, document)
        found += passages_of(document)
    if len({(p.language, p.id) for p in found}) != len(found):
        raise RulesInvalid("two passages of one language share an id")
    if len(found) > MAX_PASSAGES:
        raise RulesInvalid(f"more than {MAX_PASSAGES} passages")
    return tuple(found)


def _in_its_place(path: Path, document: Document) -> None:
    if (path.parent.name, path.stem) != (document.language, document.document):
        raise RulesInvalid(f"{path.name}: a document lies in <language>/<document>.yaml")
