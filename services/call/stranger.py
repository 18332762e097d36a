"""A caller of whom nobody has said who they are: open questions are answered, for anything else a person is brought in.

There is no bank behind this handler: it knows no accounts and no payees, and can carry nothing out.
"""

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import replace
from typing import Final

from schemas.decision import Answer, Clarify, Decision, Handoff, Reply
from schemas.errors import TellerlineError
from schemas.ids import CustomerId, Locale, RuleId
from schemas.intent import Intent
from schemas.interpretation import Interpretation
from schemas.transcript import Transcript
from schemas.turn import Decided, Normalized, ReplyEvent, ReplyId
from services.call.on_record import put_on_record
from services.dialogue import ActionFailed, Event, QuestionUnanswered, Silence, UserUtterance
from services.interpretation import Interpreter
from services.observability import Stamps
from services.ports import Amendable, Answerer, Clock
from services.record import TurnRecorder, TurnTrace
from services.response import ResponseRenderer, said_as
from services.session import Caller, DialogueSession

NOBODY: Final = CustomerId("")
"""No credential can name this customer."""
_OPEN: Final = frozenset(
    {
        None,
        Intent.QNA,
        Intent.HUMAN_HANDOFF,
        Intent.REPEAT,
        Intent.WAIT,
        Intent.FAREWELL,
        Intent.CANCEL,
        Intent.CONFIRM,
        Intent.DENY,
        Intent.START_OVER,
    }
)
"""What a stranger may want: nothing that is about anybody."""
_PERSON: Final = frozenset({"offer.human", "offer.person", "offer.person_for_it"})
"""Offers that need to know nothing about a caller."""
_RECORD_S: Final = 1.0
"""So long the database has for a turn's record: what comes next waits for it."""
_Turn = AsyncGenerator[ReplyEvent, None]


class Stranger:
    """One call's `TurnHandler`. `caller` is nobody in particular: the profile serves to understand words alone."""

    owes = False
    has_news = False

    def __init__(self, clock: Clock, caller: Caller, answerer: Answerer, recorder: TurnRecorder) -> None:
        self._clock = clock
        self._session = DialogueSession(clock, caller)
        self._interpreter = Interpreter(caller.index, clock.monotonic)
        self._renderer = ResponseRenderer(answerer, caller.customer, caller.profile.zone)
        self._recorder = recorder

    @property
    def locale(self) -> Locale:
        """The language that is spoken now."""
        return self._session.locale

    def interpret(self, transcript: Transcript) -> Interpretation:
        """What the words mean. They bind where they end the call: for a person."""
        found = self._interpreter.meant(transcript, self._session.context)
        said = UserUtterance(found.transcript.text, found.understood)
        binding = isinstance(for_a_stranger(said, self._session.would(said)), Handoff)
        return replace(found, binding=binding, leads_in=self._session.leads_nowhere(found))

    def wordings(self, transcript: Transcript) -> tuple[str, ...]:
        """None: a stranger has no payees."""
        del transcript
        return ()

    def foreseen(self, words: Transcript | Interpretation, *, whole: bool) -> str:
        """Not worth the while: a stranger is answered in fixed words."""
        del words, whole
        return ""

    def take(self, transcript: Transcript, reply: ReplyId, turn: Amendable | None = None) -> AsyncIterator[ReplyEvent]:
        """Answer, or bring in a person."""
        return self._recorded(reply, lambda trace: self._utterance(transcript, trace, turn))

    def failed(self, error: TellerlineError, reply: ReplyId) -> AsyncIterator[ReplyEvent]:
        """What to say after an error."""
        return self._recorded(reply, lambda trace: self._said(ActionFailed(error.code, error.spoken), trace))

    def silence(self, reply: ReplyId) -> AsyncIterator[ReplyEvent]:
        """What to say when the caller says nothing."""
        return self._recorded(reply, lambda trace: self._said(Silence(), trace))

    def news(self, reply: ReplyId) -> AsyncIterator[ReplyEvent]:
        """There is none."""
        return self._recorded(reply, self._nothing)

    def welcome(self, reply: ReplyId, locale: Locale) -> AsyncIterator[ReplyEvent]:
        """The first word."""
        self._session.locale = locale
        return self._recorded(reply, self._welcomed)

    def greeting(self, reply: ReplyId, locale: Locale) -> AsyncIterator[ReplyEvent] | None:  # noqa: ARG002 - nobody is owed a word
        """Nothing has to be heard before anything else."""
        self._session.locale = locale
        return None

    async def withdraw(self, reply: ReplyId) -> bool:  # noqa: ARG002 - whichever it is
        """Nothing came of the turn but words."""
        self._session.take_back()
        return True

    async def delivered(self, reply: ReplyId) -> None:
        """Nothing depends on it."""

    async def interrupted(self, reply: ReplyId) -> None:
        """Nothing depends on it."""

    async def close(self, *, hung_up: bool = False) -> None:  # noqa: ARG002 - nothing was left to be taken up
        """The call is over."""
        await self._recorder.event("call.ended")

    async def _utterance(self, transcript: Transcript, trace: TurnTrace, turn: Amendable | None) -> _Turn:
        self._session.locale = transcript.locale
        found, stamps = self._interpreter.take(transcript, self._session.context)
        trace.interpreted(found, stamps)
        yield Normalized(found.spans)
        said = UserUtterance(found.transcript.text, found.understood)
        if turn is not None and isinstance(for_a_stranger(said, self._session.would(said)), Handoff):
            await turn.commit()
        async with contextlib.aclosing(self._said(said, trace)) as events:
            async for event in events:
                yield event

    async def _said(self, event: Event, trace: TurnTrace) -> _Turn:
        decision = self._session.decide(event)
        allowed = for_a_stranger(event, decision)
        if allowed is not decision:
            self._session.take_back()
        if trace.reveals(allowed):
            yield Decided(trace.understood, allowed)
        async for said in self._renderer.render(allowed, self._session.locale, trace, asks=self._session.asks):
            yield said
        if trace.unanswered is not None:
            offer = self._session.decide(QuestionUnanswered(trace.unanswered))
            async for said in self._renderer.render(offer, self._session.locale, trace, asks=self._session.asks):
                yield said
        yield trace.done()

    async def _welcomed(self, trace: TurnTrace) -> _Turn:
        yield said_as(Reply(RuleId("say.greeting")), self._session.locale)
        yield trace.done()

    async def _nothing(self, trace: TurnTrace) -> _Turn:
        yield trace.done()

    async def _recorded(self, reply: ReplyId, turn: Callable[[TurnTrace], _Turn]) -> AsyncIterator[ReplyEvent]:
        """Carry a turn out, and put it on record however far it comes."""
        self._session.begin()
        trace = TurnTrace(reply, Stamps(self._clock.monotonic))
        try:
            async with contextlib.aclosing(turn(trace)) as events:
                async for event in events:
                    yield event
        finally:
            await put_on_record(self._recorder, trace, _RECORD_S)


def for_a_stranger(event: Event, decision: Decision) -> Decision:
    """The decision, where it is one for a stranger; otherwise a person."""
    wanted = event.understood.intent if isinstance(event, UserUtterance) else None
    open_ended = isinstance(decision, Answer | Handoff) or (isinstance(decision, Clarify) and not _offers(decision))
    if wanted in _OPEN and open_ended:
        return decision
    return Handoff(Reply(RuleId("handoff.stranger")))


def _offers(question: Clarify) -> bool:
    """Whether something is asked or offered that needs to know who is calling."""
    return question.slot is not None or (question.reply.id.startswith("offer.") and question.reply.id not in _PERSON)
