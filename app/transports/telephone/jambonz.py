"""jambonz' `listen` and FreeSWITCH's mod_audio_fork as a `CallTransport`. Sans I/O.

The first message tells of the call; then linear sound comes in binary messages. jambonz takes sound back likewise, and
tells of marks; mod_audio_fork takes pieces of it as files to be played, and tells nothing: then the clock does. Where
the bridge speaks replies itself, they are words, in the message that is handed on to its application (`json`).
"""

import base64
from enum import StrEnum
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
    Wire,
    essential,
)
from schemas.audio import STREAM_RATES, AudioFormat, Encoding
from schemas.errors import MalformedAudio, TellerlineError, TooLarge, UnsupportedAudio, WrongState
from schemas.ids import Locale
from services.speech.ssml import ssml, words


class ReplyForm(StrEnum):
    """What a bridge is sent of a reply: sound, or words for its own voice."""

    AUDIO = "audio"
    FILE = "file"
    TEXT = "text"
    SSML = "ssml"

    @property
    def worded(self) -> bool:
        """Whether it is words."""
        return self in {ReplyForm.TEXT, ReplyForm.SSML}


MAX_SOUND: Final = 32 * 1024
_CHANNELS: Final = {"mono": 1, "stereo": 2}
"""The caller is the first; what is mixed can't be told apart."""


class AudioFork:
    """One call. `replies`: sound, the same as mod_audio_fork takes it, or words."""

    lingers = False

    def __init__(self, replies: ReplyForm = ReplyForm.AUDIO) -> None:
        self._replies = replies
        self._form: AudioFormat | None = None
        self._channels = 1

    def read(self, message: Wire) -> list[LineEvent]:
        """What a message says. Raises BadInput."""
        if isinstance(message, bytes):
            return self._heard(message)
        said = Fields.read(message)
        if self._form is None:
            with essential():
                return [self._opened(said)]
        if said.word("event", "") == "dtmf":
            return said.keys("dtmf")
        if said.word("type", "") == "mark":
            mark = said.part("data")
            return [Played(mark.word("name"))] if mark.word("event") == "playout" else []
        return []  # what a later version may have

    def play(self, packet: bytes) -> list[Act]:
        """A packet of sound."""
        if self._replies is ReplyForm.AUDIO:
            return [packet]
        sound: dict[str, Any] = {"audioContentType": "raw", "sampleRate": self._form.rate if self._form else 0}
        return [packed(type="playAudio", data=sound | {"audioContent": base64.b64encode(packet).decode()})]

    def mark(self, name: str) -> list[Act]:
        """Ask to be told when all that was sent so far was heard."""
        if self._replies.worded:
            return [packed(type="json", data={"mark": name})]
        return [] if self._replies is ReplyForm.FILE else [packed(type="mark", data={"name": name})]

    def say(self, text: str, locale: Locale) -> list[Act]:
        """Words for the bridge's own voice, after those before."""
        kind, said = ("ssml", ssml) if self._replies is ReplyForm.SSML else ("text", words)
        return [packed(type="json", data={"say": {kind: said(text, locale), "language": locale}})]

    def press(self, keys: str) -> list[Act]:
        """Keys that the application presses on the call."""
        return [packed(type="json", data={"press": keys})]

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
        given = said.given("metadata") if "statement" not in said.values else said
        return Opened(
            said.word("callSid", ""), self._form, self._playing(self._form), given.statement(), given.locale()
        )

    def _playing(self, form: AudioFormat) -> Playing:
        match self._replies:
            case ReplyForm.AUDIO:
                return Playing(form, lead_ms=100)
            case ReplyForm.FILE:
                return Playing(form, packet_ms=500, lead_ms=1_000, marks=False, press=self.press)
        return Playing(form, say=self.say, press=self.press)

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
