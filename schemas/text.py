"""The text contract: one utterance as text in, everything the deterministic path makes of it out."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from schemas.span import SpanJson

MAX_TEXT = 2_000
"""Characters of one utterance."""
MAX_BOOK = 10_000
"""Payees of one book."""
MAX_ID = 200
"""Characters of an utterance's id."""

Words = Annotated[str, StringConstraints(max_length=MAX_TEXT)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class TextPayee(BaseModel):
    """A payee as QA writes it."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: Name
    name: Name
    kana: Annotated[str, StringConstraints(max_length=200)] = ""
    aliases: Annotated[tuple[Name, ...], Field(max_length=20)] = ()
    relationship: Annotated[str, StringConstraints(max_length=50)] = ""
    bank: Annotated[str, StringConstraints(max_length=100)] = ""
    account_last4: Annotated[str, StringConstraints(max_length=4)] = ""


class TextIn(BaseModel):
    """One line of `tellerline text`, and the body of POST /v1/text."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Annotated[str, StringConstraints(max_length=MAX_ID)] = ""
    text: Words
    locale: Annotated[str, StringConstraints(max_length=16)]
    now: datetime | None = None
    alternatives: Annotated[tuple[Words, ...], Field(max_length=16)] = ()
    payees: Annotated[tuple[TextPayee, ...], Field(max_length=MAX_BOOK)] | None = None
    payees_file: str | None = None


class TextSpan(SpanJson):
    """A normalised span; `readings` are the other values the words may have, `ambiguity` says why."""

    readings: list[JsonValue] = Field(default_factory=list)


class TextCandidate(BaseModel):
    """A payee that may be meant."""

    id: str
    score: float


class TextPayeeMatch(BaseModel):
    """Who was named: at most five candidates, and the choice where there is a clear one."""

    heard: str
    candidates: list[TextCandidate]
    choice: str | None


class TextMicros(BaseModel):
    """Time spent, in microseconds."""

    normalize: int
    payee: int
    understand: int
    total: int


class TextOut(BaseModel):
    """What the deterministic path makes of an utterance, said to nobody in particular."""

    id: str
    spans: list[TextSpan]
    payee: TextPayeeMatch | None
    intent: str | None
    slots: dict[str, JsonValue]
    missing: list[str]
    route: Literal["fast", "clarify", "extract", "qna", "human"]
    decision: Literal["execute", "confirm", "clarify", "answer", "refuse", "handoff"]
    confidence: float
    rule: str | None
    vetoes: list[str]
    reply: str
    micros: TextMicros
