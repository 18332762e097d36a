"""What the service sends about the caller's sound, keys and words."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from schemas.wire.event import Event


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


class PartialEvent(Event):
    """The words so far. The first `stable_chars` code points have held over two decodes."""

    type: Literal["tellerline.transcript.partial"] = "tellerline.transcript.partial"
    item_id: str
    revision: int
    text: str
    stable_chars: int
