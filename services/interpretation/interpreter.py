"""One call's transcripts, each interpreted once: what was done ahead of a turn's end serves the turn itself."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from schemas.intent import Context, Understood
from schemas.interpretation import Interpretation
from schemas.transcript import Transcript
from services.interpretation.stages import InterpretationContext, interpret
from services.interpretation.two_breaths import gone_on
from services.observability import Stamp, Stamps
from services.payees import PayeeIndex
from services.understanding.nbest.rescore import rescored


@dataclass(frozen=True, slots=True)
class _Ahead:
    """A transcript in a context, interpreted before its turn."""

    key: tuple[Transcript, Context, date]
    interpretation: Interpretation
    stamps: Stamps


class Interpreter:
    """Interprets for a caller with these payees. `tick` is the clock of the stages' durations, in seconds."""

    def __init__(self, payees: PayeeIndex, tick: Callable[[], float] = lambda: 0.0) -> None:
        self._payees = payees
        self._tick = tick
        self._ahead: _Ahead | None = None
        self._before = ""

    def meant(self, transcript: Transcript, context: InterpretationContext) -> Interpretation:
        """The same hypotheses, led by the one that is meant (see `rescored`), and what it means."""

        def meaning(led: Transcript) -> Understood:
            return self.interpret(led, context).understood

        return self.interpret(rescored(transcript, context.asked, meaning), context)

    def wordings(self, transcript: Transcript, context: InterpretationContext) -> tuple[str, ...]:
        """The same words with each payee who may be meant, where callers would be asked which one is."""
        return self._payees.wordings(transcript.text, self.interpret(transcript, context).payees)

    def interpret(self, transcript: Transcript, context: InterpretationContext) -> Interpretation:
        """What `transcript` means in this context; kept until `take` or another one. Raises UnsupportedLocale."""
        return self._interpreted(transcript, context).interpretation

    def take(self, transcript: Transcript, context: InterpretationContext) -> tuple[Interpretation, Stamps]:
        """The same for the turn itself, with when it was done: nothing is kept, and an amount may be gone on with."""
        found, self._ahead = self._interpreted(transcript, context), None
        amount = found.interpretation.understood.slots.amount
        self._before = amount.evidence.surface if amount is not None else ""
        return found.interpretation, found.stamps

    def _interpreted(self, transcript: Transcript, context: InterpretationContext) -> _Ahead:
        key = (transcript, context.asked, context.now.date())
        if self._ahead is None or self._ahead.key != key:
            stamps = Stamps(self._tick)
            found = interpret(transcript, context, self._payees, stamps)
            if self._before and context.amount_open:
                again = Stamps(self._tick)
                found = gone_on(self._before, found, lambda said: interpret(said, context, self._payees, again))
                stamps.at[Stamp.UNDERSTANDING_END] = self._tick()
            self._ahead = _Ahead(key, found, stamps)
        return self._ahead
