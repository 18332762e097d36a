"""The pipeline: one call's turns, each in a straight line.

transcript ─ interpret (normalise → payees → understand) ─┬─ clear ─────────────┬─ decide ─┬─ execute → decide …
                                                          └─ ambiguous: extract ┘          └─ render → reply
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from schemas.decision import Confirm
from schemas.transcript import Transcript
from schemas.turn import Decided, Normalized, PayeesMatched, ReadBackReady, ReplyEvent, TransferMoved
from services.dialogue import Event, Proposed, QuestionUnanswered, TransferSettled
from services.execution import MOST_STEPS, Deeds, Tidings, acts
from services.interpretation import Interpreter
from services.observability import Stamp
from services.ports import Amendable
from services.record import TurnTrace
from services.response import ResponseRenderer
from services.session import DialogueSession, ExtractionStage

ReplyEvents = AsyncGenerator[ReplyEvent, None]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The stages of one call. What they say is the reply to `trace`'s turn; `trace` follows how far it came."""

    interpreter: Interpreter
    extraction: ExtractionStage
    session: DialogueSession
    deeds: Deeds
    tidings: Tidings
    renderer: ResponseRenderer

    async def utterance(self, transcript: Transcript, trace: TurnTrace, turn: Amendable | None) -> ReplyEvents:
        """From words to their answer. What can't be undone waits for the end of `turn`; without one they are whole."""
        self.session.locale = transcript.locale
        interpretation, stamps = self.interpreter.take(transcript, self.session.context)
        trace.interpreted(interpretation, stamps)
        yield Normalized(interpretation.spans)
        if interpretation.payees is not None:
            yield PayeesMatched(interpretation.payees)
        async for said in self.event(await self.extraction.event(interpretation, trace), trace, turn):
            yield said

    async def event(self, event: Event, trace: TurnTrace, turn: Amendable | None = None) -> ReplyEvents:
        """Decide, act on it, decide on what came of that, until there are words to be said."""
        for told in self.tidings.first(trace.reply):
            yield told
        for _ in range(MOST_STEPS):
            decision = self.deeds.person() or await self.deeds.decided(event, turn)
            if not isinstance(event, QuestionUnanswered) and trace.reveals(decision):
                yield Decided(trace.understood, decision)
            if not acts(decision):
                if isinstance(decision, Confirm):
                    self.session.reads_back(trace.reply)
                async for said in self.renderer.render(decision, self.session.locale, trace, asks=self.session.asks):
                    yield said
                if trace.unanswered is None:
                    break
                event, trace.unanswered = QuestionUnanswered(trace.unanswered), None
                continue
            with trace.stamps.between(Stamp.TOOL_VALIDATION_START, Stamp.TOOL_VALIDATION_END):
                event = await self.deeds.carry_out(decision)
            if isinstance(event, Proposed):
                yield ReadBackReady(event.proposal)
            if isinstance(event, TransferSettled):
                yield TransferMoved(event.receipt)
                self.deeds.note(event.receipt)
        self.tidings.told(trace.reply)
        yield trace.done()
