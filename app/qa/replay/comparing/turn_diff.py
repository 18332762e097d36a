"""One turn in two runs: what became of it, value by value, and the first stage that differs."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from app.qa.replay.judging.judge import judge, unjudged_money
from app.qa.replay.judging.verdicts import SAID, FieldChange, changes, looser, rules_of
from app.qa.replay.manifests.manifest import by_people
from app.qa.replay.records.record import TurnRecord


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

    FAILURE = "failure"
    TRANSCRIPT = "transcript"
    SPAN = "span"
    PAYEE = "payee"
    MODEL = "model"
    RULE = "rule"
    REPLY = "reply"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class TurnDiff:
    """One turn in both runs: the values that differ, and the rules that had a part in it then and now."""

    id: str
    change: Change
    cause: Cause
    fields: tuple[FieldChange, ...] = ()
    before: TurnRecord | None = None
    after: TurnRecord | None = None
    relabelled: bool = False
    rules_before: tuple[str, ...] = ()
    rules_after: tuple[str, ...] = ()

    @property
    def rules_changed(self) -> tuple[str, ...]:
        """The rules that had a part in it then or now, and not both times."""
        return tuple(sorted({*self.rules_before} ^ {*self.rules_after}))

    @property
    def money_worse(self) -> bool:
        """Whether money may go wrong that did not."""
        return self.unjudged or any(change.money for change in self.fields)

    @property
    def unjudged(self) -> bool:
        """Whether it moves money of which no person says whether it should, and did not before."""
        now = self.after is not None and unjudged_money(self.after)
        return now and not (self.before is not None and unjudged_money(self.before))


_BY_CAUSE: Final[tuple[tuple[Cause, Callable[[TurnRecord], object]], ...]] = (
    (Cause.FAILURE, lambda t: (t.error, t.played)),
    (Cause.TRANSCRIPT, lambda t: (t.heard, t.hypotheses)),
    (Cause.SPAN, lambda t: [(s.kind, s.start, s.end, s.value, s.ambiguity) for s in t.spans]),
    (Cause.PAYEE, lambda t: t.payee),
    (Cause.MODEL, lambda t: t.models),
    (Cause.RULE, lambda t: (t.rule, t.vetoes, t.intent, t.slots, t.missing, t.route, t.decision, t.outcome, t.reply)),
    (Cause.REPLY, lambda t: t.spoken),
)


def turn_diff(before: TurnRecord | None, after: TurnRecord | None, *, drifted: bool = False) -> TurnDiff:
    """`drifted`: an earlier turn of the call went otherwise, so that balances may rightly be others since."""
    if after is None:
        assert before is not None
        return TurnDiff(before.id, Change.REMOVED, Cause.NONE, before=before)
    # Both sides are held to what the newer manifest expects: a corrected label is not a regression.
    nothing = after.model_copy(update=_NOTHING)
    fields = changes(before or nothing, after, after.expect)
    if before is None:
        # What a new turn gets wrong was never right; only money is looked at.
        return TurnDiff(after.id, Change.ADDED, Cause.NONE, tuple(c for c in fields if c.money and c.lost), after=after)
    if drifted:
        fields = tuple(change for change in fields if change.name != SAID)
    change = _change(before, after, fields)
    then, now = rules_of(before), rules_of(after)
    return TurnDiff(
        after.id,
        change,
        Cause.NONE if change is Change.SAME else _cause(before, after),
        fields,
        before,
        after,
        _relabelled(before, after),
        tuple(sorted(then)),
        tuple(sorted(now)),
    )


_NOTHING: Final[dict[str, object]] = {
    "money": (),
    "proposal": None,
    "slots": {},
    "spoken": "",
    "told": (),
    "effects": {},
    "error": None,
}


def _change(before: TurnRecord, after: TurnRecord, fields: tuple[FieldChange, ...]) -> Change:
    if any(change.lost or change.money for change in fields):
        return Change.WORSE
    if any(change.gained for change in fields):
        return Change.BETTER
    quiet = {SAID} if before.spoken == after.spoken else set()
    return Change.CHANGED if any(change.name not in quiet for change in fields) else Change.SAME


def _relabelled(before: TurnRecord, after: TurnRecord) -> bool:
    """Whether the label alone made a turn right or wrong, better or worse heard, or demands less than it did."""
    if before.locale != after.locale:
        return True  # the same words in another language are another test
    if before.expect == after.expect:
        return False
    was, now = judge(after.model_copy(update={"expect": before.expect})), judge(after)
    if was.right is not None and was.right != now.right:
        return True
    if was.hearing is not None and (now.hearing is None or was.hearing.errors != now.hearing.errors):
        return True
    return looser(by_people(before.expect), by_people(after.expect))


def _cause(before: TurnRecord, after: TurnRecord) -> Cause:
    return next((cause for cause, view in _BY_CAUSE if view(before) != view(after)), Cause.RULE)
