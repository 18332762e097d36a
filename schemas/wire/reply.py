"""What the service sends to be spoken, and how a reply ended."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from schemas.wire.event import Event


class ResponseError(BaseModel):
    """Why a response failed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    code: str
    type: str


class StatusDetails(BaseModel):
    """Why a response ended as it did."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    type: Literal["completed", "cancelled", "failed"]
    reason: Literal["turn_detected", "client_cancelled"] | None = None
    error: ResponseError | None = None


class Response(BaseModel):
    """A reply. `metadata.awaits` says what it waits for: nothing, answer, confirmation or end.

    `metadata.template` is the id of the first template that it was rendered from, where it was.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    object: Literal["realtime.response"] = "realtime.response"
    status: Literal["in_progress", "completed", "cancelled", "failed"]
    status_details: StatusDetails | None = None
    metadata: dict[str, str] = Field(default_factory=dict)


class ResponseCreated(Event):
    """The first words of a reply are about to follow."""

    type: Literal["response.created"] = "response.created"
    response: Response


class OfReply(Event):
    """The head of every event about a reply's words or sound: where in the reply it belongs."""

    response_id: str
    item_id: str
    output_index: int = 0
    content_index: int = 0


class TextDelta(OfReply):
    """A sentence of the reply, with what joins it to the one before: a blank, where its language has blanks."""

    type: Literal["response.output_text.delta"] = "response.output_text.delta"
    delta: str


class TextDone(OfReply):
    """The whole reply."""

    type: Literal["response.output_text.done"] = "response.output_text.done"
    text: str


class ReplyAudio(Event):
    """Sound of the reply, which is the binary message that follows, in the session's output format.

    It is heard from `start_ms` of the reply on, for `duration_ms`; at its end `text_end` characters of the text have
    been said. Where the last one of a completed reply has less than all of the text, the rest of it was not spoken.
    """

    type: Literal["tellerline.reply.audio"] = "tellerline.reply.audio"
    response_id: str
    start_ms: float
    duration_ms: float
    text_end: int


class ResponseDone(Event):
    """The reply ended: completed, cancelled or failed."""

    type: Literal["response.done"] = "response.done"
    response: Response


class ReplyInterrupted(Event):
    """Stop playing this reply and forget what is left of it."""

    type: Literal["tellerline.reply.interrupted"] = "tellerline.reply.interrupted"
    response_id: str
    reason: Literal["turn_detected", "client_cancelled"]


class CitationBody(BaseModel):
    """A document behind an answer."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    passage: str
    title: str


class CitationsEvent(Event):
    """The documents behind the sentence that follows."""

    type: Literal["tellerline.citations"] = "tellerline.citations"
    response_id: str
    citations: list[CitationBody]
