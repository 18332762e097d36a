"""What else hears of a recorded call."""

from typing import Protocol

from app.recordings.files import RecordedTurn
from schemas.audio import Samples
from schemas.turn import ReplyId


class CallShadow(Protocol):
    """Another pipeline's side of a call: what is recorded goes there too. Nothing of it waits, or raises."""

    def turn(self, reply: ReplyId, here: RecordedTurn, samples: Samples | None, facts: bytes | None) -> None:
        """A turn was recorded. `facts` is what the call knows of its caller, as JSON."""
        ...

    def withdrawn(self) -> None:
        """The turn before came to nothing."""
        ...

    def heard(self, reply: ReplyId, *, whole: bool) -> None:
        """The caller heard a reply, or part of it."""
        ...

    def silence(self, reply: ReplyId) -> None:
        """Nothing was said for long."""
        ...

    def leave(self, why: str) -> None:
        """Tell nothing more of it."""
        ...

    def over(self) -> None:
        """The caller hung up."""
        ...
