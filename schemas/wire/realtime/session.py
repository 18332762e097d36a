"""The settings of a call as a Realtime client sees them: its wishes, and what is in force."""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from schemas.wire.realtime.lenient import Lenient
from schemas.wire.session import Eagerness, OwnPatch, Pcma, Pcmu, Playback

PCM_RATE: Final = 24_000
"""The only rate of PCM that the protocol has, and what is meant where none is named."""
Modality = Literal["text", "audio"]


class Effective(BaseModel):
    """Settings in force."""

    model_config = ConfigDict(extra="forbid", frozen=True)


# What a client wishes


class FormatWish(Lenient):
    """How sound is sent. PCM16 is at 24 kHz, G.711 at 8 kHz."""

    type: str
    rate: int | None = None


class DetectionWish(Lenient):
    """How turns end: by the words (semantic_vad), or after a fixed silence (server_vad)."""

    type: str = "server_vad"
    eagerness: str | None = None
    silence_duration_ms: int | None = None
    create_response: bool | None = None
    patience: Annotated[float | None, Field(ge=0.25, le=8.0, alias="tellerline.patience")] = None


class TranscriptionWish(Lenient):
    """Whether words are told; `language` is that of the call: `en`, `en-GB`, `ja`."""

    language: str | None = None


class InputWish(Lenient):
    """Of the caller's sound. A `turn_detection` of null ends no turn: the client commits."""

    format: FormatWish | None = None
    transcription: TranscriptionWish | None = None
    turn_detection: DetectionWish | None = None


class OutputWish(Lenient):
    """Of our own sound."""

    format: FormatWish | None = None


class AudioWish(Lenient):
    """Of sound both ways."""

    input: InputWish | None = None
    output: OutputWish | None = None


class OwnWish(OwnPatch):
    """Of what the protocol has no word for; `events` asks for our own events."""

    events: bool | None = None


class SessionWish(Lenient):
    """What is absent stays. Instructions and tools are let through unread: they decide nothing in a bank."""

    output_modalities: list[str] | None = None
    audio: AudioWish | None = None
    tellerline: OwnWish | None = None


# What is in force


class Pcm24(Effective):
    """PCM16, little-endian, mono, 24 kHz."""

    type: Literal["audio/pcm"] = "audio/pcm"
    rate: Literal[24000] = 24000


WireFormat = Annotated[Pcm24 | Pcmu | Pcma, Field(discriminator="type")]


class Detection(Effective):
    """How turns end; `tellerline.patience` where no eagerness has this one. Speech over a reply always stops it."""

    type: Literal["semantic_vad", "server_vad"] = "semantic_vad"
    eagerness: Eagerness | None = None
    silence_duration_ms: int | None = None
    patience: Annotated[float | None, Field(alias="tellerline.patience")] = None
    create_response: bool = True
    interrupt_response: Literal[True] = True

    @model_serializer(mode="wrap")
    def _of_its_kind(self, write: SerializerFunctionWrapHandler) -> dict[str, object]:
        """Without what the other kind has."""
        told: dict[str, object] = {name: value for name, value in write(self).items() if value is not None}
        return told


class Transcription(Effective):
    """Words are told."""

    model: Literal["tellerline"] = "tellerline"
    language: str


class InputInForce(Effective):
    """Of the caller's sound."""

    format: WireFormat = Pcm24()
    transcription: Transcription | None = None
    noise_reduction: None = None
    turn_detection: Detection | None = None


class OutputInForce(Effective):
    """Of our own sound."""

    format: WireFormat = Pcm24()
    voice: str = "tellerline"
    speed: float = 1.0


class AudioInForce(Effective):
    """Of sound both ways."""

    input: InputInForce = InputInForce()
    output: OutputInForce = OutputInForce()


class OwnInForce(Effective):
    """Of what the protocol has no word for."""

    locale: str
    playback: Playback
    recording: bool
    events: bool


class SessionInForce(Effective):
    """All of it. No instruction and no tool of a client's is ever in force."""

    id: str
    object: Literal["realtime.session"] = "realtime.session"
    type: Literal["realtime"] = "realtime"
    model: Literal["tellerline"] = "tellerline"
    output_modalities: tuple[Modality]
    instructions: Literal[""] = ""
    tools: tuple[()] = ()
    tool_choice: Literal["auto"] = "auto"
    max_output_tokens: Literal["inf"] = "inf"
    tracing: None = None
    truncation: Literal["auto"] = "auto"
    prompt: None = None
    include: None = None
    expires_at: int
    audio: AudioInForce
    tellerline: OwnInForce
