"""How far one turn has come: what was heard and decided, by which models, and when."""

from dataclasses import dataclass, field

from schemas.decision import Decision, DecisionKind
from schemas.ids import RuleId
from schemas.intent import Understood
from schemas.interpretation import Interpretation
from schemas.turn import Awaits, ModelUse, ReplyDone, ReplyId
from services.observability import Stamp, Stamps


@dataclass(slots=True)
class TurnTrace:
    """One turn so far, which `reply` answers. `finished` once all of the reply was given out."""

    reply: ReplyId
    stamps: Stamps
    interpretation: Interpretation | None = None
    """None where nobody spoke."""
    shown: Decision | None = None
    awaits: Awaits = Awaits.NOTHING
    unanswered: RuleId | None = None
    """How it is told that no document answers what was asked, where that is yet to be said."""
    models: list[ModelUse] = field(default_factory=list)
    finished: bool = False

    @property
    def understood(self) -> Understood:
        """What was understood."""
        return self.interpretation.understood if self.interpretation else Understood(None)

    def interpreted(self, interpretation: Interpretation, stamps: Stamps) -> None:
        """Words were taken; `stamps` began when they were interpreted, perhaps ahead of the turn's end."""
        stamps.mark(Stamp.REQUEST_RECEIVED)
        self.interpretation, self.stamps = interpretation, stamps

    def reveals(self, decision: Decision) -> bool:
        """Whether `decision` says something new of the turn; an answer only when it comes first."""
        if self.shown is not None and decision.kind in {self.shown.kind, DecisionKind.ANSWER}:
            return False
        self.shown = decision
        return True

    def done(self) -> ReplyDone:
        """All of the reply was given out."""
        self.finished = True
        return ReplyDone(self.awaits, self.stamps.stages_ms(), tuple(self.models))
