"""Where a replayed conversation parts from the recorded one, and what its caller would have said next.

What the old assistant asked stands in the labels of the turn before. A recorded answer is said only to the question
that it answered; a yes, besides, only to the same read-back.
"""

from dataclasses import dataclass, field

from pydantic import JsonValue

from app.qa.replay.judging.judge import same_move, same_value
from app.qa.replay.manifests.manifest import Case, Expectation, MoneyMove, OneOf
from app.qa.replay.records.record import TurnRecord
from schemas.decision import DecisionKind

_ORDER = {"payee": "payee", "source": "source", "target": "to_account"}
"""Slots of an order, and what they are called where it is read back."""


@dataclass(slots=True)
class RecordedScript:
    """The recorded turns of a call in the order in which they are said; without `follow` that is their own."""

    case: Case
    follow: bool
    partings: dict[int, str] = field(default_factory=dict)
    """By turn what the run says of what was asked after it."""

    def after(self, turn: TurnRecord) -> int | None:
        """The turn that is said next, from 1; None where the call ends here."""
        following = turn.turn + 1
        if following > len(self.case.turns):
            return None
        if not self.follow or self._answers(turn, following) is not False:
            return following
        found = next((n for n in range(following + 1, len(self.case.turns) + 1) if self._answers(turn, n)), None)
        was = _told(_kinds(self.case.turns[turn.turn - 1].expect), _replies(self.case.turns[turn.turn - 1].expect))
        now = turn.error or _told(turn.outcome or turn.decision, turn.reply or "")
        then = f"goes on with turn {found}" if found else "stops: no recorded turn answers that"
        self.partings[turn.turn] = f"was {was}, is {now}; {then}"
        return found

    def _answers(self, turn: TurnRecord, number: int) -> bool | None:
        """Whether the recorded turn `number` answered what is asked now; None where nobody says what it answered."""
        if turn.error is not None:
            return False
        expect = self.case.turns[number - 2].expect
        kinds, replies = _kinds(expect), _replies(expect)
        if kinds is None and replies is None:
            return None
        kind = turn.outcome or turn.decision
        same = _among(kind, kinds) and _among(turn.reply, replies)
        return same and (kind != DecisionKind.CONFIRM or self._same_order(turn.proposal, number))

    def _same_order(self, proposal: MoneyMove | None, number: int) -> bool:
        """Whether what is read back is what was read back before the recorded turn `number`, as far as labels say."""
        if proposal is None:
            return True
        slots: dict[str, JsonValue] = {}
        for turn in self.case.turns[: number - 1]:
            slots |= (turn.expect.slots if turn.expect else None) or {}
        answer = self.case.turns[number - 1].expect
        if answer is not None and answer.moves:
            return any(same_move(proposal, move) for move in answer.moves)
        amount: JsonValue = {"amount_minor": proposal.amount_minor, "currency": proposal.currency}
        if "amount" in slots and not same_value(amount, slots["amount"]):
            return False
        named = ((slots[slot], getattr(proposal, name)) for slot, name in _ORDER.items() if slot in slots)
        return all(wanted == got for wanted, got in named if got is not None)


def _kinds(expect: Expectation | None) -> OneOf | None:
    """What the recorded turn ended in."""
    return None if expect is None else expect.outcome or expect.decision


def _replies(expect: Expectation | None) -> OneOf | None:
    return None if expect is None else expect.reply


def _among(got: str | None, wanted: OneOf | None) -> bool:
    return wanted is None or (got == wanted if isinstance(wanted, str) else got in wanted)


def _told(kind: OneOf | None, reply: OneOf | None) -> str:
    """A question in words."""
    parts = (part if isinstance(part, str) else "|".join(part or ()) for part in (kind, reply))
    return " ".join(part for part in parts if part) or "nothing known"
