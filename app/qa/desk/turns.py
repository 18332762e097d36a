"""Recorded turns as the desk lists them: what of each can be asked for, found without its words."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from app.qa.desk.failing import failures_of
from app.qa.desk.reviews import Review, ReviewState
from app.qa.replay.judging.failures import TurnFailure
from app.recordings.files import RecordedTurn
from schemas.decision import DecisionKind
from schemas.errors import BadInput

MAX_PAGE: Final = 100
"""Turns of one page, and of one sample."""


@dataclass(frozen=True, slots=True)
class ListedTurn:
    """A recorded turn without anything that was said. `first` is who reviewed it first, `why` what was then wrong."""

    call: str
    turn: int
    at: datetime
    locale: str
    intent: str | None
    decision: str | None
    outcome: str | None
    confidence: float
    error: str | None
    money: bool
    withheld: bool
    state: ReviewState
    first: str | None
    why: tuple[TurnFailure, ...] = ()

    @classmethod
    def of(cls, call: str, locale: str, turn: RecordedTurn, review: Review) -> "ListedTurn":
        """A turn of a call, as far as it was reviewed."""
        return cls(
            call=call,
            turn=turn.turn,
            at=turn.at,
            locale=locale,
            intent=turn.intent,
            decision=turn.decision,
            outcome=turn.outcome,
            confidence=turn.confidence,
            error=turn.error,
            money=bool(turn.money) or turn.proposal is not None,
            withheld=turn.withheld,
            state=review.state,
            first=review.first,
            why=failures_of(turn, locale, review.labels),
        )

    def failed(self, person: str) -> tuple[TurnFailure, ...]:
        """Why it failed, as far as `person` may know: another's first look is not shown before one's own."""
        known = self.state is not ReviewState.REVIEWED or self.first == person
        return self.why if known else ()

    @property
    def handed_off(self) -> bool:
        """Whether the turn led to a person."""
        return DecisionKind.HANDOFF in {self.decision, self.outcome}

    @property
    def place(self) -> tuple[datetime, str, int]:
        """Where it stands in the list, whose order is newest first."""
        return self.at, self.call, self.turn


@dataclass(frozen=True, slots=True)
class Filters:
    """Which turns are asked for; what is None is not asked about.

    `below` is a confidence. `to_review_by` is a person: only turns that still want a look of theirs. `failure` is a
    group of failures by its id, as far as `asked_by` may know it.
    """

    intent: str | None = None
    decision: str | None = None
    state: ReviewState | None = None
    locale: str | None = None
    handoff: bool | None = None
    error: bool | None = None
    money: bool | None = None
    below: float | None = None
    since: datetime | None = None
    until: datetime | None = None
    to_review_by: str | None = None
    failure: str | None = None
    asked_by: str = ""

    def fit(self, turn: ListedTurn) -> bool:
        """Whether a turn is asked for."""
        return (
            self.intent in {None, turn.intent}
            and (self.decision is None or self.decision in {turn.decision, turn.outcome})
            and self.state in {None, turn.state}
            and self.locale in {None, turn.locale}
            and self.handoff in {None, turn.handed_off}
            and self.error in {None, turn.error is not None}
            and self.money in {None, turn.money}
            and (self.below is None or turn.confidence < self.below)
            and (self.since is None or turn.at >= self.since)
            and (self.until is None or turn.at < self.until)
            and (self.failure is None or self.failure in {found.id for found in turn.failed(self.asked_by)})
            and (self.to_review_by is None or self._wanted(turn))
        )

    def _wanted(self, turn: ListedTurn) -> bool:
        if turn.withheld or turn.state is ReviewState.SETTLED:
            return False
        return turn.state is not ReviewState.REVIEWED or turn.first != self.to_review_by


@dataclass(frozen=True, slots=True)
class Page:
    """Turns in order; `after` asks for what follows, None where nothing does. `total` counts all that fit."""

    turns: tuple[ListedTurn, ...]
    total: int
    after: str | None


def page(turns: Iterable[ListedTurn], filters: Filters, limit: int, after: str | None) -> Page:
    """The newest `limit` turns that fit, or those that follow the place `after`. Raises BadInput."""
    begin = None if after is None else _place(after)
    fitting = sorted((turn for turn in turns if filters.fit(turn)), key=lambda turn: turn.place, reverse=True)
    left = fitting if begin is None else [turn for turn in fitting if _micros(turn) < begin]
    shown = left[:limit]
    return Page(tuple(shown), len(fitting), _named(shown[-1]) if len(left) > limit else None)


def sample(turns: Iterable[ListedTurn], filters: Filters, size: int, seed: str) -> Page:
    """`size` of the turns that fit, the same for the same seed; turns that come or go change no other one's luck."""
    fitting = [turn for turn in turns if filters.fit(turn)]
    drawn = sorted(fitting, key=lambda turn: _lot(turn, seed))[:size]
    return Page(tuple(sorted(drawn, key=lambda turn: turn.place, reverse=True)), len(fitting), None)


def _lot(turn: ListedTurn, seed: str) -> bytes:
    return hashlib.sha256(f"{seed}\0{turn.call}\0{turn.turn}".encode()).digest()


def _micros(turn: ListedTurn) -> tuple[int, str, int]:
    return round(turn.at.timestamp() * 1_000_000), turn.call, turn.turn


def _named(turn: ListedTurn) -> str:
    return "~".join(map(str, _micros(turn)))


def _place(after: str) -> tuple[int, str, int]:
    parts: Sequence[str] = after.split("~")
    if len(parts) != 3 or not (parts[0].isdecimal() and parts[2].isdecimal()):  # noqa: PLR2004 - time, call, turn
        raise BadInput("`after` is a place that an earlier page named")
    return int(parts[0]), parts[1], int(parts[2])
