"""What a Realtime client is sent. R, I, O and C of every delta: response_id, item_id, output_index, content_index."""

from typing import Annotated, Literal

from pydantic import Field

from schemas.wire.event import Event
from schemas.wire.failure import ErrorKind
from schemas.wire.listening import (
    AudioCleared,
    AudioCommitted,
    KeyReceived,
    SpeechStartedEvent,
    SpeechStoppedEvent,
    TranscriptCompleted,
    TranscriptDelta,
)
from schemas.wire.realtime.items import Item, Shown
from schemas.wire.realtime.session import Modality, SessionInForce
from schemas.wire.reply import OfReply, StatusDetails, TextDelta, TextDone
from schemas.wire.server import OwnEvent


class SessionBegan(Event):
    """The first event: the settings in force."""

    type: Literal["session.created"] = "session.created"
    session: SessionInForce


class SessionChanged(Event):
    """The settings in force from now on."""

    type: Literal["session.updated"] = "session.updated"
    session: SessionInForce


# The conversation


class ItemAdded(Event):
    """An item is part of the conversation."""

    type: Literal["conversation.item.added"] = "conversation.item.added"
    previous_item_id: str | None
    item: Item


class ItemDone(Event):
    """An item is whole."""

    type: Literal["conversation.item.done"] = "conversation.item.done"
    previous_item_id: str | None
    item: Item


class ItemRetrieved(Event):
    """An item that was asked for."""

    type: Literal["conversation.item.retrieved"] = "conversation.item.retrieved"
    item: Item


class ItemTruncated(Event):
    """What was not heard of a reply is forgotten."""

    type: Literal["conversation.item.truncated"] = "conversation.item.truncated"
    item_id: str
    content_index: int
    audio_end_ms: int


class ItemDeleted(Event):
    """An item is no longer part of the conversation."""

    type: Literal["conversation.item.deleted"] = "conversation.item.deleted"
    item_id: str


# A reply


class CachedTokens(Shown):
    """Tokens, of which there are none."""

    text_tokens: int = 0
    audio_tokens: int = 0
    image_tokens: int = 0


class InputTokens(CachedTokens):
    """Tokens that went in."""

    cached_tokens: int = 0
    cached_tokens_details: CachedTokens = CachedTokens()


class OutputTokens(Shown):
    """Tokens that came out."""

    text_tokens: int = 0
    audio_tokens: int = 0


class Usage(Shown):
    """Nothing is counted in tokens here."""

    total_tokens: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    input_token_details: InputTokens = InputTokens()
    output_token_details: OutputTokens = OutputTokens()


class Reply(Shown):
    """A reply. `metadata` repeats that of its response.create.

    Beside it stand `tellerline.awaits` (nothing, answer, confirmation or end), `tellerline.template` and
    `tellerline.proposal`, the transfer that is read back.
    """

    id: str
    object: Literal["realtime.response"] = "realtime.response"
    status: Literal["in_progress", "completed", "cancelled", "failed"]
    status_details: StatusDetails | None = None
    output: tuple[Item, ...] = ()
    output_modalities: tuple[Modality]
    conversation_id: str | None
    metadata: dict[str, str] | None = None
    usage: Usage | None = None


class ReplyCreated(Event):
    """A reply follows."""

    type: Literal["response.created"] = "response.created"
    response: Reply


class ReplyDone(Event):
    """The reply ended: completed, cancelled or failed."""

    type: Literal["response.done"] = "response.done"
    response: Reply


class OutputAdded(Event):
    """The item that the reply consists of."""

    type: Literal["response.output_item.added"] = "response.output_item.added"
    response_id: str
    output_index: int = 0
    item: Item


class OutputDone(Event):
    """The item is whole."""

    type: Literal["response.output_item.done"] = "response.output_item.done"
    response_id: str
    output_index: int = 0
    item: Item


class TextPart(Shown):
    """Words."""

    type: Literal["text"] = "text"
    text: str = ""


class AudioPart(Shown):
    """Sound, and its words."""

    type: Literal["audio"] = "audio"
    transcript: str = ""


ReplyPart = Annotated[TextPart | AudioPart, Field(discriminator="type")]


class PartAdded(OfReply):
    """What the item consists of."""

    type: Literal["response.content_part.added"] = "response.content_part.added"
    part: ReplyPart


class PartDone(OfReply):
    """It is whole."""

    type: Literal["response.content_part.done"] = "response.content_part.done"
    part: ReplyPart


class SoundDelta(OfReply):
    """Sound in the session's format, in base64."""

    type: Literal["response.output_audio.delta"] = "response.output_audio.delta"
    delta: str


class SoundDone(OfReply):
    """No more sound of this reply follows."""

    type: Literal["response.output_audio.done"] = "response.output_audio.done"


class WordsDelta(OfReply):
    """A sentence of a spoken reply; a blank joins it to the one before."""

    type: Literal["response.output_audio_transcript.delta"] = "response.output_audio_transcript.delta"
    delta: str


class WordsDone(OfReply):
    """All words of a spoken reply."""

    type: Literal["response.output_audio_transcript.done"] = "response.output_audio_transcript.done"
    transcript: str


class ErrorDetails(Shown):
    """`code` is stable; `param` is the field, and `event_id` the client's event, that caused it."""

    type: ErrorKind
    code: str
    message: str
    param: str | None = None
    event_id: str | None = None


class Failure(Event):
    """Something was refused, or the call ends."""

    type: Literal["error"] = "error"
    error: ErrorDetails


RealtimeEvent = (
    SessionBegan
    | SessionChanged
    | SpeechStartedEvent
    | SpeechStoppedEvent
    | AudioCommitted
    | AudioCleared
    | KeyReceived
    | TranscriptDelta
    | TranscriptCompleted
    | ItemAdded
    | ItemDone
    | ItemRetrieved
    | ItemTruncated
    | ItemDeleted
    | ReplyCreated
    | OutputAdded
    | PartAdded
    | TextDelta
    | TextDone
    | SoundDelta
    | SoundDone
    | WordsDelta
    | WordsDone
    | PartDone
    | OutputDone
    | ReplyDone
    | Failure
)
ServerEvent = Annotated[RealtimeEvent | OwnEvent, Field(discriminator="type")]
