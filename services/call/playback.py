"""What is known of a reply on its way to the caller's ear. Sans I/O; times are seconds of the call's clock."""

from dataclasses import dataclass, field
from typing import Final

from schemas.call import CutReason
from schemas.turn import Awaits, ItemId, ReplyId

_PATIENCE: Final = 1.5
_GRACE_S: Final = 3.0
"""A client that never reports playback is taken to have fallen silent after 1.5 times the estimate and 3 s."""


@dataclass(slots=True)
class Playback:
    """One reply. It is audible from its first words until it was delivered or cut, or must be over."""

    reply: ReplyId
    item: ItemId | None
    text: list[str] = field(default_factory=list)
    began_at: float | None = None
    speaking_s: float = 0.0
    started: bool = False
    done: bool = False
    awaits: Awaits = Awaits.NOTHING
    delivered: bool = False
    spoken_over: bool = False
    cut: CutReason | None = None

    def say(self, text: str, seconds: float, lead_s: float, now: float) -> None:
        """More words, which take about `seconds` to speak."""
        if self.began_at is None:
            self.began_at, self.speaking_s = now, lead_s
        self.text.append(text)
        self.speaking_s += seconds

    def spoken(self, now: float) -> bool:
        """Whether a voice would have said all of it by now."""
        return self.done and now >= (self.began_at or now) + self.speaking_s

    def surely_over(self, now: float) -> bool:
        """Whether it must be over, although nobody said so."""
        return self.done and now >= (self.began_at or now) + self.speaking_s * _PATIENCE + _GRACE_S

    def audible(self, now: float) -> bool:
        """Whether the caller may be hearing it now."""
        ended = self.delivered or self.spoken_over or self.cut is not None
        return self.began_at is not None and not ended and not self.surely_over(now)
