"""Two runs compared: what got better, worse or otherwise changed, and the first stage at which they parted."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from app.qa.replay.journal import Run
from app.qa.replay.judge import Judgement, MoneyVerdict, judge
from app.qa.replay.record import TurnRecord
from schemas.errors import MalformedMessage


class Change(StrEnum):
    """What became of a turn between two runs."""

    SAME = "same"
    BETTER = "better"
    WORSE = "worse"
    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"


class Cause(StrEnum):
    """The first stage, in the order of the pipeline, whose outcome differs."""

    TRANSCRIPT = "transcript"
    SPAN = "span"
    PAYEE = "payee"
    MODEL = "model"
    RULE = "rule"
    NONE = "none"


class FailOn(StrEnum):
    """Policies. MONEY: a new false accept or wrong read-back. CHANGED: any difference at all."""

    MONEY = "money"
    REGRESSION = "regression"
    CHANGED = "changed"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class TurnDiff:
    """One turn in both runs. `fields` are the parts of the outcome that differ."""

    id: str
    change: Change
    cause: Cause
    fields: tuple[str, ...] = ()
    before: TurnRecord | None = None
    after: TurnRecord | None = None
    money_worse: bool = False


@dataclass(frozen=True, slots=True)
class RunDiff:
    """All turns of two runs."""

    turns: tuple[TurnDiff, ...]
    counts: dict[str, int] = field(default_factory=dict)
    causes: dict[str, dict[str, int]] = field(default_factory=dict)

    def violations(self, policies: Iterable[FailOn]) -> tuple[TurnDiff, ...]:
        """The turns that break one of the policies."""
        broken = [_BROKEN[policy] for policy in policies]
        return tuple(turn for turn in self.turns if any(test(turn) for test in broken))


_BROKEN: Final[dict[FailOn, Callable[[TurnDiff], bool]]] = {
    FailOn.MONEY: lambda turn: turn.money_worse,
    FailOn.REGRESSION: lambda turn: turn.change is Change.WORSE,
    FailOn.CHANGED: lambda turn: turn.change is not Change.SAME,
    FailOn.MISSING: lambda turn: turn.change is Change.REMOVED,
}

_OUTCOME: Final = (
    "heard",
    "intent",
    "slots",
    "missing",
    "route",
    "decision",
    "outcome",
    "proposal",
    "money",
    "reply",
    "error",
)
_BY_CAUSE: Final[tuple[tuple[Cause, Callable[[TurnRecord], object]], ...]] = (
    (Cause.TRANSCRIPT, lambda t: (t.heard, t.hypotheses)),
    (Cause.SPAN, lambda t: [(s.kind, s.start, s.end, s.value, s.ambiguity) for s in t.spans]),
    (Cause.PAYEE, lambda t: t.payee),
    (Cause.MODEL, lambda t: t.models),
    (Cause.RULE, lambda t: (t.rule, t.vetoes, t.intent, t.slots, t.missing, t.route, t.decision, t.outcome, t.reply)),
)


def compare(before: Run, after: Run) -> RunDiff:
    """Compare two runs turn by turn; turns of `after` in order, then what is gone."""
    old = {r.record.id: r.record for r in before.results}
    new = {r.record.id: r.record for r in after.results}
    turns = [_turn_diff(old.get(key), record) for key, record in new.items()]
    turns += [_turn_diff(record, None) for key, record in old.items() if key not in new]
    causes: dict[str, Counter[str]] = {}
    for turn in turns:
        if turn.change not in {Change.SAME, Change.ADDED, Change.REMOVED}:
            causes.setdefault(turn.cause, Counter())[turn.change] += 1
    counts = Counter(turn.change for turn in turns)
    return RunDiff(
        tuple(turns), {change.value: counts[change] for change in Change}, {k: dict(v) for k, v in causes.items()}
    )


def _turn_diff(before: TurnRecord | None, after: TurnRecord | None) -> TurnDiff:
    if after is None:
        assert before is not None
        return TurnDiff(before.id, Change.REMOVED, Cause.NONE, before=before)
    # Both sides are held to what the newer manifest expects: a corrected label is not a regression.
    new = judge(after)
    if before is None:
        return TurnDiff(after.id, Change.ADDED, Cause.NONE, after=after, money_worse=_bad(new) > 0)
    old = judge(before.model_copy(update={"expect": after.expect}))
    fields = tuple(name for name in _OUTCOME if getattr(before, name) != getattr(after, name))
    change = _change(old, new, bool(fields))
    cause = Cause.NONE if change is Change.SAME else _cause(before, after)
    return TurnDiff(after.id, change, cause, fields, before, after, money_worse=_bad(new) > _bad(old))


def _change(old: Judgement, new: Judgement, differs: bool) -> Change:
    if old.right != new.right and None not in {old.right, new.right}:
        return Change.BETTER if new.right else Change.WORSE
    if _bad(new) != _bad(old):
        return Change.WORSE if _bad(new) > _bad(old) else Change.BETTER
    return Change.CHANGED if differs else Change.SAME


def _bad(judged: Judgement) -> int:
    return {MoneyVerdict.FALSE_ACCEPT: 2, MoneyVerdict.WRONG_READ_BACK: 1}.get(judged.money or MoneyVerdict.RIGHT, 0)


def _cause(before: TurnRecord, after: TurnRecord) -> Cause:
    for cause, view in _BY_CAUSE:
        if view(before) != view(after):
            return cause
    return Cause.RULE


def policies(text: str) -> tuple[FailOn, ...]:
    """`money,regression` as policies. Raises MalformedMessage on any other word."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    unknown = [word for word in words if word not in set(FailOn)]
    if unknown:
        raise MalformedMessage(f"unknown policy {unknown[0]!r}: one of {', '.join(FailOn)}")
    return tuple(FailOn(word) for word in words)
