"""The dialogue as a pure reducer: `decide(state, event, facts)` gives the next state and one decision."""

from services.decide.dialogue import context_of, decide, voided
from services.decide.events import (
    ActionDone,
    ActionFailed,
    Event,
    Extracted,
    Facts,
    NoMatch,
    Proposed,
    ReadbackDelivered,
    ReadbackInterrupted,
    Silence,
    StepUpFailed,
    StepUpPassed,
    StepUpStarted,
    TransferSettled,
    UtteranceUnderstood,
)
from services.decide.state import DialogueState, Offer, Phase, Task, dump, restore

__all__ = [
    "ActionDone",
    "ActionFailed",
    "DialogueState",
    "Event",
    "Extracted",
    "Facts",
    "NoMatch",
    "Offer",
    "Phase",
    "Proposed",
    "ReadbackDelivered",
    "ReadbackInterrupted",
    "Silence",
    "StepUpFailed",
    "StepUpPassed",
    "StepUpStarted",
    "Task",
    "TransferSettled",
    "UtteranceUnderstood",
    "context_of",
    "decide",
    "dump",
    "restore",
    "voided",
]
