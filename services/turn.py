"""The pipeline: one call's turns, each from transcript to reply in a straight line.

look (normalise → payees → understand) → extract, where only a model can tell → decide → perform → say
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass
from typing import Final

from schemas.decision import (
    Confirm,
    Decision,
    Execute,
    LockCard,
    Reply,
    SubmitTransfer,
    UnlockCard,
    VerifyStepUp,
)
from schemas.errors import DependencyFailed, TellerlineError, TimedOut
from schemas.ids import Locale
from schemas.intent import Route
from schemas.transcript import Transcript
from schemas.transfer import Proposal
from schemas.turn import (
    Completeness,
    Decided,
    ModelUse,
    Normalized,
    PayeesMatched,
    ReadBackReady,
    ReplyDone,
    ReplyEvent,
    ReplyId,
    TransferMoved,
)
from services.decide import (
    ActionFailed,
    DialogueState,
    Event,
    Extracted,
    Proposed,
    ReadbackDelivered,
    ReadbackInterrupted,
    Resumed,
    Silence,
    TransferSettled,
    UtteranceUnderstood,
    decide,
    voided,
)
from services.finish import finish
from services.look import Looked, completeness
from services.observe import Stamp, Stamps
from services.perform import Performer
from services.ports import Answerer, Clock, CoreBank, Extractor
from services.progress import Progress
from services.record import Recorder
from services.saying import Sayer, said_as
from services.sight import Caller, Sight
from services.understand.ground import offer_of

log = logging.getLogger(__name__)

_IRREVOCABLE: Final = (LockCard, UnlockCard, SubmitTransfer, VerifyStepUp)
_Events = AsyncGenerator[ReplyEvent, None]
_MAX_STEPS: Final = 8
"""Decisions one utterance may lead to; the longest way (confirm, step up, submit, say) takes four."""


@dataclass(frozen=True, slots=True)
class TurnParts:
    """What turns are made with."""

    clock: Clock
    bank: CoreBank
    performer: Performer
    answerer: Answerer
    recorder: Recorder
    extractor: Extractor | None = None


class Turn:
    """One call's `TurnHandler`."""

    def __init__(self, parts: TurnParts, caller: Caller, pending: Proposal | None = None) -> None:
        """`pending` is what a dropped call left to be confirmed: it is read back first."""
        self._pending = pending
        self._parts = parts
        self._customer = caller.customer
        self._sight = Sight(parts.clock, caller)
        self._sayer = Sayer(parts.answerer, caller.customer)
        self._state = DialogueState()
        self._before = self._state
        self._answering: ReplyId | None = None
        self._read_back: ReplyId | None = None
        self._irrevocable = False
        self._unsaid: tuple[Reply, ...] = ()

    # What the live call asks

    def rescore(self, transcript: Transcript) -> Transcript:
        """The same hypotheses, led by the one that is meant."""
        return self._sight.rescore(transcript, self._state)

    def judge(self, transcript: Transcript) -> Completeness:
        """How complete the words are, in the dialogue's present state."""
        return completeness(self._sight.look(transcript, self._state).looked)

    def speculate(self, transcript: Transcript) -> None:
        """Look ahead and keep what was seen."""
        self._sight.look(transcript, self._state)

    def take(self, transcript: Transcript, reply: ReplyId) -> AsyncIterator[ReplyEvent]:
        """Decide and act on a turn."""
        return self._recorded(reply, lambda progress: self._taken(transcript, progress))

    def silence(self, reply: ReplyId) -> AsyncIterator[ReplyEvent]:
        """What to say when the caller says nothing."""
        return self._recorded(reply, lambda progress: self._converse(Silence(), progress))

    def failed(self, error: TellerlineError, reply: ReplyId) -> AsyncIterator[ReplyEvent]:
        """What to say after an error."""
        failure = ActionFailed(error.code, error.spoken)
        return self._recorded(reply, lambda progress: self._converse(failure, progress))

    def greeting(self, reply: ReplyId, locale: Locale) -> AsyncIterator[ReplyEvent] | None:
        """What a dropped call left to be confirmed, read back anew."""
        pending, self._pending = self._pending, None
        if pending is None:
            return None
        return self._recorded(reply, lambda progress: self._taken_up(pending, locale, progress))

    async def withdraw(self, reply: ReplyId) -> bool:
        """Undo the turn that `reply` answered, if nothing irrevocable came of it."""
        if reply != self._answering or self._irrevocable:
            return False
        proposed = self._state.proposal is not None and self._state.proposal != self._before.proposal
        self._state, self._read_back = self._before, None
        if proposed:
            await self._parts.performer.void()
        return True

    async def delivered(self, reply: ReplyId) -> None:
        """The caller heard all of `reply`: a read-back may now be confirmed."""
        if reply != self._read_back or self._state.proposal is None:
            return
        self._read_back = None
        if await self._parts.performer.delivered():
            self._decide(ReadbackDelivered(self._state.proposal))

    async def interrupted(self, reply: ReplyId) -> None:
        """The caller did not hear all of `reply`: a read-back must be heard again."""
        if reply == self._read_back and self._state.proposal is not None:
            self._read_back = None
            self._decide(ReadbackInterrupted(self._state.proposal))

    async def close(self, *, hung_up: bool = False) -> None:
        """The call is over. What was read back may be taken up by the customer's next call, unless they hung up."""
        if hung_up and self._state.proposal is not None:
            await self._parts.performer.void()
        await self._parts.recorder.event("call.ended")

    # A turn, from its words to its record

    async def _recorded(self, reply: ReplyId, turn: Callable[[Progress], _Events]) -> AsyncIterator[ReplyEvent]:
        """Carry a turn out, and put it on record however far it comes."""
        self._answering, self._before, self._irrevocable = reply, self._state, False
        progress = Progress(Stamps(self._parts.clock.monotonic))
        try:
            async with contextlib.aclosing(turn(progress)) as events:
                async for event in events:
                    yield event
        except BaseException:
            await self._record_cut(progress)
            raise
        await self._parts.recorder.turn(progress)

    async def _record_cut(self, progress: Progress) -> None:
        """A turn that was stopped, or failed. That it can't be put on record must not hide why it ended so."""
        try:
            await finish(self._parts.recorder.turn(progress))
        except TellerlineError as error:
            log.error("a turn that was cut is not on record: %s", error.code)  # noqa: TRY400 - its cause is known

    async def _taken(self, transcript: Transcript, progress: Progress) -> _Events:
        self._sight.locale = transcript.locale
        seen = self._sight.take(transcript, self._state)
        seen.stamps.mark(Stamp.REQUEST_RECEIVED)
        progress.stamps, progress.looked = seen.stamps, seen.looked
        yield Normalized(seen.looked.heard.spans)
        if seen.looked.heard.payees is not None:
            yield PayeesMatched(seen.looked.heard.payees)
        async for event in self._converse(await self._meaning(seen.looked, progress), progress):
            yield event

    async def _taken_up(self, pending: Proposal, locale: Locale, progress: Progress) -> _Events:
        self._sight.locale, self._parts.performer.proposal = locale, pending
        yield ReadBackReady(pending)
        async for event in self._converse(Resumed(pending), progress):
            yield event

    async def _meaning(self, looked: Looked, progress: Progress) -> Event:
        """The utterance as an event of the dialogue; by the extraction model only where the fast path can't tell."""
        text, understood = looked.heard.transcript.text, looked.understood
        extractor = self._parts.extractor
        if understood.route is not Route.EXTRACT or extractor is None:
            return UtteranceUnderstood(text, understood)
        offer = offer_of(looked.heard, self._state.asked)
        with progress.stamps.between(Stamp.LLM_REQUEST_START, Stamp.LLM_REQUEST_END):
            try:
                chosen = await extractor.extract(self._customer, offer)
            except (DependencyFailed, TimedOut) as error:
                self._parts.recorder.error(error)
                progress.models.append(ModelUse("extract", "", outcome=error.code))
                return UtteranceUnderstood(text, understood)
        progress.models.append(ModelUse("extract", chosen.model, chosen.prompt_version, chosen.fallback.value))
        return Extracted(text, understood, chosen)

    def _decide(self, event: Event) -> Decision:
        self._state, decision = decide(self._state, event, self._sight.facts)
        return decision

    async def _converse(self, event: Event, progress: Progress) -> _Events:
        """Decide, act on it, decide on what came of that, until there are words to be said."""
        unsaid, self._unsaid = self._unsaid, ()
        for reply in unsaid:
            yield said_as(reply, self._sight.locale)
        for _ in range(_MAX_STEPS):
            before = self._state
            decision = self._decide(event)
            if voided(before, self._state):
                await self._parts.performer.void()
            if progress.reveals(decision):
                yield Decided(progress.understood, decision)
            if not isinstance(decision, Execute) and (not isinstance(decision, Confirm) or decision.reply):
                if isinstance(decision, Confirm):
                    self._read_back = self._answering
                async for said in self._sayer.say(decision, self._state, self._sight.locale, progress):
                    yield said
                break
            with progress.stamps.between(Stamp.TOOL_VALIDATION_START, Stamp.TOOL_VALIDATION_END):
                event = await self._act(decision)
            if isinstance(event, Proposed):
                yield ReadBackReady(event.proposal)
            if isinstance(event, TransferSettled):
                yield TransferMoved(event.receipt)
        progress.stamps.mark(Stamp.RESPONSE_SENT)
        progress.finished = True
        yield ReplyDone(progress.awaits, progress.stamps.stages_ms(), tuple(progress.models))

    async def _act(self, decision: Execute | Confirm) -> Event:
        """Carry out a decision. Barge-in stops the reply, never this."""
        if isinstance(decision, Execute):
            self._irrevocable = self._irrevocable or isinstance(decision.action, _IRREVOCABLE)
            work = self._parts.performer.perform(decision.action)
        else:
            work = self._parts.performer.propose(decision.order)
        task = asyncio.ensure_future(work)
        try:
            event = await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(self._absorb)
            raise
        if self._irrevocable:
            await self._refresh()
        return event

    async def _refresh(self) -> None:
        """Balances and locks have changed; the old ones serve where the bank can't be asked."""
        with contextlib.suppress(TellerlineError):
            self._sight.profile = await self._parts.bank.profile(self._customer)

    def _absorb(self, task: "asyncio.Task[Event]") -> None:
        """What came of an action whose reply was stopped: the dialogue knows it, and says it next."""
        if not task.cancelled() and task.exception() is None:
            decision = self._decide(task.result())
            if not isinstance(decision, Execute) and decision.reply is not None:
                self._unsaid = (*self._unsaid, decision.reply)
