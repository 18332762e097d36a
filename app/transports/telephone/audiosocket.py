"""Asterisk's AudioSocket as a `CallTransport`. Sans I/O: bytes of the TCP stream in, in pieces of any length.

Each message is a kind, a length of two bytes and so much payload. Asterisk takes sound and a hang-up from us, and plays
what comes as it comes: we keep the pace, and know by it what was heard. It ends a call on which neither side sends for
two seconds, as where the caller is on mute and we wait: so we are never quiet for long. What becomes of the call, its
dialplan asks.
"""

import uuid
from types import MappingProxyType
from typing import Final

import numpy as np
import soxr

from app.transports.telephone.fields import pressed
from app.transports.telephone.line import (
    Act,
    Audio,
    Left,
    LineEvent,
    Opened,
    Playing,
    Reformed,
    Stray,
    Wire,
    essential,
)
from schemas.audio import STREAM_RATES, AudioFormat, Encoding, Samples
from schemas.errors import (
    BadInput,
    MalformedAudio,
    MalformedMessage,
    TellerlineError,
    TooLarge,
    UnknownEvent,
    WrongState,
)
from services.audio.codec import decode, encode_pcm16

HANG_UP, IDENTITY, SILENCE, KEY, ERROR = 0x00, 0x01, 0x02, 0x03, 0xFF
SOUND: Final = MappingProxyType(
    {
        0x10: 8_000,
        0x11: 12_000,
        0x12: 16_000,
        0x13: 24_000,
        0x14: 32_000,
        0x15: 44_100,
        0x16: 48_000,
        0x17: 96_000,
        0x18: 192_000,
    }
)
"""Signed linear sound: kind → rate in hertz."""
MAX_PAYLOAD: Final = 32 * 1024
"""Bytes of one message: 80 ms of the fastest sound, two seconds of the usual one."""
_HEAD: Final = 3
_ID: Final = 16
_SLIN: Final = 0x10
_OWN: Final = AudioFormat(Encoding.PCM16, 8_000)
_QUIET_MS: Final = 500
_INSTEAD: Final = AudioFormat(Encoding.PCM16, 16_000)
"""What sound of a rate that is none of ours becomes."""


class AudioSocket:
    """One call. Its statement is its UUID: the bridge has announced it before (services/guard/expected_calls.py)."""

    lingers = False

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._identity = ""
        self._kind = _SLIN
        self._resampler: soxr.ResampleStream | None = None

    def read(self, message: Wire) -> list[LineEvent]:
        """What has come whole. Raises BadInput."""
        if isinstance(message, str):
            raise MalformedMessage("an AudioSocket has no text messages")
        self._buffer += message
        events: list[LineEvent] = []
        while len(self._buffer) >= _HEAD:
            size = int.from_bytes(self._buffer[1:_HEAD], "big")
            if size > MAX_PAYLOAD:
                raise TooLarge(f"a message has at most {MAX_PAYLOAD} bytes")
            if len(self._buffer) < _HEAD + size:
                break
            kind, payload = self._buffer[0], bytes(self._buffer[_HEAD : _HEAD + size])
            del self._buffer[: _HEAD + size]
            try:
                events += self._read(kind, payload)
            except BadInput as wrong:
                if wrong.fatal:
                    raise
                events.append(Stray(wrong))  # what came around it counts
        return events

    def play(self, packet: bytes) -> list[Act]:
        """A packet of sound."""
        return [_message(_SLIN, packet)]

    def mark(self, name: str) -> list[Act]:  # noqa: ARG002 - the clock tells
        """Asterisk tells nothing."""
        return []

    def flush(self) -> list[Act]:
        """What was sent was played already."""
        return []

    def transfer(self, reason: str, summary: str) -> list[Act]:  # noqa: ARG002 - the dialplan asks for it
        """Give the channel back to its dialplan."""
        return self.hang_up()

    def hang_up(self) -> list[Act]:
        """Give the channel back to its dialplan."""
        return [_message(HANG_UP, b"")]

    def refuse(self, error: TellerlineError) -> list[Act]:  # noqa: ARG002 - Asterisk takes no reason
        """The same: Asterisk knows no error of ours."""
        return self.hang_up()

    def _read(self, kind: int, payload: bytes) -> list[LineEvent]:
        if kind == HANG_UP:
            return [Left()]
        if kind == IDENTITY:
            return [self._opened(payload)]
        if not self._identity:
            raise WrongState("the first message is the call's UUID")
        if kind in SOUND:
            return self._heard(kind, payload)
        if kind == KEY:
            return pressed(payload.decode("latin-1"))
        if kind in {ERROR, SILENCE}:
            return [Left()] if kind == ERROR else []
        raise UnknownEvent("a kind of message that AudioSocket does not have")

    def _opened(self, payload: bytes) -> Opened:
        if self._identity:
            raise WrongState("the call has started before")
        with essential():
            if len(payload) != _ID:
                raise MalformedMessage("a call has one UUID of 16 bytes")
        self._identity = str(uuid.UUID(bytes=payload))
        return Opened(self._identity, _OWN, Playing(_OWN, lead_ms=0, marks=False, quiet_ms=_QUIET_MS), self._identity)

    def _heard(self, kind: int, payload: bytes) -> list[LineEvent]:
        if len(payload) % 2:
            raise MalformedAudio("sound has two bytes a sample")
        events: list[LineEvent] = []
        if not payload:
            return events  # a jitter buffer's word for a packet that it misses
        if kind != self._kind:
            self._kind, rate = kind, SOUND[kind]
            ours = rate in STREAM_RATES
            self._resampler = None if ours else soxr.ResampleStream(rate, _INSTEAD.rate, 1, dtype="float32")
            events.append(Reformed(AudioFormat(Encoding.PCM16, rate) if ours else _INSTEAD))
        if self._resampler is not None:
            samples: Samples = self._resampler.resample_chunk(decode(payload, _INSTEAD).astype(np.float32))
            payload = encode_pcm16(samples)
        return [*events, Audio(payload)] if payload else events


def _message(kind: int, payload: bytes) -> bytes:
    return bytes([kind]) + len(payload).to_bytes(2, "big") + payload
