"""What a search made of one place of an utterance, and how much that is worth."""

from typing import Final, NamedTuple

from schemas.payee import MatchOutcome
from services.payees.decide import Decision
from services.payees.spans import Cue, Place

_SURE_ANYWHERE: Final = 0.6
"""How likely somebody must be where nothing but the name itself says that one stands there."""
_SURE_ALONE: Final = 0.4
_SURE_COMMON: Final = 0.6
_FAINT: Final = 0.1
"""From here on, bare words are taken for a name, though nobody in the book is likely meant."""

Ranked = list[tuple[int, float]]
"""Positions in the book with probabilities, best first."""
Searched = dict[tuple[tuple[str, ...], tuple[int, ...], float], tuple[Ranked, Decision]]
"""What came of names that were sought in one index: hypotheses, favoured payees, least likeness."""


class PayeeSearchResult(NamedTuple):
    """What a search made of one place."""

    place: Place
    ranked: Ranked
    decision: Decision

    @property
    def somebody(self) -> float:
        """The probability that somebody in the book is meant."""
        return sum(probability for _, probability in self.ranked)

    @property
    def worth(self) -> tuple[bool, float, Cue, int, int]:
        """What makes a place the likelier one: somebody is found, how surely, how strongly the words point there."""
        named = self.decision.outcome is not MatchOutcome.NOBODY
        top = self.ranked[0][1] if self.ranked else 0.0
        return (
            named,
            round(top, 1) if named else 0.0,
            self.place.cue,
            self.place.end - self.place.start,
            -self.place.start,
        )

    @property
    def credible(self) -> bool:
        """Whether a name was said here at all."""
        if self.decision.outcome is MatchOutcome.NOBODY:
            faint = self.place.cue is Cue.ALONE and self.somebody >= _FAINT
            return (self.place.cue is Cue.PAYEE or faint) and not self.place.common
        sure = {Cue.NONE: _SURE_ANYWHERE, Cue.ALONE: _SURE_ALONE}.get(self.place.cue, 0.0)
        return self.somebody >= max(sure, _SURE_COMMON if self.place.common else 0.0)

    @property
    def settled(self) -> bool:
        """Whether no other place can be the likelier one."""
        return self.place.cue is Cue.PAYEE and not self.place.narrow and self.decision.outcome is MatchOutcome.CLEAR

    def careful(self) -> Decision:
        """The decision, but a name that more words may belong to is asked about."""
        if self.place.narrow and self.decision.outcome is MatchOutcome.CLEAR:
            return Decision(MatchOutcome.ASK, 1)
        return self.decision
