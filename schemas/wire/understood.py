"""What the service sends about a turn's meaning: spans, payees, decision, timings."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from schemas.span import SpanJson
from schemas.wire.event import Event


class SpanBody(SpanJson):
    """A normalised expression: `value` as in the text contract; offsets are code points of the transcript."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SpansEvent(Event):
    """What normalization found in the transcript, by rule."""

    type: Literal["tellerline.spans"] = "tellerline.spans"
    response_id: str
    spans: list[SpanBody]


class PayeeCandidateBody(BaseModel):
    """A payee that may be meant."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    name: str
    score: float


class PayeesEvent(Event):
    """Who was named, and who that may be."""

    type: Literal["tellerline.payees"] = "tellerline.payees"
    response_id: str
    heard: str
    outcome: Literal["clear", "ask", "nobody"]
    candidates: list[PayeeCandidateBody]
    choice: str | None


class DecisionEvent(Event):
    """What the turn came to: `slots` by name, as the text contract writes values, less codes and card numbers.

    `reply` is the id of the reply that the decision calls for.
    """

    type: Literal["tellerline.decision"] = "tellerline.decision"
    response_id: str
    decision: Literal["execute", "confirm", "clarify", "answer", "refuse", "handoff"]
    intent: str | None
    route: Literal["fast", "clarify", "extract", "qna", "human"]
    confidence: float
    rule: str | None
    missing: list[str]
    slots: dict[str, JsonValue] = Field(default_factory=dict)
    evidence: dict[str, str]
    reply: str | None = None


class TimingsEvent(Event):
    """Milliseconds of a turn. `moments` count from the last voiced sample, `stages` are durations."""

    type: Literal["tellerline.timings"] = "tellerline.timings"
    response_id: str
    item_id: str | None
    moments: dict[str, float]
    stages: dict[str, float]
