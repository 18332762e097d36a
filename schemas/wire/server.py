"""What the service sends. `event_id`s count up within a call."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from schemas.wire.session import Session


class Event(BaseModel):
    """The head of every event."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    event_id: str = ""


class SessionCreated(Event):
    """The first event: the settings in force."""

    type: Literal["session.created"] = "session.created"
    session: Session


class SessionUpdated(Event):
    """The settings in force from now on."""

    type: Literal["session.updated"] = "session.updated"
    session: Session


class SpeechStartedEvent(Event):
    """The caller began to speak."""

    type: Literal["input_audio_buffer.speech_started"] = "input_audio_buffer.speech_started"
    item_id: str
    audio_start_ms: int


class SpeechStoppedEvent(Event):
    """The utterance is over. `audio_end_ms` is its last voiced sample: no silence is included."""

    type: Literal["input_audio_buffer.speech_stopped"] = "input_audio_buffer.speech_stopped"
    item_id: str
    audio_end_ms: int


class AudioCommitted(Event):
    """The utterance became a turn."""

    type: Literal["input_audio_buffer.committed"] = "input_audio_buffer.committed"
    item_id: str
    previous_item_id: str | None = None


class AudioCleared(Event):
    """The utterance was dropped at the client's wish."""

    type: Literal["input_audio_buffer.cleared"] = "input_audio_buffer.cleared"


class KeyReceived(BaseModel):
    """A key was pressed; the digit itself is not repeated. `received_at` is UTC, in seconds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    type: Literal["input_audio_buffer.dtmf_event_received"] = "input_audio_buffer.dtmf_event_received"
    event: Literal["*", "#", "digit"]
    received_at: int


class TranscriptDelta(Event):
    """Words that became stable. The completed event's transcript is what counts."""

    type: Literal["conversation.item.input_audio_transcription.delta"] = (
        "conversation.item.input_audio_transcription.delta"
    )
    item_id: str
    content_index: int = 0
    delta: str


class DurationUsage(BaseModel):
    """Audio that was recognised."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    type: Literal["duration"] = "duration"
    seconds: float


class TranscriptCompleted(Event):
    """The final transcript of a turn."""

    type: Literal["conversation.item.input_audio_transcription.completed"] = (
        "conversation.item.input_audio_transcription.completed"
    )
    item_id: str
    content_index: int = 0
    transcript: str
    usage: DurationUsage


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
    """A reply. `metadata.awaits` says what it waits for: nothing, answer, confirmation or end."""

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


class TextDelta(Event):
    """A sentence of the reply; a blank joins it to the one before."""

    type: Literal["response.output_text.delta"] = "response.output_text.delta"
    response_id: str
    item_id: str
    output_index: int = 0
    content_index: int = 0
    delta: str


class TextDone(Event):
    """The whole reply."""

    type: Literal["response.output_text.done"] = "response.output_text.done"
    response_id: str
    item_id: str
    output_index: int = 0
    content_index: int = 0
    text: str


class ResponseDone(Event):
    """The reply ended: completed, cancelled or failed."""

    type: Literal["response.done"] = "response.done"
    response: Response


class ReplyInterrupted(Event):
    """Stop playing this reply and forget what is left of it."""

    type: Literal["tellerline.reply.interrupted"] = "tellerline.reply.interrupted"
    response_id: str
    reason: Literal["turn_detected", "client_cancelled"]


ErrorKind = Literal["invalid_request_error", "server_error"]


class ErrorBody(BaseModel):
    """`code` is stable (schemas/errors.py); `event_id` is the client's event that caused it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    type: ErrorKind
    code: str
    message: str
    event_id: str | None = None
    param: None = None


class ErrorEvent(Event):
    """Something was refused or failed; the call goes on unless it is closed next."""

    type: Literal["error"] = "error"
    error: ErrorBody


class PartialEvent(Event):
    """The words so far. The first `stable_chars` code points have held over two decodes."""

    type: Literal["tellerline.transcript.partial"] = "tellerline.transcript.partial"
    item_id: str
    revision: int
    text: str
    stable_chars: int


