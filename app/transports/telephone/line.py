"""What a telephone line says and what can be said to it, whatever its protocol. Sans I/O."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, Protocol

from schemas.audio import AudioFormat
from schemas.errors import BadInput, TellerlineError
from schemas.ids import Locale

Wire = str | bytes
"""One message of a line: text, or bytes."""


@dataclass(frozen=True, slots=True)
class WebRequest:
    """What a carrier is asked over its HTTP API. `form` or `json` is the body; `user` and `key` are its credential.

    Without a `user` the key is a bearer token.
    """

    method: Literal["POST", "DELETE"]
    url: str
    key: str = field(repr=False)
    user: str = ""
    form: Mapping[str, str] | None = None
    json: Mapping[str, object] | None = None


Act = Wire | WebRequest
"""What is done on a line: a message of its own, or a word to its carrier."""


Say = Callable[[str, Locale], list[Act]]
"""How some words of a reply are given to a line that has a voice of its own."""
Press = Callable[[str], list[Act]]
"""How keys are pressed on a line that has a word for it."""


@dataclass(frozen=True, slots=True)
class Playing:
    """How a line takes its sound: packets of `packet_ms`, sent `lead_ms` before they are due to be heard.

    `marks`: the line tells when what came before a mark was heard; otherwise it is known by the clock.
    `taken`: it takes sound at all; on one that does not nothing is said, and nothing counts as heard.
    `say`: it speaks replies itself, and is sent words instead of sound. `press`: it has a word for keys that we press;
    otherwise they are tones in the sound. `quiet_ms`: where nothing was sent for so long, silence is; 0: none.
    """

    form: AudioFormat
    packet_ms: int = 20
    lead_ms: int = 60
    marks: bool = True
    taken: bool = True
    say: Say | None = None
    press: Press | None = None
    quiet_ms: int = 0


# What a line says


@dataclass(frozen=True, slots=True)
class Opened:
    """The call begins. `call` is the bridge's own name of it, `statement` its signed word on whose it is."""

    call: str
    form: AudioFormat
    playing: Playing
    statement: str | None = None
    locale: Locale | None = None


@dataclass(frozen=True, slots=True)
class Audio:
    """Sound, in the form of `Opened`. `sequence` numbers packets where a line may lose or reorder them."""

    data: bytes
    sequence: int | None = None


@dataclass(frozen=True, slots=True)
class Pressed:
    """A key: 0-9, *, #, A-D."""

    key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Played:
    """All that was sent before the mark was heard."""

    mark: str


@dataclass(frozen=True, slots=True)
class Held:
    """Nothing that is sent is heard now, or it is again: on hold, or past what the line keeps."""

    on: bool


@dataclass(frozen=True, slots=True)
class Reformed:
    """The sound that follows has another form."""

    form: AudioFormat


@dataclass(frozen=True, slots=True)
class Speaks:
    """The caller speaks another language from here on."""

    locale: Locale


@dataclass(frozen=True, slots=True)
class SendBack:
    """A message that the protocol wants sent back at once."""

    message: Wire


@dataclass(frozen=True, slots=True)
class Left:
    """The call is over, by the caller's or the bridge's will."""


@dataclass(frozen=True, slots=True)
class Stray:
    """A message that can't be read, among others that can."""

    error: BadInput


LineEvent = Opened | Audio | Pressed | Played | Held | Reformed | Speaks | SendBack | Left | Stray


@contextmanager
def essential() -> Iterator[None]:
    """What is wrong in the block ends the call: there is none without it, or nobody knows what comes next."""
    try:
        yield
    except BadInput as wrong:
        wrong.fatal = True
        raise


class CallTransport(Protocol):
    """One call's protocol, sans I/O. What it returns is to be sent in that order; it keeps no sound.

    `lingers`: the other side answers the last word, and is heard until then.
    """

    lingers: bool

    def read(self, message: Wire) -> list[LineEvent]:
        """What a message says. Raises BadInput: the line does not keep to its protocol; a `fatal` one ends the call."""
        ...

    def play(self, packet: bytes) -> list[Act]:
        """A packet of sound."""
        ...

    def mark(self, name: str) -> list[Act]:
        """Ask to be told when all that was sent so far was heard; nothing where the line can't tell."""
        ...

    def flush(self) -> list[Act]:
        """Drop what was sent and not heard yet."""
        ...

    def transfer(self, reason: str, summary: str) -> list[Act]:
        """Give the caller to a person, who is told `summary`."""
        ...

    def hang_up(self) -> list[Act]:
        """End the call."""
        ...

    def refuse(self, error: TellerlineError) -> list[Act]:
        """End it because of an error, in the protocol's own words."""
        ...
