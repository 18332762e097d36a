"""One live call as its transport sees it: what goes in, what comes out, how it is set up."""

from dataclasses import dataclass, field
from enum import StrEnum

from schemas.audio import AudioFormat
from schemas.errors import TellerlineError, WrongState
from schemas.ids import EN_US, Locale
from schemas.speech import SpokenChunk
from schemas.turn import Awaits, ItemId, ListenerEvent, ReplyEvent, ReplyId


@dataclass(frozen=True, slots=True)
class Patience:
    """How turns end: by the words (`scale` stretches the waits), or after a fixed silence and decoded only then.

    `manual`: by the client's word alone, whatever the silence. `medium`: the client calls what is usual so.
    """

    scale: float = 1.0
    fixed_ms: int | None = None
    manual: bool = False
    medium: bool = False


@dataclass(frozen=True, slots=True)
class CallConfig:
    """What a client may choose, between turns. `estimated`: a reply counts as heard once it could have been spoken."""

    locale: Locale = EN_US
    form: AudioFormat = field(default_factory=AudioFormat)
    patience: Patience = field(default_factory=Patience)
    estimated: bool = False
    recording: bool = False
    """Whether the caller agreed to be recorded."""
    speaks: bool = False
    """Whether replies are spoken, where there is a voice to speak with; otherwise the client speaks them."""
    answers: bool = True
    """Whether a turn is answered as it ends; otherwise it is held until the client asks for a reply."""
    output: AudioFormat = field(default_factory=AudioFormat)
    """How the sound of replies is sent."""


# What goes in


@dataclass(frozen=True, slots=True)
class AudioIn:
    """Bytes in the call's format. `sequence` numbers frames where the transport may lose or reorder them."""

    data: bytes
    sequence: int | None = None


@dataclass(frozen=True, slots=True)
class TypedIn:
    """The caller typed."""

    text: str


@dataclass(frozen=True, slots=True)
class AskIn:
    """The client asks for a reply: to `typed`, or to the turns that were held, or to what is being said.

    Where there is none of them, the first reply of a call is a greeting and any other is empty; a greeting is also said
    where the first words of a call mean nothing. `typed` was written at `since`, in seconds of the call's clock: a yes
    that was written before a read-back was heard is none.
    """

    typed: str | None = None
    since: float = 0.0


@dataclass(frozen=True, slots=True)
class KeyIn:
    """The caller pressed a key: 0-9, *, #, A-D."""

    key: str


class NoSuchReply(WrongState):
    """About a reply that is not being given, or is none of the call's. Clients cause these in good order."""


class PlaybackState(StrEnum):
    """How far the client has played a reply."""

    STARTED = "started"
    COMPLETED = "completed"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class PlaybackIn:
    """The client's word on a reply."""

    reply: ReplyId
    state: PlaybackState


@dataclass(frozen=True, slots=True)
class CancelIn:
    """Stop the reply; whichever it is when `reply` is null: also one that was asked for and has not begun.

    `said`: one whose words are all out, and that is still being heard, is being given; else it is stopped all the same.
    """

    reply: ReplyId | None = None
    said: bool = True


@dataclass(frozen=True, slots=True)
class CommitIn:
    """The utterance is over."""


@dataclass(frozen=True, slots=True)
class ClearIn:
    """Drop the utterance."""


@dataclass(frozen=True, slots=True)
class ConfigureIn:
    """Settings to change, null where one stays. In the middle of a turn they are made after it.

    A change of the format holds at once: what follows comes in it.
    """

    locale: Locale | None = None
    form: AudioFormat | None = None
    patience: Patience | None = None
    estimated: bool | None = None
    recording: bool | None = None
    speaks: bool | None = None
    answers: bool | None = None
    output: AudioFormat | None = None

    def applied(self, config: CallConfig) -> CallConfig:
        """`config` with the changes."""
        return CallConfig(
            self.locale or config.locale,
            self.form or config.form,
            self.patience or config.patience,
            config.estimated if self.estimated is None else self.estimated,
            config.recording if self.recording is None else self.recording,
            config.speaks if self.speaks is None else self.speaks,
            config.answers if self.answers is None else self.answers,
            self.output or config.output,
        )


@dataclass(frozen=True, slots=True)
class HoldIn:
    """The caller is put on hold or on mute, or is back: silence in between is not the caller's."""

    on: bool


CallInput = AudioIn | TypedIn | AskIn | KeyIn | PlaybackIn | CancelIn | CommitIn | ClearIn | ConfigureIn | HoldIn


# What comes out, besides the listener's events


class ReplyStatus(StrEnum):
    """How a reply ended."""

    COMPLETED = "completed"
    CANCELLED = "cancelled"
    FAILED = "failed"


class CutReason(StrEnum):
    """Why a reply was cut."""

    TURN_DETECTED = "turn_detected"
    CLIENT_CANCELLED = "client_cancelled"


@dataclass(frozen=True, slots=True)
class ReplyBegan:
    """The first words of a reply follow. `item` is the utterance that it answers."""

    reply: ReplyId
    item: ItemId | None


@dataclass(frozen=True, slots=True)
class ReplyProgress:
    """What the turn handler said within a reply. `between` joins words of it to those before."""

    reply: ReplyId
    event: ReplyEvent
    between: str = ""


@dataclass(frozen=True, slots=True)
class Voiced:
    """Sound of a reply, in order; its `text_end` counts in the whole reply, with what joins its sentences.

    It is heard from `at` on at the earliest, in seconds of the call's clock.
    """

    reply: ReplyId
    chunk: SpokenChunk
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class ReplyEnded:
    """No more words of this reply follow. `text` is all of it."""

    reply: ReplyId
    status: ReplyStatus
    text: str
    awaits: Awaits = Awaits.NOTHING
    cut: CutReason | None = None
    error: TellerlineError | None = None


@dataclass(frozen=True, slots=True)
class ReplyCut:
    """Whatever of this reply is still being played has to stop."""

    reply: ReplyId
    reason: CutReason


@dataclass(frozen=True, slots=True)
class KeyPressed:
    """A key was taken."""

    key: str


@dataclass(frozen=True, slots=True)
class Cleared:
    """The utterance was dropped at the client's wish."""


@dataclass(frozen=True, slots=True)
class Configured:
    """The settings are in force."""

    config: CallConfig


@dataclass(frozen=True, slots=True)
class Answered:
    """What the transport itself answers to its client, in its place among all that the call tells."""

    answer: object


@dataclass(frozen=True, slots=True)
class Timed:
    """Milliseconds of a turn. `moments` count from when its last voiced sample (or typed text) had arrived."""

    reply: ReplyId
    item: ItemId | None
    moments: dict[str, float] = field(default_factory=dict)
    stages: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TokenExpiring:
    """The caller's credential ends in so many seconds, and the call with it."""

    in_s: float


@dataclass(frozen=True, slots=True)
class TokenRenewed:
    """A newer credential was taken; it ends in so many seconds."""

    in_s: float


@dataclass(frozen=True, slots=True)
class Leaving:
    """The service is going away."""

    closes_in_s: float
    retry_after_s: float


@dataclass(frozen=True, slots=True)
class Fault:
    """Something was refused or failed; a fatal error ends the call. `cause` is the client's event id, if it had one."""

    error: TellerlineError
    cause: str | None = None


CallEvent = (
    ListenerEvent
    | ReplyBegan
    | ReplyProgress
    | Voiced
    | ReplyEnded
    | ReplyCut
    | KeyPressed
    | Cleared
    | Configured
    | Answered
    | Timed
    | Fault
    | TokenExpiring
    | TokenRenewed
    | Leaving
)
