"""The caller's sound as a Realtime client sends and is told of it: a buffer in base64, and when speech began in it."""

from collections.abc import Iterator
from typing import Final

from app.transports.events.decode import unbase64
from schemas import call
from schemas.wire.listening import SpeechStartedEvent, SpeechStoppedEvent

PIECE: Final = 32 * 1024
"""Bytes of sound that the call is given at a time."""


class InputBuffer:
    """`uncommitted` bytes came since the last turn."""

    def __init__(self) -> None:
        self.uncommitted = 0

    def append(self, audio: str) -> tuple[call.AudioIn, ...]:
        """The sound in pieces. Raises MalformedAudio."""
        data = unbase64(audio)
        self.uncommitted += len(data)
        return tuple(call.AudioIn(data[at : at + PIECE]) for at in range(0, len(data), PIECE))

    def clear(self) -> None:
        """The client drops what it has sent."""
        self.uncommitted = 0


class Speech:
    """Tells when the caller speaks.

    Over a reply that is told once it stops the reply, and not at all for an "uh-huh".
    """

    def __init__(self) -> None:
        self._began_ms: dict[str, int] = {}
        self._started: SpeechStartedEvent | None = None
        self._stopped: SpeechStoppedEvent | None = None

    def start(self, started: SpeechStartedEvent, *, over_reply: bool) -> Iterator[SpeechStartedEvent]:
        """The caller began to speak."""
        self._began_ms = {started.item_id: started.audio_start_ms}
        if over_reply:
            self._started, self._stopped = started, None
        else:
            yield started

    def stop(self, stopped: SpeechStoppedEvent) -> Iterator[SpeechStoppedEvent]:
        """The caller stopped."""
        if self._started is not None:
            self._stopped = stopped
        else:
            yield stopped

    def count(self) -> Iterator[SpeechStartedEvent | SpeechStoppedEvent]:
        """What the caller says over a reply counts: tell of it."""
        held = self._started, self._stopped
        self.drop()
        yield from (one for one in held if one is not None)

    def drop(self) -> None:
        """What was said over a reply was nothing."""
        self._started = self._stopped = None

    def seconds(self, item: str, until_ms: int) -> float:
        """How long an utterance was that ended then."""
        return (until_ms - self._began_ms.get(item, until_ms)) / 1000
