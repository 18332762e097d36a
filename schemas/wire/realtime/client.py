"""What a Realtime client may send. Sound comes in base64 alone."""

from typing import Annotated, Final, Literal

from pydantic import Field, JsonValue, RootModel, ValidationError

from schemas.errors import TooLarge
from schemas.json_names import DOUBLED, doubled_name
from schemas.wire.client import WHOLE, PlaybackReport, PressKey, RenewToken
from schemas.wire.realtime.items import MAX_ID, ItemName, ItemWish
from schemas.wire.realtime.lenient import Lenient
from schemas.wire.realtime.session import SessionWish
from schemas.wire.unreadable import Refused, cause_of, told

MAX_MESSAGE: Final = 1024 * 1024
"""Bytes of one message: sixteen seconds of sound."""
MAX_METADATA: Final = 16
"""Pairs of a response's metadata; a value has at most 512 characters."""

Cause = Annotated[str, Field(max_length=512)] | None
"""The client's own id of an event, which a refusal repeats."""
Metadata = Annotated[
    dict[Annotated[str, Field(max_length=64)], Annotated[str, Field(max_length=512)]], Field(max_length=MAX_METADATA)
]


class Sent(Lenient):
    """The head of every event of a client's."""

    event_id: Cause = None


class SessionUpdate(Sent):
    """Settings to change; what can't be honoured is let through, and shown as it is by session.updated."""

    type: Literal["session.update"]
    session: SessionWish


class BufferAppend(Sent):
    """Sound, in base64; a sample may be cut in two."""

    type: Literal["input_audio_buffer.append"]
    audio: str


class BufferCommit(Sent):
    """The caller is done; where nothing was said, nothing follows."""

    type: Literal["input_audio_buffer.commit"]


class BufferClear(Sent):
    """Drop what was said so far."""

    type: Literal["input_audio_buffer.clear"]


class OutputClear(Sent):
    """Meant for other transports: here a reply is stopped by response.cancel."""

    type: Literal["output_audio_buffer.clear"]


class Elsewhere(Sent):
    """Of the API, and for sessions that are none of ours: it is let through unread."""

    type: Literal["transcription_session.update"]


class ItemCreate(Sent):
    """Add an item: at the end, at the front (`root`), or after another one. It starts no reply.

    Only written words of the user that stand alone at the end, and to which a reply is asked for next, are the
    caller's; whatever else is added, histories above all, is context and decides nothing.
    """

    type: Literal["conversation.item.create"]
    item: ItemWish
    previous_item_id: Annotated[str, Field(max_length=MAX_ID)] | None = None


class ItemTruncate(Sent):
    """So much of a reply was heard, the rest was not: a read-back has to be heard again."""

    type: Literal["conversation.item.truncate"]
    item_id: ItemName
    content_index: Annotated[int, Field(ge=0, le=64)] = 0
    audio_end_ms: Annotated[int, Field(ge=0, lt=2**31), WHOLE]


class ItemDelete(Sent):
    """Take an item out."""

    type: Literal["conversation.item.delete"]
    item_id: ItemName


class ItemRetrieve(Sent):
    """Show an item."""

    type: Literal["conversation.item.retrieve"]
    item_id: ItemName


class ResponseWish(Lenient):
    """Of a reply that is asked for. Instructions, tools and further input are let through unread."""

    conversation: str | None = None
    input: list[JsonValue] | None = None
    metadata: Metadata | None = None


class ResponseCreate(Sent):
    """Reply to what was said since the last reply; where nothing was, the first time with a greeting."""

    type: Literal["response.create"]
    response: ResponseWish | None = None


class ResponseCancel(Sent):
    """Stop the reply. What was submitted to the bank is not stopped."""

    type: Literal["response.cancel"]
    response_id: Annotated[str, Field(max_length=MAX_ID)] | None = None


ClientEvent = Annotated[
    SessionUpdate
    | BufferAppend
    | BufferCommit
    | BufferClear
    | OutputClear
    | Elsewhere
    | ItemCreate
    | ItemTruncate
    | ItemDelete
    | ItemRetrieve
    | ResponseCreate
    | ResponseCancel
    | PressKey
    | PlaybackReport
    | RenewToken,
    Field(discriminator="type"),
]


class _Message(RootModel[ClientEvent]):
    """Any event of a client's."""


def parse_client_event(message: str) -> ClientEvent:
    """Read a message. Raises Refused, UnknownEvent, TooLarge; none of them repeats what was sent but its event_id."""
    if len(message) > MAX_MESSAGE:
        raise TooLarge(f"a message is at most {MAX_MESSAGE} bytes long")
    try:
        event = _Message.model_validate_json(message).root
    except ValidationError as invalid:
        wrong = invalid
    else:
        if doubled_name(message) is not None:
            raise Refused(DOUBLED, cause=cause_of(message, MAX_ID))
        return event
    said, place = told(wrong, _NAMES)
    raise Refused(said, place or None, cause_of(message, MAX_ID))


_NAMES: Final = frozenset(
    {"session", "audio", "input", "output", "format", "turn_detection", "transcription", "output_modalities", "type"}
    | {"rate", "item", "item_id", "content", "content_index", "audio_end_ms", "role", "previous_item_id", "response"}
    | {"metadata", "response_id", "event_id", "text", "tellerline", "locale", "playback", "recording", "events", "id"}
    | {"digit", "state", "token", "language", "create_response", "silence_duration_ms", "eagerness"}
)
