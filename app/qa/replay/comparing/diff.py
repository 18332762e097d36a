"""Two runs compared: every turn, every score, and what of it fails which policy."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from app.qa.replay.comparing.compare_scores import Moved, Slower, moved, slower
from app.qa.replay.comparing.other_copies import few, nearly, other_copies
from app.qa.replay.comparing.readings import loosened, misread, missaid
from app.qa.replay.comparing.reasons import late, misheard, untimed, why
from app.qa.replay.comparing.turn_diff import Change, TurnDiff, turn_diff
from app.qa.replay.comparing.unreached import UnreachedChange, unreached, untold
from app.qa.replay.comparing.unreached import told as unreached_rules
from app.qa.replay.provenance import UNKNOWN
from app.qa.replay.records.journal import Run
from schemas.errors import MalformedMessage, WrongState


class FailOn(StrEnum):
    """What a comparison fails on.

    MONEY: an amount or a payee that was right and is wrong, whatever else was wrong in the turn; a new false accept or
    wrong read-back; amounts, days and names said, or money and cards changed at the bank, that nobody judges and that
    differ. REGRESSION: any value that was right and is not, a turn that fails, words misheard more often than by
    chance. CHANGED: any difference at all. MISSING: a turn that is gone. LABELS: a turn that is right or wrong by what
    its label says now, and was otherwise by what it said. SLOWER: a stage. UNREACHED: a rule that changed, of which no
    turn uses what changed.
    """

    MONEY = "money"
    REGRESSION = "regression"
    CHANGED = "changed"
    MISSING = "missing"
    LABELS = "labels"
    SLOWER = "slower"
    UNREACHED = "unreached"


@dataclass(frozen=True, slots=True)
class PolicyBreach:
    """Why a comparison fails: by which policy, in words, and in which turns."""

    policy: FailOn
    says: str
    turns: tuple[TurnDiff, ...] = ()


@dataclass(frozen=True, slots=True)
class RunDiff:
    """Two runs: every turn, every score, and by what they were made."""

    before: Run
    after: Run
    turns: tuple[TurnDiff, ...]
    counts: dict[str, int] = field(default_factory=dict)
    causes: dict[str, dict[str, int]] = field(default_factory=dict)
    scores: tuple[Moved, ...] = ()
    slower: tuple[Slower, ...] = ()
    unreached: tuple[UnreachedChange, ...] = ()

    def violations(self, policies: Iterable[FailOn]) -> tuple[TurnDiff, ...]:
        """The turns that break one of the policies."""
        found: dict[str, TurnDiff] = {}
        for policy in policies:
            excused = self.excused if policy is FailOn.REGRESSION else frozenset()
            if (broken := _BROKEN.get(policy)) is not None:
                found |= {turn.id: turn for turn in self.turns if turn.id not in excused and broken(turn)}
        return tuple(turn for turn in self.turns if turn.id in found)

    @property
    def excused(self) -> frozenset[str]:
        """A few turns that only another copy of their recording had heard a little otherwise: near ties, not money."""
        copies = other_copies(self.before.sources, self.after.sources)
        near = frozenset(
            turn.id
            for turn in self.turns
            if turn.before is not None and turn.after is not None and turn.after.audio in copies
            if not turn.money_worse and nearly(turn.before.heard, turn.after.heard) and turn.change is Change.WORSE
        )
        return near if len(near) <= few(len(self.turns)) else frozenset()

    def findings(
        self, policies: Iterable[FailOn], accepted: Sequence[str] = (), spare: int = 0
    ) -> tuple[PolicyBreach, ...]:
        """Everything that breaks one of the policies, the reason in words.

        `accepted` are patterns of changed rules that no turn need use, `spare` is how many more there may be.
        """
        found = []
        for policy in dict.fromkeys(policies):
            turns = self.violations((policy,))
            if turns:
                found.append(PolicyBreach(policy, why(turns), turns))
            if policy is FailOn.REGRESSION:
                found += [PolicyBreach(policy, misheard(score)) for score in self.scores if score.worse_hearing]
            if policy is FailOn.SLOWER:
                found += [PolicyBreach(policy, late(stage)) for stage in self.slower]
                found += [PolicyBreach(policy, untimed(kept))] if (kept := self.before.kept + self.after.kept) else []
            if policy is FailOn.MONEY and not self._foreign:
                told = (held(self.before.words, self.after.words) for held in (misread, missaid))
                found += [PolicyBreach(policy, words) for words in told if words]
            if policy is FailOn.UNREACHED:
                left = [change for change in self.unreached if not change.accepted(accepted)]
                said = (unreached_rules(left) if len(left) > spare else "", untold(self.before, self.after))
                found += [PolicyBreach(policy, words) for words in said if words]
            if policy is FailOn.LABELS and (wider := loosened(self.before.slack, self.after.slack)):
                found.append(PolicyBreach(policy, wider))
        return tuple(found)

    @property
    def _foreign(self) -> bool:
        """Whether a gateway played one of them by rules that are not known."""
        return any(run.head.code == UNKNOWN and not run.words for run in (self.before, self.after))

    @property
    def changed_sources(self) -> tuple[str, ...]:
        """Files of code, rules, weights and sound that are not what they were, each with what became of it."""
        old, new = self.before.sources, self.after.sources
        if UNKNOWN in {self.before.head.code, self.after.head.code}:
            # What is not on record of one of them is no change.
            old, new = ({name: of[name] for name in of if name in old and name in new} for of in (old, new))
        return tuple(
            f"{name} {_fate(old, new, name)}" for name in sorted({*old, *new}) if old.get(name) != new.get(name)
        )


def _fate(old: Mapping[str, str], new: Mapping[str, str], name: str) -> str:
    if name not in old:
        return "is new"
    return "is gone" if new.get(name, "absent") == "absent" else "changed"


_BROKEN: Final[dict[FailOn, Callable[[TurnDiff], bool]]] = {
    FailOn.MONEY: lambda turn: turn.money_worse,
    FailOn.REGRESSION: lambda turn: turn.change is Change.WORSE or any(c.lost for c in turn.fields),
    FailOn.CHANGED: lambda turn: turn.change is not Change.SAME,
    FailOn.MISSING: lambda turn: turn.change is Change.REMOVED,
    FailOn.LABELS: lambda turn: turn.relabelled,
}


def compare(before: Run, after: Run) -> RunDiff:
    """Compare two runs turn by turn; turns of `after` in order, then what is gone.

    Raises WrongState where they have no turn in common.
    """
    old = {r.record.id: r.record for r in before.results}
    new = {r.record.id: r.record for r in after.results}
    shared = [key for key in new if key in old]
    if old and new and not shared:
        raise WrongState("the two runs have no turn in common: they can't be compared")
    turns: list[TurnDiff] = []
    drifted: set[str] = set()
    for key, record in new.items():
        turns.append(turn_diff(old.get(key), record, drifted=record.case in drifted))
        if turns[-1].change is not Change.SAME:
            drifted.add(record.case)
    turns += [turn_diff(record, None) for key, record in old.items() if key not in new]
    causes: dict[str, Counter[str]] = {}
    for turn in turns:
        if turn.change not in {Change.SAME, Change.ADDED, Change.REMOVED}:
            causes.setdefault(turn.cause, Counter())[turn.change] += 1
    counts = Counter(turn.change for turn in turns)
    held = [old[key].model_copy(update={"expect": new[key].expect}) for key in shared]
    return RunDiff(
        before,
        after,
        tuple(turns),
        {change.value: counts[change] for change in Change},
        {k: dict(v) for k, v in causes.items()},
        moved(held, [new[key] for key in shared]),
        slower(before.results, after.results),
        unreached(before, after),
    )


def policies(text: str) -> tuple[FailOn, ...]:
    """`money,regression` as policies. Raises MalformedMessage on any other word."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    unknown = [word for word in words if word not in set(FailOn)]
    if unknown:
        raise MalformedMessage(f"unknown policy {unknown[0]!r}: one of {', '.join(FailOn)}")
    return tuple(FailOn(word) for word in words)
