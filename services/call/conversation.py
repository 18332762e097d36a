"""The answering side of a call: turns wait for the turn handler, and replies are cut, taken back, or heard out."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from schemas.call import CallEvent, CutReason, Fault, PlaybackIn, PlaybackState, ReplyCut
from schemas.errors import RateLimited, TellerlineError
from schemas.ids import Locale
from schemas.turn import Awaits, ItemId, ReplyId
from services.audio.endpointing import timing
from services.call.playback import Playback
from services.call.reply_stream import Answer, Heard, ReplyStream
from services.ports import Clock, TurnHandler

_WAITING: Final = 16
"""Things that may wait for the turn handler."""


@dataclass(frozen=True, slots=True)
class _Delivered:
    reply: ReplyId


@dataclass(frozen=True, slots=True)
class _Interrupted:
    reply: ReplyId


@dataclass(frozen=True, slots=True)
class _Withdraw:
    answer: Answer
    undone: Callable[[], None]


_Work = Answer | _Delivered | _Interrupted | _Withdraw


class Conversation:
    """Everything that waits for the turn handler. Its methods never block; `run` does the work, in order."""

    def __init__(self, handler: TurnHandler, clock: Clock, emit: Callable[[CallEvent], None]) -> None:
        self._handler = handler
        self._clock = clock
        self._emit = emit
        self._replies = ReplyStream(handler, clock, emit)
        self._timing = timing()
        self._work: asyncio.Queue[_Work] = asyncio.Queue(_WAITING)
        self._answering: asyncio.Task[None] | None = None
        self._last: Answer | None = None
        self._held: Playback | None = None
        self._busy = 0
        self._quiet_since = clock.monotonic()
        self._estimated = False

    # What the call may ask

    @property
    def busy(self) -> bool:
        """Whether something waits for the turn handler or is with it."""
        return self._busy > 0

    @property
    def audible(self) -> bool:
        """Whether the caller may be hearing a reply now."""
        return self._last is not None and self._last.playback.audible(self._clock.monotonic())

    @property
    def awaits(self) -> Awaits:
        """What the last reply waits for."""
        return self._last.playback.awaits if self._last else Awaits.NOTHING

    @property
    def over(self) -> bool:
        """Whether the last reply ended the call and has been heard, or must have been."""
        if self._last is None or self._last.playback.awaits is not Awaits.END:
            return False
        playback = self._last.playback
        return playback.delivered or playback.cut is not None or playback.surely_over(self._clock.monotonic())

    def answers(self, item: ItemId) -> bool:
        """Whether the answer to the turn `item` is the last one, and was not heard to its end."""
        answer = self._last
        if answer is None or answer.heard is None:
            return False
        return answer.heard.item == item and not answer.playback.delivered

    # What the call tells

    def configure(self, locale: Locale, *, estimated: bool) -> None:
        """The language of replies, and whether one counts as heard once it could have been spoken."""
        self._replies.locale, self._estimated = locale, estimated

    def take(self, heard: Heard) -> None:
        """Answer a turn. Raises RateLimited when too many wait."""
        self._held = None
        self._answer(Answer(self._playback(heard.item), heard=heard))

    def greet(self) -> None:
        """Say what the caller has to hear before anything else, if there is such a thing."""
        playback = self._playback(None)
        events = self._handler.greeting(playback.reply, self._replies.locale)
        if events is not None:
            self._answer(Answer(playback, greeting=events))

    def fail(self, error: TellerlineError) -> None:
        """Say an error, so that it is never silence."""
        self._answer(Answer(self._playback(None), error=error))

    def cut(self, reason: CutReason, reply: ReplyId | None = None) -> bool:
        """Stop the reply that the caller hears, if any (and if it is `reply`, where one is named)."""
        answer = self._last
        if answer is None or not self.audible or reply not in {None, answer.playback.reply}:
            return False
        self._stop(answer, reason)
        return True

    def withdraw(self, item: ItemId, undone: Callable[[], None]) -> None:
        """The caller went on after the turn `item`: undo it, if its answer was not heard; then call `undone`."""
        answer = self._last
        if answer is None or not self.answers(item):
            return
        if answer.playback.cut is None:
            self._stop(answer, CutReason.TURN_DETECTED)
        self._put(_Withdraw(answer, undone))

    def played(self, mark: PlaybackIn, *, speaking: bool) -> None:
        """The client's word on a reply; marks of replies that are no more change nothing."""
        answer = self._last
        if answer is None or answer.playback.reply != mark.reply:
            return
        if mark.state is PlaybackState.STARTED:
            answer.playback.started = True
        elif mark.state is PlaybackState.INTERRUPTED:
            self.cut(CutReason.CLIENT_CANCELLED, mark.reply)
        elif answer.playback.done:
            self._heard_out(answer.playback, speaking=speaking)

    def released(self) -> None:
        """What was said over the end of a reply was nothing: the reply counts as heard."""
        if self._held is not None:
            held, self._held = self._held, None
            self._deliver(held)

    def tick(self, *, speaking: bool) -> None:
        """Time passes: replies end by estimate, and silence is answered."""
        now = self._clock.monotonic()
        playback = self._last.playback if self._last else None
        if playback is not None and self._estimated and playback.spoken(now):
            self._heard_out(playback, speaking=speaking)
        if speaking or self.busy or self.audible:
            self._quiet_since = now
        quiet = (now - self._quiet_since) * 1000 >= self._timing.silence_prompt_ms
        if quiet and self.awaits in {Awaits.ANSWER, Awaits.CONFIRMATION}:
            self._quiet_since = now
            self._answer(Answer(self._playback(None)))

    async def run(self) -> None:
        """Do the work until cancelled."""
        while True:
            work = await self._work.get()
            try:
                await self._do(work)
            finally:
                self._busy -= 1

    # The work

    def _playback(self, item: ItemId | None) -> Playback:
        return Playback(ReplyId(self._clock.new_id()), item)

    def _put(self, work: _Work) -> None:
        try:
            self._work.put_nowait(work)
        except asyncio.QueueFull:
            raise RateLimited("too many turns wait for an answer") from None
        self._busy += 1

    def _answer(self, answer: Answer) -> None:
        self._put(answer)
        self._last = answer

    def _stop(self, answer: Answer, reason: CutReason) -> None:
        answer.playback.cut = reason
        if answer.playback.began_at is not None:
            self._emit(ReplyCut(answer.playback.reply, reason))
        if self._answering is not None:
            self._answering.cancel()
        if answer.entered:
            self._put(_Interrupted(answer.playback.reply))

    def _heard_out(self, playback: Playback, *, speaking: bool) -> None:
        if playback.delivered or playback.spoken_over or playback.cut is not None:
            return
        if speaking:
            playback.spoken_over, self._held = True, playback
        else:
            self._deliver(playback)

    def _deliver(self, playback: Playback) -> None:
        playback.delivered = True
        self._put(_Delivered(playback.reply))

    async def _do(self, work: _Work) -> None:
        try:
            await self._do_unguarded(work)
        except TellerlineError as error:
            if error.fatal:
                raise
            self._emit(Fault(error))

    async def _do_unguarded(self, work: _Work) -> None:
        match work:
            case Answer():
                if work.playback.cut is None:
                    await self._say_cancellably(work)
            case _Delivered(reply):
                await self._handler.delivered(reply)
            case _Interrupted(reply):
                await self._handler.interrupted(reply)
            case _Withdraw(answer, undone):
                if not answer.entered or await self._handler.withdraw(answer.playback.reply):
                    undone()

    async def _say_cancellably(self, answer: Answer) -> None:
        """Say it in a task of its own, so that cutting it leaves this one alive."""
        task = asyncio.create_task(self._say(answer))
        self._answering = task
        try:
            await asyncio.wait({task})
        finally:
            self._answering = None
            task.cancel()
            await asyncio.wait({task})
        if not task.cancelled():
            task.result()

    async def _say(self, answer: Answer) -> None:
        error = await self._replies.say(answer)
        if error is not None and answer.error is None:
            self.fail(error)
