"""What an utterance says to the dialogue, by the extraction model only where the fast path can't tell."""

from dataclasses import dataclass

from schemas.errors import DependencyFailed, TimedOut
from schemas.ids import CustomerId
from schemas.intent import Route, Understood
from schemas.interpretation import Interpretation
from schemas.turn import ModelUse
from services.dialogue import UserUtterance
from services.observability import Stamp
from services.ports import Extractor
from services.record import TurnRecorder, TurnTrace
from services.session.session import DialogueSession


@dataclass(frozen=True, slots=True)
class ExtractionStage:
    """One call's. Without an `extractor`, and where it fails, the caller is asked."""

    customer: CustomerId
    session: DialogueSession
    extractor: Extractor | None
    recorder: TurnRecorder

    async def event(self, found: Interpretation, trace: TurnTrace) -> UserUtterance:
        """The utterance as the dialogue takes it; words that were cut off and would bind are none."""
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
