"""Step-up challenges."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Challenge:
    """A second factor being asked for. `channel` is speakable ("the app", "SMS"); the code itself is never here."""

    id: str
    purpose: str
    channel: str
    expires_at: datetime
