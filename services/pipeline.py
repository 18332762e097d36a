"""The pipeline: one call's turns, each in a straight line.

transcript ─ interpret (normalise → payees → understand) ─┬─ clear ─────────────┬─ decide ─┬─ execute → decide …
                                                          └─ ambiguous: extract ┘          └─ render → reply
"""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Final

from schemas.decision import Confirm, Decision, Execute
from schemas.errors import DependencyFailed, TimedOut
from schemas.ids import CustomerId
from schemas.intent import Route, Understood
from schemas.interpretation import Interpretation
from schemas.transcript import Transcript
from schemas.turn import Decided, ModelUse, Normalized, PayeesMatched, ReadBackReady, ReplyEvent, TransferMoved
from services.dialogue import Event, Proposed, TransferSettled, UserUtterance
from services.execution import Deeds, News
from services.interpretation import Interpreter
from services.observability.metrics import Stamp
from services.ports import Amendable, Extractor
from services.record import TurnRecorder, TurnTrace
from services.response.renderer import ResponseRenderer, said_as
from services.session import DialogueSession

ReplyEvents = AsyncGenerator[ReplyEvent, None]
_MAX_STEPS: Final = 8
"""Decisions one utterance may lead to; the longest way (confirm, step up, submit, say) takes four."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The stages of one call. What they say is the reply to `trace`'s turn; `trace` follows how far it came."""

    customer: CustomerId
    session: DialogueSession
    interpreter: Interpreter
    extractor: Extractor | None
    deeds: Deeds
    renderer: ResponseRenderer
    news: News
    recorder: TurnRecorder

    async def utterance(self, transcript: Transcript, trace: TurnTrace, turn: Amendable | None) -> ReplyEvents:
        """From words to their answer. What can't be undone waits for the end of `turn`; without one they are whole."""
        self.session.locale = transcript.locale
        interpretation, stamps = self.interpreter.take(transcript, self.session.context)
        trace.interpreted(interpretation, stamps)
        yield Normalized(interpretation.spans)
        if interpretation.payees is not None:
            yield PayeesMatched(interpretation.payees)
        async for said in self.event(await self._meant(interpretation, trace), trace, turn):
            yield said

    async def event(self, event: Event, trace: TurnTrace, turn: Amendable | None = None) -> ReplyEvents:
        """Decide, act on it, decide on what came of that, until there are words to be said."""
        for told in self._first(trace):
            yield told
        for _ in range(_MAX_STEPS):
            decision = await self._decided(event, turn)
            if trace.reveals(decision):
                yield Decided(trace.understood, decision)
            if not isinstance(decision, Execute) and (not isinstance(decision, Confirm) or decision.reply):
                async for said in self._said(decision, trace):
                    yield said
                break
            with trace.stamps.between(Stamp.TOOL_VALIDATION_START, Stamp.TOOL_VALIDATION_END):
                event = await self.deeds.carry_out(decision)
            if isinstance(event, Proposed):
                yield ReadBackReady(event.proposal)
            if isinstance(event, TransferSettled):
                yield TransferMoved(event.receipt)
                self.deeds.note(event.receipt)
        self.session.tells(trace.reply)
        self.news.telling(trace.reply)
        yield trace.done()

    def tidings(self, trace: TurnTrace) -> Iterator[ReplyEvent]:
        """All the news there is, as part of the reply."""
        for item in self.news.take(trace.reply):
            yield TransferMoved(item.receipt)
            yield said_as(self.session.notice(item), self.session.locale)

    def _first(self, trace: TurnTrace) -> Iterator[ReplyEvent]:
        """What has to be said before anything else: what was done and not yet heard of, and news."""
        for reply in (*self.session.untold, *self.deeds.unsaid()):
            yield said_as(reply, self.session.locale)
        yield from self.tidings(trace)

    async def _meant(self, found: Interpretation, trace: TurnTrace) -> Event:
        """The utterance as an event of the dialogue; by the extraction model only where the fast path can't tell."""
        text, understood = found.transcript.text, found.understood
        if not found.transcript.whole and self.session.binds(found):
            return UserUtterance("", Understood(None))
        if understood.route is not Route.EXTRACT or self.extractor is None:
            return UserUtterance(text, understood)
        with trace.stamps.between(Stamp.LLM_REQUEST_START, Stamp.LLM_REQUEST_END):
            try:
                chosen = await self.extractor.extract(self.customer, self.session.offer(found))
            except (DependencyFailed, TimedOut) as error:
                self.recorder.error(error)
                trace.models.append(ModelUse("extract", "", outcome=error.code))
                return UserUtterance(text, understood)
        trace.models.append(ModelUse("extract", chosen.model, chosen.prompt_version, chosen.fallback.value))
        return UserUtterance(text, understood, chosen)

    async def _decided(self, event: Event, turn: Amendable | None) -> Decision:
        """On what can't be undone once the turn is over, by what is known then. Until then nothing holds."""
        if turn is not None and self.session.would_bind(event):
            await turn.commit()
        decision = self.session.decide(event)
        if self.session.voids:
            await self.deeds.void()
        return decision

    def _said(self, decision: Decision, trace: TurnTrace) -> AsyncIterator[ReplyEvent]:
        if isinstance(decision, Confirm):
            self.session.reads_back(trace.reply)
        return self.renderer.render(decision, self.session.locale, trace, asks=self.session.asks)
