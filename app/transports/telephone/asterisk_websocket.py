"""Asterisk's chan_websocket as a `CallTransport`, in either of its ways to write control messages. Sans I/O.

Sound comes and goes as it is in binary messages; Asterisk keeps the pace and what is not heard yet, and tells of marks.
"""

from types import MappingProxyType
from typing import Final

from app.transports.telephone.fields import Fields, packed
from app.transports.telephone.line import (
    Act,
    Audio,
    Held,
    Left,
    LineEvent,
    Opened,
    Played,
    Playing,
    Wire,
    essential,
)
from schemas.audio import AudioFormat, Encoding
from schemas.errors import MalformedAudio, MalformedMessage, TellerlineError, TooLarge, UnsupportedAudio, WrongState
from schemas.ids import Locale

MAX_SOUND: Final = 32 * 1024
MAX_CONTROL: Final = 32 * 1024
_LEAD_MS: Final = 100
_FORMS: Final = MappingProxyType(
    {
        "ulaw": AudioFormat(Encoding.MULAW, 8_000),
        "alaw": AudioFormat(Encoding.ALAW, 8_000),
        "slin": AudioFormat(Encoding.PCM16, 8_000),
        "slin16": AudioFormat(Encoding.PCM16, 16_000),
        "slin24": AudioFormat(Encoding.PCM16, 24_000),
    }
)
_PTIMES: Final = (10, 20, 30, 40, 60)


class MediaWebSocket:
    """One call. `statement`, `call` and `locale` stood in the address that Asterisk was given to connect to."""

    lingers = False

    def __init__(self, statement: str | None = None, call: str = "", locale: Locale | None = None) -> None:
        self._statement = statement
        self._call = call
        self._locale = locale
        self._json = False
        self._form: AudioFormat | None = None

    def read(self, message: Wire) -> list[LineEvent]:
        """What a message says. Raises BadInput."""
        if isinstance(message, bytes):
            return self._heard(message)
        if len(message) > MAX_CONTROL:
            raise TooLarge(f"a control message has at most {MAX_CONTROL} characters")
        said = Fields.read(message) if message.startswith("{") else _plain(message)
        if said.word("event") == "MEDIA_START":
            self._json = message.startswith("{")
            return [self._opened(said)]
        if self._form is None:
            raise WrongState("the first message is MEDIA_START")
        return _told(said)

    def play(self, packet: bytes) -> list[Act]:
        """A packet of sound."""
        return [packet]

    def mark(self, name: str) -> list[Act]:
        """Ask to be told when all that was sent so far was heard."""
        return [packed(command="MARK_MEDIA", correlation_id=name) if self._json else f"MARK_MEDIA {name}"]

    def flush(self) -> list[Act]:
        """Drop what was sent and not heard yet."""
        return [self._command("FLUSH_MEDIA")]

    def transfer(self, reason: str, summary: str) -> list[Act]:  # noqa: ARG002 - the dialplan asks for it
        """Give the caller back to the dialplan."""
        return self.hang_up()

    def hang_up(self) -> list[Act]:
        """Give the caller back to the dialplan."""
        return [self._command("HANGUP")]

    def refuse(self, error: TellerlineError) -> list[Act]:  # noqa: ARG002 - Asterisk takes no reason
        """The same: Asterisk knows no error of ours."""
        return self.hang_up()

    def _command(self, name: str) -> str:
        return packed(command=name) if self._json else name

    def _opened(self, said: Fields) -> Opened:
        if self._form is not None:
            raise WrongState("the call has started before")
        with essential():
            return self._begun(said)

    def _begun(self, said: Fields) -> Opened:
        form, ptime = _FORMS.get(said.word("format")), said.number("ptime", 20)
        if form is None or ptime not in _PTIMES:
            raise UnsupportedAudio("the format is one of ulaw, alaw, slin, slin16, slin24")
        self._form = form
        call = self._call or said.word("connection_id")
        return Opened(call, form, Playing(form, ptime, _LEAD_MS), self._statement, self._locale)

    def _heard(self, data: bytes) -> list[LineEvent]:
        if self._form is None:
            raise WrongState("the first message is MEDIA_START")
        if len(data) > MAX_SOUND:
            raise TooLarge(f"a message has at most {MAX_SOUND} bytes of sound")
        if self._form.encoding is Encoding.PCM16 and len(data) % 2:
            raise MalformedAudio("the sound has half a sample")
        return [Audio(data)] if data else []


def _told(said: Fields) -> list[LineEvent]:
    """What an event says; nothing, where it is a report, or a later version's."""
    match said.word("event"):
        case "DTMF_END":
            return said.keys("digit")
        case "MEDIA_MARK_PROCESSED":
            return [Played(said.word("correlation_id", ""))]
        case "MEDIA_XOFF" | "MEDIA_XON" as held:
            return [Held(held == "MEDIA_XOFF")]
        case "HANGUP":
            return [Left()]
    return []


def _plain(message: str) -> Fields:
    """`EVENT key:value …`; the two events that name a mark have nothing else. Raises MalformedMessage."""
    event, _, rest = message.strip().partition(" ")
    if not event.replace("_", "").isalpha():
        raise MalformedMessage("the message names no event")
    if event in {"MEDIA_MARK_PROCESSED", "MEDIA_BUFFERING_COMPLETED"}:
        return Fields({"event": event, "correlation_id": rest})
    pairs = (part.partition(":") for part in rest.split())
    return Fields({key: value for key, _, value in pairs} | {"event": event})
