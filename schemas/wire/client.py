"""What a client may send as text."""

from math import isfinite
from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, Field, RootModel, ValidationError

from schemas.errors import MalformedMessage, TooLarge
from schemas.json_names import DOUBLED, doubled_name
from schemas.wire.session import SessionPatch, Strict
from schemas.wire.unreadable import Refused, told

MAX_MESSAGE: Final = 64 * 1024
"""Bytes of one WebSocket message, text or binary."""
MAX_TYPED: Final = 500
"""Characters of one typed utterance."""

MAX_EVENT_ID: Final = 64

WHOLE: Final = BeforeValidator(lambda ms: int(ms) if isinstance(ms, float) and isfinite(ms) else ms)
"""Players reckon in fractions of a millisecond."""

EventId = Annotated[str, Field(max_length=MAX_EVENT_ID)] | None


class UpdateSession(Strict):
    """Change settings. In the middle of a turn they wait for its end, but for the format of what is sent."""

    type: Literal["session.update"]
    session: SessionPatch
    event_id: EventId = None


class AppendAudio(Strict):
    """Audio in base64. `sequence` (ours) numbers the frames of a transport that may lose or reorder them."""

    type: Literal["input_audio_buffer.append"]
    audio: Annotated[str, Field(max_length=MAX_MESSAGE)]
    sequence: Annotated[int | None, Field(ge=0, lt=2**53, alias="tellerline.sequence")] = None
    event_id: EventId = None


class CommitAudio(Strict):
    """The turn is over: push-to-talk was released."""

    type: Literal["input_audio_buffer.commit"]
    event_id: EventId = None


class ClearAudio(Strict):
    """Drop the utterance in progress."""

    type: Literal["input_audio_buffer.clear"]
    event_id: EventId = None


class InputText(Strict):
    """What was typed."""

    type: Literal["input_text"]
    text: Annotated[str, Field(min_length=1, max_length=MAX_TYPED)]


class TypedMessage(Strict):
    """A typed utterance."""

    type: Literal["message"]
    role: Literal["user"]
    content: Annotated[tuple[InputText, ...], Field(min_length=1, max_length=1)]


class CreateItem(Strict):
    """The caller typed instead of speaking; it is answered at once."""

    type: Literal["conversation.item.create"]
    item: TypedMessage
    event_id: EventId = None


class CancelResponse(Strict):
    """Stop the reply. What was submitted to the bank is not stopped."""

    type: Literal["response.cancel"]
    response_id: Annotated[str, Field(max_length=64)] | None = None
    event_id: EventId = None


class PressKey(Strict):
    """A key of the telephone."""

    type: Literal["tellerline.dtmf"]
    digit: Annotated[str, Field(pattern="^[0-9*#A-D]$")]
    event_id: EventId = None


class PlaybackReport(Strict):
    """How far the client has played (or shown) a reply. A yes counts only after `completed`.

    `played_ms`: so much of its sound was really played; `completed` with less than all that was sent is not heard.
    """

    type: Literal["tellerline.playback"]
    response_id: Annotated[str, Field(max_length=64)]
    state: Literal["started", "completed", "interrupted"]
    played_ms: Annotated[int | None, Field(ge=0, lt=2**31), WHOLE] = None
    event_id: EventId = None


class RenewToken(Strict):
    """A newer access token of the same customer: the call may go on until it ends."""

    type: Literal["tellerline.token"]
    token: Annotated[str, Field(max_length=8_192)]
    event_id: EventId = None


ClientEvent = Annotated[
    UpdateSession
    | AppendAudio
    | CommitAudio
    | ClearAudio
    | CreateItem
    | CancelResponse
    | PressKey
    | PlaybackReport
    | RenewToken,
    Field(discriminator="type"),
]


class _Message(RootModel[ClientEvent]):
    """Any client event."""


def parse_client_event(message: str) -> ClientEvent:
    """Read a text message. Raises MalformedMessage, UnknownEvent, TooLarge; none of them repeats what was sent."""
    if len(message) > MAX_MESSAGE:
        raise TooLarge(f"a message is at most {MAX_MESSAGE} bytes long")
    try:
        event = _Message.model_validate_json(message).root
    except ValidationError as invalid:
        wrong = invalid
    else:
        if doubled_name(message) is not None:
            raise MalformedMessage(DOUBLED)
        return event
    said, place = told(wrong, _NAMES)
    raise Refused(said, place or None)


_NAMES: Final = frozenset(
    {"session", "audio", "input", "format", "turn_detection", "tellerline", "locale", "playback", "type", "event_id"}
    | {"tellerline.sequence", "tellerline.patience", "silence_duration_ms", "eagerness", "rate", "item", "content"}
    | {
        "text",
        "role",
        "response_id",
        "digit",
        "state",
        "recording",
        "token",
        "output",
        "output_modalities",
        "played_ms",
    }
)
