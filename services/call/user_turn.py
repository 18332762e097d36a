"""What the caller said, typed or keyed in one go, for as long as they may still go on with it."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Final

from rules.locales import space
from schemas.ids import RuleId
from schemas.transcript import Hypothesis, Source, Transcript
from schemas.turn import ItemId

_POLL_S: Final = 0.03
"""How often it is looked whether the turn is over, where nothing is heard that would tell."""


@dataclass(frozen=True, slots=True)
class UserTurn:
    """One turn to be answered, which `rule` ended.

    `since` is when its last sound had arrived or it was typed, and `moments` are named, in seconds of the clock;
    `voiced_until_ms` is its last voiced sample in the call's audio.
    """

    item: ItemId
    transcript: Transcript
    source: Source
    rule: RuleId
    voiced_until_ms: int
    since: float
    moments: Mapping[str, float]

    def after(self, first: "UserTurn") -> "UserTurn":
        """Both as one: the caller had gone on with `first`."""
        return replace(self, transcript=joined(first.transcript, self.transcript))

    def along_with(self, first: "UserTurn") -> "UserTurn":
        """Both as one, which was being said since the first was."""
        return replace(self.after(first), since=min(first.since, self.since))


class Life(Enum):
    """OPEN → COMMITTED or CUT, or OPEN → FOLLOWED → CONTINUED."""

    OPEN = auto()
    COMMITTED = auto()
    """Something irrevocable was begun for it: what is said now comes after it."""
    CUT = auto()
    """Nothing is done for it."""
    FOLLOWED = auto()
    """Another turn came after it: of its own, unless something irrevocable is to be done for this one."""
    CONTINUED = auto()
    """Nothing is done for it alone: its words belong to the turn that followed."""


class Commitment:
    """Whether what nothing takes back may be done for a turn: once it is `over`, as its floor tells."""

    def __init__(self, turn: UserTurn, over: Callable[[UserTurn], bool]) -> None:
        self.turn = turn
        self.life = Life.OPEN
        self._over = over
        self._told = asyncio.Event()
        self._waits = False

    @property
    def waits(self) -> bool:
        """Whether something irrevocable is to be done for it, and only time or sound is awaited."""
        return self._waits and not self._told.is_set()

    def after(self, first: UserTurn) -> None:
        """The caller had gone on with `first`, whose words come before."""
        self.turn = self.turn.after(first)

    def along_with(self, held: "Commitment") -> None:
        """A turn that was held back is answered with this one."""
        self.turn = self.turn.along_with(held.turn)

    def followed(self) -> None:
        """Another turn came after it."""
        self._turns(OPEN=Life.FOLLOWED)
        self._told.set()

    def look(self) -> None:
        """Something was heard: it may be over now."""
        self._told.set()

    async def commit(self) -> None:
        """Return once the turn is over, which lets something irrevocable be done for it; at once the next time.

        Raises CancelledError where the caller goes on instead.
        """
        try:
            while self.life is Life.OPEN and not self._over(self.turn):
                await self._listen()
        except asyncio.CancelledError:
            self._turns(OPEN=Life.CUT, FOLLOWED=Life.CONTINUED)
            raise
        self._turns(OPEN=Life.COMMITTED, FOLLOWED=Life.CONTINUED)
        if self.life is not Life.COMMITTED:
            raise asyncio.CancelledError

    def _turns(self, **after: Life) -> None:
        self.life = after.get(self.life.name, self.life)

    async def _listen(self) -> None:
        """Until something is heard, for a moment at most."""
        self._told.clear()
        self._waits = True
        wait = asyncio.ensure_future(self._told.wait())
        try:
            await asyncio.wait({wait}, timeout=_POLL_S)
        finally:
            self._waits = False
            wait.cancel()


def joined(first: Transcript, then: Transcript) -> Transcript:
    """Two turns' words as those of one, said in one language: the second's source and the doubts of both."""
    between = space(then.locale)
    hypotheses = tuple(
        Hypothesis(f"{a.text}{between}{b.text}", min(a.avg_logprob, b.avg_logprob))
        for a in first.hypotheses[:1]
        for b in then.hypotheses
    )
    text, whole = f"{first.text}{between}{then.text}", first.whole and then.whole
    return replace(then, text=text, hypotheses=hypotheses, whole=whole, decodes=first.decodes + then.decodes)
