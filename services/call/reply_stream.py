"""How a reply goes out: the turn handler's events to the client's, begun at the first words and ended once."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Final

from schemas.call import CallEvent, Fault, ReplyBegan, ReplyEnded, ReplyStatus, Said, Timed
from schemas.errors import InternalFault, TellerlineError, TimedOut
from schemas.ids import Locale
from schemas.transcript import Transcript
from schemas.turn import ItemId, ReplyDone, ReplyEvent, ReplyText
from services.audio.endpointing import endpointing, timing
from services.call.playback import Playback
from services.ports import Clock, TurnHandler

log = logging.getLogger(__name__)

_REPLY_SECONDS: Final = 60.0
"""No reply takes longer to be made."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A turn to be answered. `since` is when its last sound had arrived; `moments` are named seconds of the clock."""

    item: ItemId
    transcript: Transcript
    since: float
    moments: dict[str, float]


@dataclass(slots=True)
class Answer:
    """Something to be said: to a turn, to an error, to silence, or before anything else."""

    playback: Playback
    heard: Heard | None = None
    error: TellerlineError | None = None
    greeting: AsyncIterator[ReplyEvent] | None = None
    entered: bool = False


class ReplyStream:
    """One call's replies, one at a time. `locale` is the language of those that follow."""

    def __init__(self, handler: TurnHandler, clock: Clock, emit: Callable[[CallEvent], None]) -> None:
        self._handler = handler
        self._clock = clock
        self._emit = emit
        self._lead_s = timing().speaking_lead_ms / 1000
        self.locale = Locale("")

    async def say(self, answer: Answer) -> TellerlineError | None:
        """Say all of it; what went wrong, when it did, which the client then knows. Cancelling it cuts the reply."""
        playback, answer.entered = answer.playback, True
        error: TellerlineError
        try:
            async with asyncio.timeout(_REPLY_SECONDS):
                await self._follow(answer, self._events(answer))
        except asyncio.CancelledError:
            self._end(playback, ReplyStatus.CANCELLED)
            raise
        except TellerlineError as failed:
            error = failed
        except TimeoutError:
            error = TimedOut("the reply took too long")
        except Exception as fault:
            log.exception("the turn handler failed: %s", type(fault).__name__)
            error = InternalFault("the turn handler failed")
        else:
            return None
        self._end(playback, ReplyStatus.FAILED, error)
        self._emit(Fault(error))
        return error

    def _events(self, answer: Answer) -> AsyncIterator[ReplyEvent]:
        reply = answer.playback.reply
        if answer.error is not None:
            return self._handler.failed(answer.error, reply)
        if answer.greeting is not None:
            return answer.greeting
        if answer.heard is not None:
            return self._handler.take(answer.heard.transcript, reply)
        return self._handler.silence(reply)

    async def _follow(self, answer: Answer, events: AsyncIterator[ReplyEvent]) -> None:
        playback, done = answer.playback, ReplyDone()
        try:
            async for event in events:
                match event:
                    case ReplyText():
                        self._words(answer, event)
                    case ReplyDone():
                        done = event
                    case _:
                        self._emit(Said(playback.reply, event))
        finally:
            close = getattr(events, "aclose", None)
            if close is not None:
                await close()
        playback.done, playback.awaits = True, done.awaits
        self._end(playback, ReplyStatus.COMPLETED)
        if answer.heard is not None:
            moments = {k: (at - answer.heard.since) * 1000 for k, at in answer.heard.moments.items()}
            self._emit(Timed(playback.reply, playback.item, moments, done.stages))

    def _words(self, answer: Answer, said: ReplyText) -> None:
        playback, now = answer.playback, self._clock.monotonic()
        if playback.began_at is None:
            self._emit(ReplyBegan(playback.reply, playback.item))
            if answer.heard is not None:
                answer.heard.moments["response_sent"] = now
        seconds = endpointing(self.locale).speaking_ms(said.text) / 1000
        playback.say(said.text, seconds, self._lead_s, now)
        self._emit(Said(playback.reply, said))

    def _end(self, playback: Playback, status: ReplyStatus, error: TellerlineError | None = None) -> None:
        if playback.began_at is None and status is not ReplyStatus.COMPLETED:
            return  # nobody heard of it yet
        if playback.began_at is None:
            playback.delivered = True
            self._emit(ReplyBegan(playback.reply, playback.item))
        text = " ".join(playback.text)
        self._emit(ReplyEnded(playback.reply, status, text, playback.awaits, playback.cut, error))
