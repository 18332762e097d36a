"""What a call says itself, so that it is not taken for the caller where the caller's microphone picks it up."""

from collections.abc import Callable

import soxr

from schemas.audio import PCM16, SAMPLE_RATE, Samples
from schemas.call import CallEvent, ReplyCut, Voiced
from services.audio.codec import decode
from services.audio.echo import Echo
from services.ports import Clock


class OwnVoice:
    """One call's: replies' sound on its way out, and what is heard without it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._echo = Echo()

    def noting(self, emit: Callable[[CallEvent], None]) -> Callable[[CallEvent], None]:
        """`emit`, with a note of what is spoken, and of where that is cut."""

        def noted(event: CallEvent) -> None:
            match event:
                case Voiced(_, chunk, at):
                    samples = decode(chunk.pcm, PCM16)
                    self._echo.sent(soxr.resample(samples, chunk.rate, SAMPLE_RATE), at)
                case ReplyCut():
                    self._echo.stopped(self._clock.monotonic())
            emit(event)

        return noted

    def without(self, frames: Samples, at: float) -> Samples:
        """Frames that were heard until `at`, our own voice taken out; fewer, where they wait to be told apart."""
        return self._echo.without(frames, at)

    def release(self) -> Samples:
        """What waits, as it was heard."""
        return self._echo.release()
