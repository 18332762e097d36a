"""How a reply goes out: the turn handler's events to the client's, begun at the first words and ended once."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Final

from rules.locales import space
from schemas.call import (
    CallEvent,
    CutReason,
    Fault,
    ReplyBegan,
    ReplyCut,
    ReplyEnded,
    ReplyProgress,
    ReplyStatus,
    Timed,
    Voiced,
)
from schemas.errors import Busy, InternalFault, SpeechUnavailable, TellerlineError, TimedOut
from schemas.ids import Locale
from schemas.speech import SpokenChunk
from schemas.turn import ReplyDone, ReplyEvent, ReplyText
from services.audio.endpointing import endpointing, timing
from services.call.reply_speech import Mouth
from services.call.user_turn import Commitment
from services.ports import CallVoice, Clock
from services.response import AgentReply, ReplyState, ReplyStep

log = logging.getLogger(__name__)

_REPLY_SECONDS: Final = 60.0
"""No reply takes longer to be made."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A reply and what it is made by: to a `turn`, to an error (`sorry`), to silence, or unasked."""

    reply: AgentReply
    make: Callable[[], AsyncIterator[ReplyEvent]]
    turn: Commitment | None = None
    sorry: bool = False


class ReplyStream:
    """One call's replies, one at a time. `locale` is the language of those that follow, `speaks` whether by us."""

    def __init__(self, clock: Clock, emit: Callable[[CallEvent], None], voice: CallVoice | None = None) -> None:
        self._clock = clock
        self._emit = emit
        self._voice = voice
        self.speaks = False
        self._lead_s = timing().speaking_lead_ms / 1000
        self.locale = Locale("")

    async def say(self, draft: Draft) -> TellerlineError | None:
        """Say all of it; what went wrong, when it did, which the client then knows. Cancelling it cuts the reply."""
        draft.reply.step(ReplyStep.BEGIN)
        error: TellerlineError
        try:
            async with asyncio.timeout(_REPLY_SECONDS):
                await self._follow(draft, draft.make())
        except asyncio.CancelledError:
            self._end(draft.reply, ReplyStatus.CANCELLED)
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
        draft.reply.step(ReplyStep.FAIL)
        self._end(draft.reply, ReplyStatus.FAILED, error)
        self._emit(Fault(error))
        return error

    def foresee(self, text: str) -> None:
        """`text` will probably be said next."""
        if self._voice is not None and self.speaks and text:
            self._voice.foresee(text, self.locale)

    async def _follow(self, draft: Draft, events: AsyncIterator[ReplyEvent]) -> None:
        reply, done, first_at = draft.reply, ReplyDone(), 0.0
        mouth = self._mouth(reply)
        try:
            async for event in events:
                match event:
                    case ReplyText():
                        first_at = self._speak(reply, event, mouth) or first_at
                        self._cut_if_unwanted(reply)
                    case ReplyDone():
                        done = event
                    case _:
                        self._emit(ReplyProgress(reply.id, event))
            if mouth is not None:
                await self._spoken(reply, mouth)
        finally:
            if mouth is not None:
                await mouth.stop()
            close = getattr(events, "aclose", None)
            if close is not None:
                await close()
        wordless = reply.state is ReplyState.MAKING
        reply.end(done.awaits)
        if wordless:
            self._emit(ReplyBegan(reply.id, reply.item))
        self._end(reply, ReplyStatus.COMPLETED)
        if draft.turn is not None:
            turn = draft.turn.turn
            at = turn.moments if wordless else {**turn.moments, "response_sent": first_at}
            moments = {name: (moment - turn.since) * 1000 for name, moment in at.items()}
            self._emit(Timed(reply.id, reply.item, moments, done.stages))

    def _cut_if_unwanted(self, reply: AgentReply) -> None:
        """As where the client cancels it once it began, from within the task that makes it."""
        if reply.unwanted and reply.cut(CutReason.CLIENT_CANCELLED):
            self._emit(ReplyCut(reply.id, CutReason.CLIENT_CANCELLED))
            raise asyncio.CancelledError

    def _mouth(self, reply: AgentReply) -> Mouth | None:
        voice, locale = self._voice, self.locale
        if voice is None or not self.speaks:
            return None
        return Mouth(
            reply,
            lambda text: voice.speak(text, locale, ""),
            lambda chunk: self._voiced(reply, chunk),
            self._clock,
        )

    def _voiced(self, reply: AgentReply, chunk: SpokenChunk) -> None:
        """Sound goes out, until the reply is cut: its mouth may be a step behind."""
        if reply.cut_by is None:
            self._emit(Voiced(reply.id, chunk, reply.ends_at - chunk.seconds))

    async def _spoken(self, reply: AgentReply, mouth: Mouth) -> None:
        """All of it is given out as sound; where there is none, the words stand alone, and are not taken for heard."""
        try:
            await mouth.finish()
        except (SpeechUnavailable, Busy) as error:
            log.warning("a reply is not spoken: %s", error.code)
            reply.mute = True
        else:
            if not mouth.sounded:
                reply.sound(self._seconds(reply.text), reply.began_at)

    def _seconds(self, text: str) -> float:
        """How long a voice takes for it, about."""
        return endpointing(self.locale).speaking_ms(text) / 1000

    def _speak(self, reply: AgentReply, said: ReplyText, mouth: Mouth | None) -> float | None:
        """Give out words; when, where they are the first. A `mouth` tells itself how long they take."""
        now = self._clock.monotonic()
        first = reply.state is ReplyState.MAKING
        if first:
            self._emit(ReplyBegan(reply.id, reply.item))
        between = space(self.locale) if reply.text else ""
        begins = len(reply.text) + len(between)
        reply.speak(between + said.text, self._seconds(said.text) if mouth is None else 0.0, self._lead_s, now)
        self._emit(ReplyProgress(reply.id, said, between))
        if mouth is not None:
            mouth.say(said.text, begins)
        return now if first else None

    def _end(self, reply: AgentReply, status: ReplyStatus, error: TellerlineError | None = None) -> None:
        if reply.text or status is ReplyStatus.COMPLETED:  # otherwise nobody heard of it yet
            self._emit(ReplyEnded(reply.id, status, reply.text, reply.awaits, reply.cut_by, error))
