"""The pipeline as one live call drives it: its turns, each put on record, and what became of its replies."""

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import Final

from schemas.decision import Reply
from schemas.errors import TellerlineError
from schemas.ids import Locale, ProposalId, RuleId
from schemas.interpretation import Interpretation
from schemas.transcript import Transcript
from schemas.transfer import Owed, Proposal
from schemas.turn import Awaits, ReadBackReady, ReplyEvent, ReplyId
from services.call.on_record import put_on_record
from services.dialogue import ProposalResumed, ReadbackDelivered, ReadbackUnheard, Silence
from services.execution import ActionExecutor, Banking, Deeds, News, Tidings
from services.interpretation import Interpreter
from services.observability import Stamps
from services.pipeline import Pipeline, ReplyEvents
from services.ports import Amendable, Answerer, Extractor
from services.record import TurnRecorder, TurnTrace
from services.response import ResponseRenderer, said_as
from services.session import Caller, DialogueSession, ExtractionStage

_RECORD_S: Final = 0.4
"""The least that the database has for a turn's record, where the answer took long: what comes next waits for it."""


class Agent:
    """One call's `TurnHandler`."""

    def __init__(
        self,
        caller: Caller,
        banking: Banking,
        answerer: Answerer,
        extractor: Extractor | None,
        recorder: TurnRecorder,
        pending: Proposal | None = None,
        owed: Sequence[Owed] = (),
    ) -> None:
        """`owed` is what the customer has yet to be told the end of, `pending` what a dropped call left unanswered."""
        self.caller = caller
        self._pending = pending
        self._clock = banking.clock
        self._recorder = recorder
        self._executor = ActionExecutor(banking, caller.customer, caller.call)
        self._news = News(self._executor, owed)
        self._session = DialogueSession(banking.clock, caller)
        self._interpreter = Interpreter(caller.index, banking.clock.monotonic)
        self._deeds = Deeds(self._executor, self._news, self._session)
        self._tidings = Tidings(self._session, self._deeds, self._news)
        extraction = ExtractionStage(caller.customer, self._session, extractor, recorder)
        renderer = ResponseRenderer(answerer, caller.customer, caller.profile.zone)
        self._pipeline = Pipeline(self._interpreter, extraction, self._session, self._deeds, self._tidings, renderer)
        self._answering: ReplyId | None = None
        self._confirmable: tuple[ReplyId, ProposalId] | None = None

    # What the live call asks

    def interpret(self, transcript: Transcript) -> Interpretation:
        """The words that are meant and what they mean, in the dialogue's present state; kept for `take`."""
        found = self._interpreter.meant(transcript, self._session.context)
        return replace(found, binding=self._session.binds(found), leads_in=self._session.leads_nowhere(found))

    def wordings(self, transcript: Transcript) -> tuple[str, ...]:
        """The same words with each payee who may be meant, where it is not clear who is."""
        return self._interpreter.wordings(transcript, self._session.context)

    def foreseen(self, words: Transcript | Interpretation, *, whole: bool) -> str:
        """The words that would probably answer these; none where that is not known."""
        if isinstance(words, Transcript):
            words = self._interpreter.interpret(words, self._session.context)
        reply = self._session.foreseen(words, whole=whole)
        return "" if reply is None else said_as(reply, words.transcript.locale).text

    @property
    def locale(self) -> Locale:
        """The language that is spoken now."""
        return self._session.locale

    @property
    def owes(self) -> bool:
        """Whether something was done, or decided behind a stopped reply, that the caller has not heard of."""
        return bool(self._session.untold) or self._deeds.waiting

    @property
    def has_news(self) -> bool:
        """Whether there is something to be told, and nothing else to be answered."""
        return self._news.waiting and self._session.idle

    # Replies

    def take(self, transcript: Transcript, reply: ReplyId, turn: Amendable | None = None) -> AsyncIterator[ReplyEvent]:
        """Decide and act on a turn."""
        return self._recorded(reply, lambda trace: self._pipeline.utterance(transcript, trace, turn))

    def silence(self, reply: ReplyId) -> AsyncIterator[ReplyEvent]:
        """What to say when the caller says nothing."""
        return self._recorded(reply, self._silent)

    def failed(self, error: TellerlineError, reply: ReplyId) -> AsyncIterator[ReplyEvent]:
        """What to say after an error."""
        return self._recorded(reply, lambda trace: self._owned_up(error, trace))

    def welcome(self, reply: ReplyId, locale: Locale) -> AsyncIterator[ReplyEvent]:
        """What to say to a caller who has not said anything, where the client wants the first word said."""
        self._session.locale = locale
        return self._recorded(reply, self._welcomed)

    def greeting(self, reply: ReplyId, locale: Locale) -> AsyncIterator[ReplyEvent] | None:
        """What became of earlier transfers, and what a dropped call left to be confirmed, read back anew."""
        pending, self._pending = self._pending, None
        if pending is None and not self._news.waiting:
            return None
        self._session.locale = locale
        if pending is None:
            return self.news(reply)
        return self._recorded(reply, lambda trace: self._taken_up(pending, trace))

    def news(self, reply: ReplyId) -> AsyncIterator[ReplyEvent]:
        """What became of transfers whose end the caller waits for."""
        return self._recorded(reply, self._told)

    async def _silent(self, trace: TurnTrace) -> ReplyEvents:
        made = self._caught_up(trace) if self._deeds.speaks else self._pipeline.event(Silence(), trace)
        async for event in made:
            yield event

    async def _caught_up(self, trace: TurnTrace) -> ReplyEvents:
        for told in self._tidings.first(trace.reply):
            yield told
        self._tidings.told(trace.reply)
        trace.awaits = Awaits.NOTHING if self._session.idle else Awaits.ANSWER
        yield trace.done()

    async def _owned_up(self, error: TellerlineError, trace: TurnTrace) -> ReplyEvents:
        failed = await self._deeds.own_up(error)
        made = self._caught_up(trace) if failed is None else self._pipeline.event(failed, trace)
        async for event in made:
            yield event

    async def _taken_up(self, pending: Proposal, trace: TurnTrace) -> ReplyEvents:
        self._executor.take_up(pending)
        yield ReadBackReady(pending)
        async for event in self._pipeline.event(ProposalResumed(pending), trace):
            yield event

    async def _welcomed(self, trace: TurnTrace) -> ReplyEvents:
        yield said_as(Reply(RuleId("say.greeting")), self._session.locale)
        yield trace.done()

    async def _told(self, trace: TurnTrace) -> ReplyEvents:
        for event in self._tidings.unasked(trace.reply):
            yield event
        yield trace.done()

    async def _recorded(self, reply: ReplyId, turn: Callable[[TurnTrace], ReplyEvents]) -> AsyncIterator[ReplyEvent]:
        """Carry a turn out, and put it on record however far it comes."""
        self._answering = reply
        self._session.begin()
        self._deeds.begin()
        trace = TurnTrace(reply, Stamps(self._clock.monotonic))
        try:
            async with contextlib.aclosing(turn(trace)) as events:
                async for event in events:
                    yield event
        finally:
            await put_on_record(self._recorder, trace, self._deeds.time.left(_RECORD_S))

    # What became of a reply, and of the call

    async def withdraw(self, reply: ReplyId) -> bool:
        """Undo the turn that `reply` answered, if nothing irrevocable came of it."""
        return reply == self._answering and await self._deeds.withdraw()

    async def delivered(self, reply: ReplyId) -> None:
        """The caller heard all of `reply`: a read-back may now be confirmed, and what it told of is known."""
        self._session.heard(reply)
        await self._news.heard(reply)
        proposal = self._session.read_back_by(reply)
        if proposal is not None and await self._executor.delivered():
            self._session.decide(ReadbackDelivered(proposal))
            self._confirmable = reply, proposal

    async def interrupted(self, reply: ReplyId) -> None:
        """The caller did not hear all of `reply`: a read-back must be heard again, though it was taken for heard."""
        self._news.unheard(reply)
        self._session.read_back_by(reply)  # it is asked for once
        match self._confirmable:
            case (confirmable, proposal) if confirmable == reply:
                self._session.decide(ReadbackUnheard(proposal))

    async def close(self, *, hung_up: bool = False) -> None:
        """The call is over. What was read back may be taken up by the customer's next call, unless they hung up."""
        try:
            await self._deeds.close(hung_up=hung_up)
        finally:
            await self._news.close()
        await self._recorder.event("call.ended")
