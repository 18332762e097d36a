"""Twilio Media Streams, and what Telnyx and Plivo made of it, as a `CallTransport`. Sans I/O.

All three send JSON with G.711 in base64 (Plivo linear sound as well, low byte first) and differ in the names of things,
which are a `Carrier`. A stream has no words for its call's end or transfer: that is asked of the carrier's HTTP API,
where its key is known; otherwise the call goes on behind the stream as the carrier was told (the TwiML after
`<Connect>`).
"""

import base64
from types import MappingProxyType
from typing import Final

from app.transports.telephone.carriers import Carrier, Credential
from app.transports.telephone.fields import Fields, packed
from app.transports.telephone.line import (
    Act,
    Audio,
    Left,
    LineEvent,
    Opened,
    Played,
    Playing,
    Wire,
    essential,
)
from schemas.audio import STREAM_RATES, AudioFormat, Encoding
from schemas.errors import MalformedAudio, MalformedMessage, TellerlineError, TooLarge, UnsupportedAudio, WrongState

MAX_SOUND: Final = 16_000
"""Bytes of one message's sound: two seconds."""
_RATE: Final = 8_000
_ENCODINGS: Final = MappingProxyType(
    {
        "audio/x-mulaw": Encoding.MULAW,
        "PCMU": Encoding.MULAW,
        "audio/x-alaw": Encoding.ALAW,
        "PCMA": Encoding.ALAW,
        "audio/x-l16": Encoding.PCM16,
    }
)
_CONTENT: Final = MappingProxyType(
    {Encoding.MULAW: "audio/x-mulaw", Encoding.ALAW: "audio/x-alaw", Encoding.PCM16: "audio/x-l16"}
)


class MediaStream:
    """One call. `sent`: how it takes sound, where not as it gives it."""

    lingers = False

    def __init__(self, carrier: Carrier, credential: Credential, sent: AudioFormat | None = None) -> None:
        self._carrier = carrier
        self._sent = sent
        self._credential = credential
        self._stream = ""
        self._width = 1
        self._ids: dict[str, str] = {}

    def read(self, message: Wire) -> list[LineEvent]:
        """What a message says, be it of text or binary. Raises BadInput."""
        said = Fields.read(message)
        event = said.word("event")
        if event in {"connected", "start"}:
            return [self._opened(said)] if event == "start" else []
        if not self._stream and event != "stop":
            raise WrongState("the stream has not started")
        another = self._stream and said.word(self._carrier.stream, self._stream) != self._stream
        match "" if another else event:
            case "media":
                return self._heard(said.part("media"))
            case "dtmf":
                return said.part("dtmf").keys("digit")
            case "stop":
                return [Left()]
            case self._carrier.marked:
                return [Played((said if self._carrier.marked != "mark" else said.part("mark")).word("name"))]
        return []  # what a later version of the protocol may have

    def play(self, packet: bytes) -> list[Act]:
        """A packet of sound."""
        payload = base64.b64encode(packet).decode()
        media: dict[str, object] = {"payload": payload}
        if self._carrier.described:
            form = self._sent or AudioFormat(Encoding.MULAW, _RATE)
            media = {"contentType": _CONTENT[form.encoding], "sampleRate": form.rate, "payload": payload}
        return [packed(event=self._carrier.medium, **self._named, media=media)]

    def mark(self, name: str) -> list[Act]:
        """Ask to be told when all that was sent so far was heard."""
        if self._carrier.mark == "mark":
            return [packed(event="mark", **self._named, mark={"name": name})]
        return [packed(event=self._carrier.mark, **self._named, name=name)]

    def flush(self) -> list[Act]:
        """Drop what was sent and not heard yet."""
        return [packed(event=self._carrier.clear, **self._named)]

    def transfer(self, reason: str, summary: str) -> list[Act]:  # noqa: ARG002 - the summary says it
        """Give the caller to a person: by the carrier, or by what it was told to do behind the stream."""
        if not (self._credential.key and self._credential.transfer_to and self._ids):
            return []
        return [self._carrier.transfer(self._credential, self._ids, summary)]

    def hang_up(self) -> list[Act]:
        """End the call."""
        return [self._carrier.hang_up(self._credential, self._ids, "")] if self._credential.key and self._ids else []

    def refuse(self, error: TellerlineError) -> list[Act]:  # noqa: ARG002 - the close code says it
        """The protocol has no word for it."""
        return []

    @property
    def _presses(self) -> bool:
        """Whether the carrier has a word for keys, and takes it from us."""
        press = self._carrier.press
        return bool(press) if isinstance(press, str) else bool(self._credential.key)

    def press(self, keys: str) -> list[Act]:
        """Press keys, where the carrier has a word for it."""
        press = self._carrier.press
        if isinstance(press, str):
            return [packed(event=press, dtmf=keys)]
        return [press(self._credential, self._ids, keys)]

    @property
    def _named(self) -> dict[str, str]:
        return {self._carrier.stream: self._stream}

    def _opened(self, said: Fields) -> Opened:
        if self._stream:
            raise WrongState("the stream has started before")
        with essential():
            return self._begun(said, said.part("start"))

    def _begun(self, said: Fields, start: Fields) -> Opened:
        self._ids = {"call": start.word(self._carrier.call), "account": start.word(self._carrier.account, "")}
        stream = said.word(self._carrier.stream, "") or start.word(self._carrier.stream)
        if not stream:
            raise MalformedMessage("the stream has no name")
        self._stream = stream
        given = (said if self._carrier.parameters in said.values else start).given(self._carrier.parameters)
        form = self._form(start.part(self._carrier.form))
        self._width = 2 if form.encoding is Encoding.PCM16 else 1
        self._sent = self._sent or form
        playing = Playing(self._sent, press=self.press if self._presses else None)
        return Opened(self._ids["call"], form, playing, given.statement(), given.locale())

    def _form(self, told: Fields) -> AudioFormat:
        encoding, rate = _ENCODINGS.get(told.word("encoding")), told.number(self._carrier.rate)
        rates = STREAM_RATES if encoding is Encoding.PCM16 else (_RATE,)
        if encoding is None or rate not in rates or told.number("channels", 1) != 1:
            raise UnsupportedAudio("a stream is G.711 at 8 kHz, or linear, with one channel")
        return AudioFormat(encoding, rate)

    def _heard(self, media: Fields) -> list[LineEvent]:
        sound = media.sound("payload")
        if len(sound) > MAX_SOUND:
            raise TooLarge(f"a message has at most {MAX_SOUND} bytes of sound")
        if media.word("track", "inbound") not in {"inbound", "inbound_track"} or not sound:
            return []  # what we say ourselves, where a stream has both
        if len(sound) % self._width:
            raise MalformedAudio("the sound has half a sample")
        return [Audio(sound, media.counted("chunk") if self._carrier.numbered else None)]
