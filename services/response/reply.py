"""One reply's life, from its place in the queue to the caller's ear. Sans I/O; times are seconds of the call's clock.

queued → making → speaking → said → heard         said → overspoken → heard, if what was said over its end is nothing
making → heard, where there are no words          heard → unheard, if it turns out that it was not
making, speaking → failed                         making, speaking, said, overspoken → cut → withdrawn
queued → withdrawn, where it is cut before it is begun
"""

from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from typing import Final

from schemas.call import CutReason
from schemas.turn import Awaits, ItemId, ReplyId

_PATIENCE: Final = 1.5
_GRACE_S: Final = 3.0
"""A client that never reports playback is taken to have fallen silent after 1.5 times the estimate and 3 s."""


class ReplyState(StrEnum):
    """Where a reply stands."""

    QUEUED = "queued"
    MAKING = "making"  # no words yet
    SPEAKING = "speaking"  # words are on their way to the caller's ear, and more follow
    SAID = "said"  # all words are on their way
    OVERSPOKEN = "overspoken"  # it came to its end while the caller spoke
    HEARD = "heard"
    UNHEARD = "unheard"  # it was taken for heard
    FAILED = "failed"
    CUT = "cut"
    WITHDRAWN = "withdrawn"  # the turn that it answered was undone


class ReplyStep(Enum):
    """What may happen to a reply."""

    BEGIN = auto()
    SPEAK = auto()
    END = auto()
    FAIL = auto()
    SPEAK_OVER = auto()
    HEAR = auto()
    RELEASE = auto()
    UNHEAR = auto()
    CUT = auto()
    WITHDRAW = auto()


_S, _E = ReplyState, ReplyStep
NEXT: Final = {
    (_S.QUEUED, _E.BEGIN): _S.MAKING,
    (_S.MAKING, _E.SPEAK): _S.SPEAKING,
    (_S.SPEAKING, _E.SPEAK): _S.SPEAKING,
    (_S.MAKING, _E.END): _S.HEARD,  # without a word there is nothing to wait for
    (_S.SPEAKING, _E.END): _S.SAID,
    (_S.MAKING, _E.FAIL): _S.FAILED,
    (_S.SPEAKING, _E.FAIL): _S.FAILED,
    (_S.SAID, _E.SPEAK_OVER): _S.OVERSPOKEN,
    (_S.SAID, _E.HEAR): _S.HEARD,
    (_S.OVERSPOKEN, _E.RELEASE): _S.HEARD,  # what was said over its end was nothing
    (_S.HEARD, _E.UNHEAR): _S.UNHEARD,
    (_S.QUEUED, _E.CUT): _S.WITHDRAWN,  # nothing came of the turn yet
    (_S.MAKING, _E.CUT): _S.CUT,
    (_S.SPEAKING, _E.CUT): _S.CUT,
    (_S.SAID, _E.CUT): _S.CUT,
    (_S.OVERSPOKEN, _E.CUT): _S.CUT,
    (_S.CUT, _E.WITHDRAW): _S.WITHDRAWN,
}
"""Every step that is legal; any other changes nothing."""


@dataclass(slots=True)
class AgentReply:
    """One reply; `item` is the utterance that it answers."""

    id: ReplyId
    item: ItemId | None = None
    state: ReplyState = ReplyState.QUEUED
    awaits: Awaits = Awaits.NOTHING
    cut_by: CutReason | None = None
    text: str = ""
    began_at: float = 0.0
    heard_at: float = 0.0
    mute: bool = False
    """Whether it was to be spoken and could not be: it is not taken for heard."""
    asked: bool = False
    """Whether the client asked for it: what it cancels before anything begins is this one."""
    unwanted: bool = False
    """Whether it was cancelled before it began: no more than its first words go out."""
    speaking_s: float = 0.0

    @property
    def under_way(self) -> bool:
        """Whether it is yet to be made, or more of it is to come."""
        return self.state in {ReplyState.QUEUED, ReplyState.MAKING, ReplyState.SPEAKING}

    @property
    def cut_in_making(self) -> bool:
        """Whether it was stopped with its first words, as it had been cancelled before them."""
        return self.unwanted and self.state is ReplyState.CUT

    @property
    def heard(self) -> bool:
        """Whether it came to its end in the caller's ear, or was taken for having come."""
        return self.state in {ReplyState.HEARD, ReplyState.UNHEARD}

    def step(self, step: ReplyStep) -> bool:
        """Take a step, if it is legal now; whether it was."""
        after = NEXT.get((self.state, step))
        self.state = after or self.state
        return after is not None

    def speak(self, text: str, seconds: float, lead_s: float, now: float) -> bool:
        """More words, with what joins them to those before. They take about `seconds`; whether they are the first."""
        first = self.state is ReplyState.MAKING
        if not self.step(ReplyStep.SPEAK):
            return False
        if first:
            self.began_at, self.speaking_s = now, lead_s
        self.text += text
        self.speaking_s += seconds
        return first

    @property
    def ends_at(self) -> float:
        """When a voice has said all that was given out so far."""
        return self.began_at + self.speaking_s

    def sound(self, seconds: float, now: float) -> None:
        """So much of it was given out as sound, which is heard after what was given out before."""
        self.speaking_s = max(self.ends_at, now) + seconds - self.began_at

    def end(self, awaits: Awaits) -> None:
        """All of it was given out."""
        if self.step(ReplyStep.END):
            self.awaits = awaits

    def hear(self, step: ReplyStep, at: float) -> bool:
        """It was heard out, by `step`; whether it could be."""
        if not self.step(step):
            return False
        self.heard_at = at
        return True

    def cut(self, reason: CutReason) -> bool:
        """Stop it; whether it could still be stopped."""
        if not self.step(ReplyStep.CUT):
            return False
        self.cut_by = reason
        return True

    def spoken(self, now: float) -> bool:
        """Whether a voice would have said all of it by now."""
        return self.state is ReplyState.SAID and not self.mute and now >= self.ends_at

    def surely_over(self, now: float) -> bool:
        """Whether it must be over, although nobody said so."""
        over = self.began_at + self.speaking_s * _PATIENCE + _GRACE_S
        return self.state in {ReplyState.SAID, ReplyState.OVERSPOKEN} and now >= over

    def audible(self, now: float) -> bool:
        """Whether the caller may be hearing it now."""
        return self.state in {ReplyState.SPEAKING, ReplyState.SAID} and not self.surely_over(now)

    def over(self, now: float) -> bool:
        """Whether nothing more of it will be heard."""
        ended = {ReplyState.HEARD, ReplyState.UNHEARD, ReplyState.CUT, ReplyState.WITHDRAWN}
        return self.state in ended or self.surely_over(now)
