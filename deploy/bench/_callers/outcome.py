"""What became of a caller's task."""

from dataclasses import dataclass, field
from typing import Final

from deploy.bench._callers.data import CallerTask, Goal

CODE: Final = "{code}"
"""Said for the one-time code, which the caller looks up."""


@dataclass(slots=True)
class TaskOutcome:
    """What became of a task. `said` holds every sentence with the kind of the answer to it."""

    task: CallerTask
    goal: Goal
    said: list[tuple[str, str]] = field(default_factory=list)
    success: bool = False
    at_once: bool = False
    reworded: bool = False
    needed: int = 0
    read_backs: int = 0
    wrong_read_backs: int = 0
    old_order_again: int = 0
    wrong_money: int = 0
    booked: int = 0
    why: str = ""

    @property
    def spare(self) -> bool:
        """Whether no sentence was too many."""
        return self.success and len([text for text, _ in self.said if text != CODE]) <= self.needed
