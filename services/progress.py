"""How far one turn has come: what was seen and decided, by which models, and when."""

from dataclasses import dataclass, field

from schemas.decision import Decision, DecisionKind
from schemas.intent import Understood
from schemas.turn import Awaits, ModelUse
from services.look import Looked
from services.observe import Stamps


@dataclass(slots=True)
class Progress:
    """One turn so far. `looked` is None where nobody spoke; `finished` once all of its reply was given out."""

    stamps: Stamps
    looked: Looked | None = None
    shown: Decision | None = None
    awaits: Awaits = Awaits.NOTHING
    models: list[ModelUse] = field(default_factory=list)
    finished: bool = False

    @property
    def understood(self) -> Understood:
        """What was understood."""
        return self.looked.understood if self.looked else Understood(None)

    def reveals(self, decision: Decision) -> bool:
        """Whether `decision` says something new of the turn; an answer only when it comes first."""
        if self.shown is not None and decision.kind in {self.shown.kind, DecisionKind.ANSWER}:
            return False
        self.shown = decision
        return True
