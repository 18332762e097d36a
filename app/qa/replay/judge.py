"""One turn against what should have happened: money first, then everything else."""

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from pydantic import JsonValue

from app.qa.replay.manifest import Expectation, ExpectedSpan, MoneyMove, OneOf
from app.qa.replay.record import SpanRecord, TurnRecord
from app.qa.replay.words import Errors, character_errors, word_errors

RECALL_AT: Final = (1, 3, 5)


class MoneyVerdict(StrEnum):
    """What became of money in a turn. FALSE_ACCEPT: something was booked that should not have been."""

    RIGHT = "right"
    FALSE_ACCEPT = "false_accept"
    WRONG_READ_BACK = "wrong_read_back"
    MISSED = "missed"


@dataclass(frozen=True, slots=True)
class Tally:
    """Found and expected items of one kind."""

    right: int = 0
    spurious: int = 0
    missed: int = 0


@dataclass(frozen=True, slots=True)
class Judgement:
    """A turn judged. A None is "not judged": the manifest says nothing of it."""

    money: MoneyVerdict | None = None
    words: Errors | None = None
    characters: Errors | None = None
    exact: bool | None = None
    intent: bool | None = None
    decision: bool | None = None
    outcome: bool | None = None
    reply: bool | None = None
    route: bool | None = None
    payee_rank: int | None = None
    payee_choice: bool | None = None
    spans: dict[str, Tally] = field(default_factory=dict)
    slots: dict[str, Tally] = field(default_factory=dict)

    @property
    def right(self) -> bool | None:
        """Whether the turn ended as it should; a misheard word alone is not a failure. None where nothing is judged."""
        if self.money is None:
            return None
        parts = (self.intent, self.decision, self.outcome, self.reply, self.route, self.payee_choice)
        slots = not any(t.spurious or t.missed for t in self.slots.values())
        return self.money is MoneyVerdict.RIGHT and slots and False not in parts


def judge(turn: TurnRecord) -> Judgement:
    """Judge a turn by its expectation."""
    expect = turn.expect
    if expect is None:
        return Judgement()
    said = expect.transcript
    words = None if said is None else word_errors(said, turn.heard, turn.locale)
    return Judgement(
        money=money_verdict(turn, expect),
        words=words,
        characters=None if said is None else character_errors(said, turn.heard, turn.locale),
        exact=None if words is None else words.edits == 0,
        intent=_among(turn.intent, expect.intent),
        decision=_among(turn.decision, expect.decision),
        outcome=_among(turn.outcome or turn.decision, expect.outcome),
        reply=_among(turn.reply, expect.reply),
        route=_among(turn.route, expect.route),
        payee_rank=_rank(turn, expect.payee),
        payee_choice=_choice(turn, expect.payee),
        spans={} if expect.spans is None else _spans(turn.spans, expect.spans),
        slots={} if expect.slots is None else _slots(turn.slots, expect.slots),
    )


def money_verdict(turn: TurnRecord, expect: Expectation) -> MoneyVerdict:
    """Booked money that was not asked for is the worst; a read-back of the wrong order comes next."""
    wanted, booked = Counter(map(_key, expect.money)), Counter(map(_key, turn.money))
    if booked - wanted - Counter(map(_key, turn.owed)):
        return MoneyVerdict.FALSE_ACCEPT
    if turn.proposal is not None and _contradicts(turn.proposal, expect):
        return MoneyVerdict.WRONG_READ_BACK
    return MoneyVerdict.MISSED if wanted - booked else MoneyVerdict.RIGHT


def owed_after(turn: TurnRecord) -> tuple[MoneyMove, ...]:
    """What the call should have booked by the end of `turn` and has not."""
    wanted = (*turn.owed, *(turn.expect.money if turn.expect else ()))
    booked = Counter(map(_key, turn.money))
    left: list[MoneyMove] = []
    for move in wanted:
        if booked[_key(move)]:
            booked[_key(move)] -= 1
        else:
            left.append(move)
    return tuple(left)


def _key(move: MoneyMove) -> tuple[int, str, str | None, str | None]:
    return move.amount_minor, move.currency, move.payee, move.to_account


def _contradicts(proposal: MoneyMove, expect: Expectation) -> bool:
    if expect.decision is not None and not _among("confirm", expect.decision):
        return True
    if expect.payee is not None and proposal.payee is not None and proposal.payee != expect.payee:
        return True
    amount = (expect.slots or {}).get("amount")
    return amount is not None and not same_value(
        {"amount_minor": proposal.amount_minor, "currency": proposal.currency}, amount
    )


def _among(got: str | None, wanted: OneOf | None) -> bool | None:
    if wanted is None:
        return None
    return got == wanted if isinstance(wanted, str) else got in wanted


def _rank(turn: TurnRecord, wanted: str | None) -> int | None:
    """The place of the payee among the candidates, from 1; 0 when absent."""
    if wanted is None:
        return None
    ids = [c.id for c in turn.payee.candidates] if turn.payee else []
    return ids.index(wanted) + 1 if wanted in ids else 0


def _choice(turn: TurnRecord, wanted: str | None) -> bool | None:
    """Right where the payee meant was chosen, or asked about; wrong where another was, or it was not found."""
    if wanted is None:
        return None
    if turn.payee is None:
        return turn.slots.get("payee") == wanted
    return turn.payee.choice == wanted or (turn.payee.choice is None and bool(_rank(turn, wanted)))


def same_value(got: JsonValue, wanted: JsonValue) -> bool:
    """Equal, where an amount without a currency fits any."""
    if isinstance(got, dict) and isinstance(wanted, dict) and "amount_minor" in wanted:
        currencies = {got.get("currency"), wanted.get("currency")} - {None}
        return got.get("amount_minor") == wanted["amount_minor"] and len(currencies) <= 1
    return got == wanted


def _spans(got: tuple[SpanRecord, ...], wanted: tuple[ExpectedSpan, ...]) -> dict[str, Tally]:
    left = list(wanted)
    counts: dict[str, list[int]] = {}
    for span in got:
        count = counts.setdefault(span.kind, [0, 0, 0])
        match = next((w for w in left if w.kind == span.kind and same_value(span.value, w.value)), None)
        if match is None:
            count[1] += 1
        else:
            count[0] += 1
            left.remove(match)
    for absent in left:
        counts.setdefault(absent.kind, [0, 0, 0])[2] += 1
    return {kind: Tally(*count) for kind, count in sorted(counts.items())}


def _slots(got: dict[str, JsonValue], wanted: dict[str, JsonValue]) -> dict[str, Tally]:
    tallies: dict[str, Tally] = {}
    for name in sorted({*got, *wanted}):
        if name not in wanted:
            tallies[name] = Tally(spurious=1)
        elif name not in got:
            tallies[name] = Tally(missed=1)
        else:
            right = same_value(got[name], wanted[name])
            tallies[name] = Tally(right=int(right), spurious=int(not right), missed=int(not right))
    return tallies
