"""How sound gets from the wire to turn-taking: cut into frames, heard by the VAD, and filled up where it stalls."""

from typing import Final

from schemas.audio import SAMPLE_RATE, AudioFormat, Samples
from services.audio.endpointing import timing
from services.audio.frames import VAD_FRAME
from services.audio.ingest import Ingest
from services.audio.vad import SileroVad, VadState
from services.call.arrivals import Arrivals
from services.call.own_voice import OwnVoice
from services.call.turn_taking import TurnTaking
from services.ports import Clock

_PER_MS: Final = SAMPLE_RATE // 1000
_PIECE: Final = 16 * VAD_FRAME
"""Samples that are heard on end: half a second, 1 ms in which no other call goes on."""


class InboundAudio:
    """One call's sound, in order. It waits where more sound would outrun words that are still being decoded."""

    def __init__(
        self,
        vad: SileroVad,
        clock: Clock,
        arrivals: Arrivals,
        turns: TurnTaking,
        echo: OwnVoice,
        form: AudioFormat,
    ) -> None:
        self._vad = vad
        self._vad_state = VadState()
        self._clock = clock
        self._arrivals = arrivals
        self._turns = turns
        self._echo = echo
        self._ingest = Ingest(form)
        self._stall_ms = timing().stall_ms

    def change(self, form: AudioFormat) -> None:
        """What follows comes in another format. Raises UnsupportedAudio."""
        self._ingest = Ingest(form)

    def cleared(self) -> None:
        """What came was dropped."""
        self._ingest.cleared()

    async def take(self, data: bytes, sequence: int | None, at: float) -> None:
        """Hear bytes that arrived at `at`. Raises MalformedAudio, TooLarge."""
        frames = self._ingest.push(data, sequence)
        self._arrivals.note(self._ingest.received, at)
        await self._hear(self._echo.without(frames, at))

    async def stalled(self) -> None:
        """Nothing came for a while: inside a turn, and right after it, that is silence."""
        await self._hear(self._echo.release())
        if not self._turns.speaking and not self._turns.settling:
            return
        frames, now = self._ingest.silence(self._stall_ms * _PER_MS // VAD_FRAME), self._clock.monotonic()
        self._arrivals.note(self._ingest.received, now)
        await self._hear(self._echo.without(frames, now))

    async def _hear(self, frames: Samples) -> None:
        for begin in range(0, frames.size, _PIECE):
            piece = frames[begin : begin + _PIECE]
            probabilities = await self._vad.listen(self._vad_state, piece)
            for start, probability in zip(range(0, piece.size, VAD_FRAME), probabilities, strict=True):
                await self._turns.words_known()
                self._turns.feed(piece[start : start + VAD_FRAME], probability)
        await self._turns.words_known()
        self._turns.advance(self._ingest.pending)
