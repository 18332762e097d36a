"""The settings of a call: what is sent, how turns end, in which language, and who says when a reply was heard."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Strict(BaseModel):
    """A model of something a client wrote: nothing unknown is let through."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Pcm(Strict):
    """PCM16, little-endian, mono."""

    type: Literal["audio/pcm"] = "audio/pcm"
    rate: Literal[8000, 16000, 24000] = 16000


class Pcmu(Strict):
    """G.711 µ-law, 8 kHz."""

    type: Literal["audio/pcmu"]


class Pcma(Strict):
    """G.711 A-law, 8 kHz."""

    type: Literal["audio/pcma"]


Format = Annotated[Pcm | Pcmu | Pcma, Field(discriminator="type")]


class Eagerness(StrEnum):
    """How soon a turn may end after its words are complete."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    AUTO = "auto"


class SemanticVad(Strict):
    """The words decide how long to wait. `patience` stretches every wait (ours; `eagerness` sets it by name)."""

    type: Literal["semantic_vad"] = "semantic_vad"
    eagerness: Eagerness = Eagerness.AUTO
    patience: Annotated[float | None, Field(ge=0.25, le=8.0, alias="tellerline.patience")] = None


class ServerVad(Strict):
    """A fixed silence ends the turn, and only then is it decoded."""

    type: Literal["server_vad"]
    silence_duration_ms: Annotated[int, Field(ge=60, le=5000)] = 500


TurnDetection = Annotated[SemanticVad | ServerVad, Field(discriminator="type")]


class Playback(StrEnum):
    """How the service learns that a reply was heard in full, before which no yes counts."""

    ACKNOWLEDGED = "acknowledged"
    """The client reports it with `tellerline.playback` (an app that speaks or shows the reply)."""
    ESTIMATED = "estimated"
    """The time it takes to speak the reply has passed (a client that plays but can't report)."""


Modalities = Annotated[tuple[Literal["text", "audio"], ...], Field(min_length=1, max_length=1)]
"""How replies come: as `text`, which the client speaks or shows, or as `audio` and the text beside it."""


class InputPatch(Strict):
    """Changes to what the client sends. A `turn_detection` of null ends no turn: the client commits."""

    format: Format | None = None
    turn_detection: TurnDetection | None = None


class OutputPatch(Strict):
    """Changes to what the client is sent."""

    format: Format | None = None


class AudioPatch(Strict):
    """Changes to audio settings."""

    input: InputPatch | None = None
    output: OutputPatch | None = None


class OwnPatch(Strict):
    """Changes to what OpenAI's protocol has no word for."""

    locale: Annotated[str, Field(pattern="^[a-z]{2}-[A-Z]{2}$")] | None = None
    playback: Playback | None = None
    recording: bool | None = None
    """Whether the caller agreed to be recorded; taken back, what was recorded of the call is deleted."""


class SessionPatch(Strict):
    """The `session` of session.update: what is absent stays."""

    type: Literal["realtime"] = "realtime"
    output_modalities: Modalities | None = None
    audio: AudioPatch | None = None
    tellerline: OwnPatch | None = None


class InputSettings(Strict):
    """What the client sends."""

    format: Format = Pcm()
    turn_detection: TurnDetection | None = SemanticVad()


class OutputSettings(Strict):
    """What the client is sent where replies come as audio."""

    format: Format = Pcm()


class AudioSettings(Strict):
    """Audio settings."""

    input: InputSettings = InputSettings()
    output: OutputSettings = OutputSettings()


class OwnSettings(Strict):
    """What OpenAI's protocol has no word for."""

    locale: str = "en-US"
    playback: Playback = Playback.ACKNOWLEDGED
    recording: bool = False


class Session(Strict):
    """The settings in force."""

    id: str = ""
    object: Literal["realtime.session"] = "realtime.session"
    type: Literal["realtime"] = "realtime"
    output_modalities: Modalities = ("text",)
    audio: AudioSettings = AudioSettings()
    tellerline: OwnSettings = OwnSettings()
