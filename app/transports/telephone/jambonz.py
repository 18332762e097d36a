"""jambonz' `listen` and FreeSWITCH's mod_audio_fork as a `CallTransport`. Sans I/O.

The first message tells of the call; then linear sound comes in binary messages. jambonz takes sound back likewise, and
tells of marks; mod_audio_fork takes pieces of it as files to be played, and tells nothing: then the clock does.
"""

import base64
from typing import Any, Final

import numpy as np

from app.transports.telephone.fields import Fields, packed
from app.transports.telephone.line import (
    Act,
    Audio,
    LineEvent,
    Opened,
    Played,
    Playing,
    Pressed,
    Wire,
)
from schemas.audio import STREAM_RATES, AudioFormat, Encoding
from schemas.errors import MalformedAudio, TellerlineError, TooLarge, UnsupportedAudio, WrongState

MAX_SOUND: Final = 32 * 1024
_CHANNELS: Final = {"mono": 1, "stereo": 2}
"""The caller is the first; what is mixed can't be told apart."""


class AudioFork:
    """One call. `files`: sound is sent as mod_audio_fork takes it."""

    lingers = False

    def __init__(self, *, files: bool = False) -> None:
        self._files = files
        self._form: AudioFormat | None = None
        self._channels = 1

    def read(self, message: Wire) -> list[LineEvent]:
        """What a message says. Raises BadInput."""
        if isinstance(message, bytes):
            return self._heard(message)
        said = Fields.read(message)
        if self._form is None:
            return [self._opened(said)]
        if said.word("event", "") == "dtmf":
            return [Pressed(said.key("dtmf"))]
        if said.word("type", "") == "mark":
            mark = said.part("data")
            return [Played(mark.word("name"))] if mark.word("event") == "playout" else []
        return []  # what a later version may have

    def play(self, packet: bytes) -> list[Act]:
        """A packet of sound."""
        if not self._files:
            return [packet]
        sound: dict[str, Any] = {"audioContentType": "raw", "sampleRate": self._form.rate if self._form else 0}
        return [packed(type="playAudio", data=sound | {"audioContent": base64.b64encode(packet).decode()})]

    def mark(self, name: str) -> list[Act]:
        """Ask to be told when all that was sent so far was heard."""
        return [] if self._files else [packed(type="mark", data={"name": name})]

    def flush(self) -> list[Act]:
        """Drop what was sent and not heard yet."""
        return [packed(type="killAudio")]

    def transfer(self, reason: str, summary: str) -> list[Act]:
        """Tell the application that a person is wanted, and give the call back to it."""
        return [packed(type="transfer", data={"reason": reason, "summary": summary}), *self.hang_up()]

    def hang_up(self) -> list[Act]:
        """Give the call back to its application."""
        return [packed(type="disconnect")]

    def refuse(self, error: TellerlineError) -> list[Act]:
        """Tell of an error, and give the call back."""
        return [packed(type="error", data={"code": error.code, "message": error.message[:200]}), *self.hang_up()]

    def _opened(self, said: Fields) -> Opened:
        rate, channels = said.number("sampleRate", 8_000), _CHANNELS.get(said.word("mixType", "mono"))
        if rate not in STREAM_RATES or channels is None:
            raise UnsupportedAudio("the sound is mono or stereo at 8, 16 or 24 kHz")
        self._form, self._channels = AudioFormat(Encoding.PCM16, rate), channels
        files = Playing(self._form, packet_ms=500, lead_ms=1_000, marks=False)
        given = said.maybe("metadata") if "statement" not in said.values else said
        playing = files if self._files else Playing(self._form, lead_ms=100)
        return Opened(said.word("callSid", ""), self._form, playing, given.statement(), given.locale())

    def _heard(self, data: bytes) -> list[LineEvent]:
        if self._form is None:
            raise WrongState("the first message tells of the call")
        if len(data) > MAX_SOUND:
            raise TooLarge(f"a message has at most {MAX_SOUND} bytes of sound")
        if len(data) % (2 * self._channels):
            raise MalformedAudio("the sound has half a sample")
        if self._channels > 1:
            data = np.frombuffer(data, "<i2")[:: self._channels].tobytes()
        return [Audio(data)] if data else []
