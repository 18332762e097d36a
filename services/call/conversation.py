"""The answering side of a call: turns wait for the turn handler, and replies are cut, taken back, or heard out."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from functools import partial

from schemas.call import (
    CallEvent,
    CutReason,
    NoSuchReply,
    PlaybackIn,
    PlaybackState,
    ReplyBegan,
    ReplyCut,
    ReplyEnded,
    ReplyStatus,
)
from schemas.errors import TellerlineError
from schemas.ids import Locale
from schemas.interpretation import Interpretation
from schemas.transcript import Source, Transcript
from schemas.turn import Awaits, ItemId, ReplyEvent, ReplyId
from services.audio.endpointing import timing
from services.call.reply_queue import Fate, ReplyQueue
from services.call.reply_stream import Draft, ReplyStream
from services.call.user_turn import Commitment
from services.ports import CallVoice, Clock, TurnHandler
from services.response import AgentReply, ReplyState, ReplyStep


class Conversation:
    """Everything that waits for the turn handler. Its methods never block; `run` does the work, in order."""

    def __init__(
        self,
        handler: TurnHandler,
        clock: Clock,
        emit: Callable[[CallEvent], None],
        voice: CallVoice | None = None,
    ) -> None:
        self._handler = handler
        self._clock = clock
        self._emit = emit
        self._replies = ReplyStream(clock, emit, voice)
        self._timing = timing()
        self._queue = ReplyQueue(handler, self._replies, emit)
        self._last: AgentReply | None = None
        self._turn: Commitment | None = None
        self._overspoken: AgentReply | None = None
        self._held: Commitment | None = None
        self._answers, self._asked = True, False
        self._quiet_since = clock.monotonic()
        self._estimated = False
        self._on_hold = self._prompted = False

    # What the call may ask

    @property
    def busy(self) -> bool:
        """Whether something waits for the turn handler or is with it."""
        return self._queue.busy

    @property
    def at_rest(self) -> bool:
        """Whether nothing is under way but a turn that may still be amended."""
        turn = self._turn if self._turn and self._last and self._last.item == self._turn.turn.item else None
        return not self.busy or (turn is not None and turn.waits)

    @property
    def begun(self) -> bool:
        """Whether anything was said, or is to be."""
        return self._last is not None

    @property
    def audible(self) -> bool:
        """Whether the caller may be hearing a reply now."""
        return self._last is not None and self._last.audible(self._clock.monotonic())

    @property
    def awaits(self) -> Awaits:
        """What the last reply waits for."""
        return self._last.awaits if self._last else Awaits.NOTHING

    @property
    def over(self) -> bool:
        """Whether the last reply ended the call and has been heard, or must have been."""
        return self.awaits is Awaits.END and self._last is not None and self._last.over(self._clock.monotonic())

    def answers(self, item: ItemId) -> bool:
        """Whether the answer to the turn `item` is the last one, and was not heard to its end."""
        return self._last is not None and self._last.item == item and not self._last.heard

    # What the call tells

    def configure(self, locale: Locale, *, estimated: bool, answers: bool = True, speaks: bool = False) -> None:
        """The language of replies; whether they count as heard once they could have been, come unasked, are spoken."""
        self._replies.locale, self._replies.speaks = locale, speaks
        self._estimated, self._answers = estimated, answers

    def foresee(self, words: Transcript | Interpretation, *, whole: bool) -> None:
        """The caller says this, and may go on: what would answer it is made ready to be heard, where we speak."""
        if self._replies.speaks:
            self._replies.foresee(self._handler.foreseen(words, whole=whole))

    def take(self, turn: Commitment) -> None:
        """Answer a turn, or hold it until a reply is asked for. Raises RateLimited when too many wait."""
        if self._held is not None:
            turn.along_with(self._held)
            self._held = None
        if not (self._answers or self._asked):
            self._held = turn
            return
        asked, self._asked = self._asked or turn.turn.source is Source.TYPED, False
        if self._last is not None and turn.turn.since < self._last.heard_at:
            self._unhear(self._last)  # what was said before meets a reply that was not heard
        self._overspoken = None
        if self._turn is not None:
            self._turn.followed()
        reply = self._reply(turn.turn.item, asked=asked)
        self._answer(Draft(reply, lambda: self._handler.take(turn.turn.transcript, reply.id, turn), turn))
        self._turn = turn

    def ask(self, *, coming: bool) -> None:
        """The client wants a reply, also where turns are not answered unasked. `coming`: the caller is speaking."""
        self._asked = True
        if self._held is not None:
            held, self._held = self._held, None
            self.take(held)
        elif coming:
            return
        elif self._last is None:
            self._asked = False
            self._say(lambda reply: self._handler.welcome(reply, self._replies.locale), asked=True)
        else:
            self._nothing_to_say()

    def greet(self) -> None:
        """Say what the caller has to hear before anything else, if there is such a thing."""
        reply = self._reply()
        events = self._handler.greeting(reply.id, self._replies.locale)
        if events is not None:
            self._answer(Draft(reply, lambda: events))

    def fail(self, error: TellerlineError, *, surely: bool = False) -> None:
        """Say an error, so that it is never silence; `surely` that of a reply, however much waits."""
        reply = self._reply()
        self._answer(Draft(reply, lambda: self._handler.failed(error, reply.id), sorry=True), surely=surely)

    def cut(self, reason: CutReason, reply: ReplyId | None = None) -> bool:
        """Stop the reply that the caller hears, if any (and if it is `reply`, where one is named)."""
        if self._last is None or not self.audible or reply not in {None, self._last.id}:
            return False
        self._stop(self._last, reason)
        return True

    def cancel(self, reply: ReplyId | None, *, said: bool) -> None:
        """Stop the reply that the client does not want. Raises NoSuchReply; one that is all `said` may be meant.

        A reply that was asked for and has not begun is stopped with its first words, as if it had.
        """
        last = self._last
        given = last is not None and (said or last.under_way)
        if self.cut(CutReason.CLIENT_CANCELLED, reply):
            if given:
                return
        elif reply is None and self._asked:
            self._asked = False
            self._empty(ReplyStatus.CANCELLED)
            return
        elif reply is None and last is not None and last.asked and last.under_way:
            last.unwanted = True
            return
        raise NoSuchReply("no reply is being given")

    def withdraw(self, item: ItemId, into: ItemId) -> None:
        """The caller went on after the turn `item`: undo it, if its answer was not heard; `run` tells when it is."""
        if self._last is not None and self.answers(item):
            self._stop(self._last, CutReason.TURN_DETECTED)
            self._queue.put(Fate(self._last, ReplyStep.WITHDRAW, into))

    def played(self, mark: PlaybackIn, at: float, *, speaking: bool) -> None:
        """The client's word on a reply, as of `at`; marks of replies that are no more change nothing."""
        if self._last is None or self._last.id != mark.reply:
            return
        if mark.state is PlaybackState.INTERRUPTED:
            self._unhear(self._last)
            self.cut(CutReason.CLIENT_CANCELLED, mark.reply)
        elif mark.state is PlaybackState.COMPLETED:
            self._heard_out(self._last, at, speaking=speaking)

    def hold(self, on: bool) -> None:
        """The caller is on hold, or back: meanwhile a question is asked again once, and nobody is given up for it."""
        self._on_hold, self._prompted, self._quiet_since = on, False, self._clock.monotonic()

    def released(self) -> None:
        """What was said over the end of a reply was nothing: the reply counts as heard."""
        if self._asked:
            self._nothing_to_say()
        if self._overspoken is not None:
            reply, self._overspoken = self._overspoken, None
            self._deliver(reply, ReplyStep.RELEASE, self._clock.monotonic())

    def tick(self, *, speaking: bool) -> None:
        """Time passes: replies end by estimate, and silence is answered."""
        now = self._clock.monotonic()
        last = self._last
        if last is not None and self._estimated and last.spoken(now):
            self._heard_out(last, now, speaking=speaking)
        if speaking or self.busy or self.audible:
            self._quiet_since = now
        if self._handler.has_news and not (speaking or self.busy or self.audible):
            self._say(self._handler.news)
        quiet_ms = (now - self._quiet_since) * 1000
        waits = self.awaits in {Awaits.ANSWER, Awaits.CONFIRMATION} and not (self._on_hold and self._prompted)
        asked = waits and quiet_ms >= self._timing.silence_prompt_ms
        if asked or (self._owed(last) and quiet_ms >= self._timing.retell_ms):
            self._quiet_since, self._prompted = now, self._on_hold
            self._say(self._handler.silence)

    def run(self) -> AsyncGenerator[ItemId, None]:
        """Do the work until cancelled. Gives each utterance that continues a turn, once that turn was undone for it."""
        return self._queue.run(partial(self.fail, surely=True))

    async def close(self, marks: Iterable[PlaybackIn], *, speaking: bool) -> None:
        """The call is over, and `run` with it: what was heard by then counts, though nobody came to note it."""
        await self._queue.note_heard()
        for mark in marks:
            self.played(mark, self._clock.monotonic(), speaking=speaking)
            await self._queue.note_heard()

    def _owed(self, reply: AgentReply | None) -> bool:
        """Whether the caller's voice cut short what was done, and nothing came of that voice."""
        return reply is not None and reply.cut_by is CutReason.TURN_DETECTED and self._handler.owes

    # Replies

    def _reply(self, item: ItemId | None = None, *, asked: bool = False) -> AgentReply:
        return AgentReply(ReplyId(self._clock.new_id()), item, asked=asked)

    def _answer(self, draft: Draft, *, surely: bool = False) -> None:
        self._queue.put(draft, surely=surely)
        self._last = draft.reply

    def _nothing_to_say(self) -> None:
        """A reply was asked for, and there is nothing to reply to; one that is under way is the one."""
        self._asked = False
        if self._queue.making or (self._last is not None and self._last.under_way):
            if self._last is not None:
                self._last.asked = True
            return
        self._empty(ReplyStatus.COMPLETED)

    def _empty(self, status: ReplyStatus) -> None:
        """A reply without a word."""
        reply, cut = self._reply(), CutReason.CLIENT_CANCELLED if status is ReplyStatus.CANCELLED else None
        self._emit(ReplyBegan(reply.id, None))
        self._emit(ReplyEnded(reply.id, status, "", cut=cut))

    def _say(self, make: Callable[[ReplyId], AsyncIterator[ReplyEvent]], *, asked: bool = False) -> None:
        reply = self._reply(asked=asked)
        self._answer(Draft(reply, lambda: make(reply.id)))

    def _stop(self, reply: AgentReply, reason: CutReason) -> None:
        if not reply.cut(reason):
            return
        if reply.text:
            self._emit(ReplyCut(reply.id, reason))
        self._queue.stop_making()
        if reply.state is ReplyState.CUT:
            self._queue.put(Fate(reply, ReplyStep.CUT))

    def _unhear(self, reply: AgentReply) -> None:
        """It was taken for heard, and was not."""
        if reply.step(ReplyStep.UNHEAR):
            self._queue.put(Fate(reply, ReplyStep.CUT))

    def _heard_out(self, reply: AgentReply, at: float, *, speaking: bool) -> None:
        if not speaking:
            self._deliver(reply, ReplyStep.HEAR, at)
        elif reply.step(ReplyStep.SPEAK_OVER):
            self._overspoken = reply

    def _deliver(self, reply: AgentReply, step: ReplyStep, at: float) -> None:
        if reply.hear(step, at):
            self._queue.put(Fate(reply, ReplyStep.HEAR))
