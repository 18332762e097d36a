"""A turn's outcome value by value, and whether each is right: what two runs are compared by."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import orjson
from pydantic import JsonValue

from app.qa.replay.judging.judge import MoneyVerdict, figures, judge, money_verdict, same_value
from app.qa.replay.manifests.manifest import Expectation, MoneyMove, OneOf, by_people
from app.qa.replay.records.record import TurnRecord
from schemas.money import EXPONENTS

MONEY_SLOTS: Final = frozenset({"amount", "payee", "source", "target", "bill", "portion"})
"""Slots whose value decides where money goes and how much of it."""
READ_BACK, BOOKED, EFFECTS, SAID, ERROR = "read back", "booked", "changed at the bank", "values said", "error"
DOUBTS = "doubts said"
_OUTCOMES: Final = frozenset({READ_BACK, BOOKED, EFFECTS, SAID, DOUBTS})
_MONEY: Final = frozenset({*_OUTCOMES, *(f"slot {name}" for name in MONEY_SLOTS)})
_PLAIN: Final = ("intent", "decision", "outcome", "reply", "route")


@dataclass(frozen=True, slots=True)
class Value:
    """One value of an outcome; `right` is None where nothing is expected of it. `shown` is None where it is absent."""

    shown: str | None
    right: bool | None = None


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A value that is not what it was, or not as right as it was."""

    name: str
    before: Value
    after: Value

    @property
    def lost(self) -> bool:
        """It was right and is not."""
        return self.before.right is True and self.after.right is False

    @property
    def gained(self) -> bool:
        """It was wrong and is right."""
        return self.before.right is False and self.after.right is True

    @property
    def money(self) -> bool:
        """Money may go elsewhere than before: a value that was right is another, or one that no label tells apart."""
        if self.name not in _MONEY:
            return False
        if self.before.right == self.after.right and self.before.right is not False:
            return self.name in _OUTCOMES and self.before.shown != self.after.shown
        slot = self.name not in _OUTCOMES
        return self.lost and not (slot and self.after.shown is None)

    def __str__(self) -> str:
        verdict = " (was right)" if self.lost else " (is right)" if self.gained else ""
        return f"{self.name}: {self.before.shown or 'none'} → {self.after.shown or 'none'}{verdict}"


def changes(before: TurnRecord, after: TurnRecord, expect: Expectation | None) -> tuple[FieldChange, ...]:
    """Every value that differs, both turns held to the same expectation."""
    old, new = (dict(values(turn.model_copy(update={"expect": expect}))) for turn in (before, after))
    nothing = Value(None)
    found = (FieldChange(name, old.get(name, nothing), new.get(name, nothing)) for name in {**old, **new})
    kept = [change for change in found if change.before != change.after]
    unlike = before.heard != after.heard or before.slots != after.slots
    besides = {SAID: unlike or before.reply != after.reply, DOUBTS: unlike or before.proposal != after.proposal}
    return tuple(change for change in kept if not besides.get(change.name, False))


def values(turn: TurnRecord) -> Iterator[tuple[str, Value]]:
    """The values of a turn's outcome by name; words that were heard are among them but never judged here."""
    expect, judged = by_people(turn.expect), judge(turn)
    yield "locale", Value(turn.locale)
    yield "heard", Value(turn.heard or None)
    yield ERROR, Value(f"{turn.error}: {turn.reason}" if turn.error else None, turn.error is None)
    for name in _PLAIN:
        yield name, Value(getattr(turn, name) or None, getattr(judged, name))
    yield "missing", Value(", ".join(turn.missing) or None)
    chosen = turn.payee.choice if turn.payee else None
    yield "payee", Value(chosen, judged.payee_choice)
    yield from _slots(turn, expect)
    yield READ_BACK, Value(_moves((turn.proposal,) if turn.proposal else ()), _not(turn, expect, _WRONG_READ_BACK))
    yield BOOKED, Value(_moves(turn.money), _not(turn, expect, _WRONG_MONEY))
    yield EFFECTS, Value(", ".join(f"{name} {by:+}" for name, by in turn.effects.items()) or None)
    yield DOUBTS, Value(", ".join(turn.doubts) or None)
    yield SAID, Value(", ".join(turn.told or figures(turn.spoken)) or None)


_WRONG_READ_BACK: Final = frozenset({MoneyVerdict.WRONG_READ_BACK})
_WRONG_MONEY: Final = frozenset({MoneyVerdict.FALSE_ACCEPT, MoneyVerdict.MISSED})


def _not(turn: TurnRecord, expect: Expectation | None, bad: frozenset[MoneyVerdict]) -> bool | None:
    """Whether money did not come to one of `bad`."""
    if expect is None or not expect.behaviour or not turn.played:
        return None
    return money_verdict(turn, expect) not in bad


def _slots(turn: TurnRecord, expect: Expectation | None) -> Iterator[tuple[str, Value]]:
    wanted = expect.slots if expect is not None else None
    for name in sorted({*turn.slots, *(wanted or {})}):
        got, right = turn.slots.get(name), None
        if wanted is not None and turn.played:
            right = name in wanted and name in turn.slots and same_value(got, wanted[name])
        yield f"slot {name}", Value(_shown(got), right)


def _moves(moves: tuple[MoneyMove, ...]) -> str | None:
    told = [
        f"{money(m.amount_minor, m.currency)} to {m.payee or m.to_account or 'nobody'} from {m.source or '?'}"
        for m in moves
    ]
    return ", ".join(told) or None


def _shown(value: JsonValue) -> str | None:
    if value is None:
        return None
    if isinstance(value, dict) and isinstance(value.get("amount_minor"), int):
        return money(int(str(value["amount_minor"])), str(value.get("currency") or ""))
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def money(minor: int, currency: str) -> str:
    """An amount as people read it: 150.00 GBP; minor units as they are where no currency is known."""
    digits = EXPONENTS.get(currency, 0)
    return f"{minor / 10**digits:.{digits}f} {currency or 'minor units'}".strip()


def looser(before: Expectation | None, after: Expectation | None) -> bool:
    """Whether a label says nothing any more of what it did, or takes further names for right."""
    if before is None or after is None:
        return before is not None
    wider = (frozenset() < _names(getattr(before, name)) < _names(getattr(after, name)) for name in _PLAIN)
    return bool(before.named - after.named) or any(wider)


def _names(wanted: OneOf | None) -> frozenset[str]:
    return frozenset((wanted,) if isinstance(wanted, str) else wanted or ())


def rules_of(turn: TurnRecord) -> frozenset[str]:
    """Every rule that had a part in a turn, by id."""
    found = {turn.rule or "", *turn.vetoes, *(e.rule for e in turn.evidence), *(s.rule for s in turn.spans)}
    found |= {reading.rule for span in turn.spans for reading in span.readings}
    return frozenset(found - {""})
