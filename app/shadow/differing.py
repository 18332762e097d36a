"""What two pipelines made of one turn, value by value."""

from collections.abc import Iterable
from typing import Final

from pydantic import BaseModel, ConfigDict, JsonValue

from app.recordings.files import RecordedMove, RecordedTurn
from schemas.intent import Intent, Route

SHADOW_FILE: Final = "shadow.json"
HEARD: Final = "heard"
SLOT: Final = "slot "
READ_BACK: Final = "read back"
BOOKED: Final = "booked"
_ANSWERED: Final = frozenset({"outcome", "reply"})
"""What depends on documents, models that answer, and movements: the other has none of the live ones."""
NEEDS_HISTORY: Final = frozenset({Intent.RECENT_TRANSACTIONS})
"""What is told depends on movements that no snapshot has."""
_PLAIN: Final = ("intent", "route", "decision", "outcome", "reply", "payee")

Differs = dict[str, tuple[JsonValue, JsonValue]]
"""By the value's name: here, and there."""


class ShadowedTurn(BaseModel):
    """A turn in which the other made something else of what was said."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    turn: int
    differs: Differs

    @property
    def money(self) -> bool:
        """Whether other money would have been read back or booked."""
        return not {READ_BACK, BOOKED}.isdisjoint(self.differs)


class ShadowRecord(BaseModel):
    """What the `other` pipeline made of a call: how many turns went through both, those that differ, why it ended."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    other: str
    compared: int = 0
    turns: tuple[ShadowedTurn, ...] = ()
    left: str | None = None


def differences(here: RecordedTurn, there: RecordedTurn) -> Differs:
    """Every value that is another. Marks and letters' cases are none: nobody says them."""
    found: Differs = {}
    if _sounds(here.text) != _sounds(there.text):
        found[HEARD] = here.text, there.text
    answered = here.route == Route.QNA or here.intent in NEEDS_HISTORY
    for name in _PLAIN:
        pair = getattr(here, name), getattr(there, name)
        if pair[0] != pair[1] and not (answered and name in _ANSWERED):
            found[name] = pair
    for name in sorted({*here.slots, *there.slots}):
        mine, others = (turn.slots[name].value if name in turn.slots else None for turn in (here, there))
        if mine != others:
            found[f"{SLOT}{name}"] = mine, others
    for name, pair in (
        (READ_BACK, (_moves(filter(None, [here.proposal])), _moves(filter(None, [there.proposal])))),
        (BOOKED, (_moves(here.money), _moves(there.money))),
    ):
        if pair[0] != pair[1]:
            found[name] = pair
    return found


def _sounds(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def _moves(moves: Iterable[RecordedMove]) -> list[JsonValue]:
    return [move.model_dump(exclude_none=True) for move in moves]
