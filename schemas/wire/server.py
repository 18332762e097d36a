"""Every event that the service sends. `event_id`s count up within a call."""

from typing import Annotated, Literal

from pydantic import Field

from schemas.wire.event import Event
from schemas.wire.failure import ErrorEvent
from schemas.wire.line import DrainingEvent, TokenExpiringEvent, TokenRenewedEvent
from schemas.wire.listening import (
    AudioCleared,
    AudioCommitted,
    KeyReceived,
    PartialEvent,
    SpeechStartedEvent,
    SpeechStoppedEvent,
    TranscriptCompleted,
    TranscriptDelta,
)
from schemas.wire.money import LedgerEvent, ReadBackEvent
from schemas.wire.reply import (
    CitationsEvent,
    ReplyAudio,
    ReplyInterrupted,
    ResponseCreated,
    ResponseDone,
    TextDelta,
    TextDone,
)
from schemas.wire.session import Session
from schemas.wire.turn_taking import DiscardedEvent, EagerEvent, EndedEvent, MergedEvent, ResumedEvent
from schemas.wire.understood import DecisionEvent, PayeesEvent, SpansEvent, TimingsEvent


class SessionCreated(Event):
    """The first event: the settings in force."""

    type: Literal["session.created"] = "session.created"
    session: Session


class SessionUpdated(Event):
    """The settings in force from now on."""

    type: Literal["session.updated"] = "session.updated"
    session: Session


class HandoffEvent(Event):
    """A person takes over."""

    type: Literal["tellerline.handoff"] = "tellerline.handoff"
    response_id: str
    reason: str
    summary: str


OwnEvent = (
    ReplyInterrupted
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
    | HandoffEvent
    | TokenExpiringEvent
    | TokenRenewedEvent
    | DrainingEvent
)
"""What no other protocol has a word for."""

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
    | ReplyAudio
    | ResponseDone
    | ErrorEvent
    | OwnEvent,
    Field(discriminator="type"),
]