class EagerEvent(Event):
    """The final words, unless the caller goes on within `wait_ms` of the last sound. Nothing was done yet."""

    type: Literal["tellerline.turn.eager"] = "tellerline.turn.eager"
    item_id: str
    revision: int
    transcript: str
    completeness: str
    wait_ms: int
    rule: str


class ResumedEvent(Event):
    """The caller went on: the eager transcript is void."""

    type: Literal["tellerline.turn.resumed"] = "tellerline.turn.resumed"
    item_id: str
    revision: int


class EndedEvent(Event):
    """The turn is over, by threshold `rule`."""

    type: Literal["tellerline.turn.ended"] = "tellerline.turn.ended"
    item_id: str
    revision: int
    rule: str
    source: Literal["speech", "typed", "dtmf"]
    voiced_until_ms: int
    ended_at_ms: int


class DiscardedEvent(Event):
    """Sound that became no turn."""

    type: Literal["tellerline.turn.discarded"] = "tellerline.turn.discarded"
    item_id: str
    reason: Literal["no_speech", "backchannel", "cleared", "failed"]


class MergedEvent(Event):
    """The turn `item_id` was withdrawn: the caller had gone on, and its words belong to `into_item_id`."""

    type: Literal["tellerline.turn.merged"] = "tellerline.turn.merged"
    item_id: str
    into_item_id: str


class SpanBody(BaseModel):
    """A normalised expression: `value` as in the text contract; offsets are code points of the transcript."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["money", "number", "ordinal", "digits", "date", "time", "percent"]
    surface: str
    start: int
    end: int
    value: JsonValue
    rule: str
    ambiguity: str | None = None


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
    """What the turn came to."""

    type: Literal["tellerline.decision"] = "tellerline.decision"
    response_id: str
    decision: Literal["execute", "confirm", "clarify", "answer", "refuse", "handoff"]
    intent: str | None
    route: Literal["fast", "clarify", "extract", "qna", "human"]
    confidence: float
    rule: str | None
    missing: list[str]
    evidence: dict[str, str]


class ReadBackEvent(Event):
    """A transfer that is being read back; nothing moves until a yes after its delivery."""

    type: Literal["tellerline.readback"] = "tellerline.readback"
    response_id: str
    proposal_id: str
    amount_minor: int
    currency: str
    payee_id: str | None
    verification: str
    step_up_required: bool
    expires_at: str


class LedgerEvent(Event):
    """Where a transfer stands."""

    type: Literal["tellerline.ledger"] = "tellerline.ledger"
    response_id: str
    proposal_id: str
    state: str
    reference: str
    reason: str


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


class TimingsEvent(Event):
    """Milliseconds of a turn. `moments` count from the last voiced sample, `stages` are durations."""

    type: Literal["tellerline.timings"] = "tellerline.timings"
    response_id: str
    item_id: str | None
    moments: dict[str, float]
    stages: dict[str, float]


class HandoffEvent(Event):
    """A person takes over."""

    type: Literal["tellerline.handoff"] = "tellerline.handoff"
    response_id: str
    reason: str
    summary: str


ServerEvent = Annotated[
    SessionCreated
    | SessionUpdated
    | SpeechStartedEvent
    | SpeechStoppedEvent
    | AudioCommitted
    | AudioCleared
    | KeyReceived
    | TranscriptDelta
    | TranscriptCompleted
    | ResponseCreated
    | TextDelta
    | TextDone
    | ResponseDone
    | ReplyInterrupted
    | ErrorEvent
    | PartialEvent
    | EagerEvent
    | ResumedEvent
    | EndedEvent
    | DiscardedEvent
    | MergedEvent
    | SpansEvent
    | PayeesEvent
    | DecisionEvent
    | ReadBackEvent
    | LedgerEvent
    | CitationsEvent
    | TimingsEvent
    | HandoffEvent,
    Field(discriminator="type"),
]
