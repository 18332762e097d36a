"""The scores of two runs side by side: how far each moved, by a test of paired turns or calls; which stages slowed."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median
from typing import Final

from app.qa.replay.judging.judge import Judgement, judge
from app.qa.replay.judging.score import Pairs, case_facts
from app.qa.replay.judging.stats import Ratio, Shift, mcnemar, paired, percentiles, ratios
from app.qa.replay.records.record import TurnRecord, TurnResult

ALPHA: Final = 0.05
"""Below this probability of no change, a change is taken to be real."""
BETWEEN: Final = "between stages"
_COMPARED: Final = (
    "errors", "money_false_accepts", "money_unjudged", "money_wrong_read_backs", "money_missed", "right",
    "goal_reached", "wer", "wer_normalized", "wer_names", "wer_amounts", "wer_digits", "cer", "cer_normalized",
    "cer_names", "cer_amounts", "cer_digits", "intent_match", "decision_match", "reply_match",
    "payee_choice_match", "slot_amount_recall", "slot_all_recall", "slot_all_precision",
)  # fmt: skip
HEARING: Final = ("wer_normalized", "cer_normalized")
_LEAST_TURNS: Final = 20
_SLOWER_MS, _SLOWER_SHARE = 10.0, 1.0
"""What waits for a disk does not slow with the processor: less than this may be the machine's load."""
_TAIL_TURNS: Final = 100
_TAIL_MS, _TAIL_SHARE = 40.0, 2.0


Judged = tuple[TurnRecord, Judgement]


@dataclass(frozen=True, slots=True)
class Moved:
    """A ratio in both runs. `shift` and `p` are None where it can't be tested."""

    name: str
    before: Ratio
    after: Ratio
    shift: Shift | None
    p: float | None
    test: str

    @property
    def says(self) -> str:
        """Whether the change is noise, in words."""
        if self.before.right == self.after.right and self.before.of == self.after.of:
            return "no change"
        if self.p is None:
            return "not comparable"
        return f"{'real' if self.p < ALPHA else 'noise'} (p = {self.p:.2g}, {self.test})"

    @property
    def real(self) -> bool:
        """Whether it moved, and not by chance."""
        return self.p is not None and self.p < ALPHA

    @property
    def worse(self) -> bool:
        """Whether it fell, or what should be little grew, and not by chance."""
        if self.shift is None or not self.real:
            return False
        less = self.name.startswith(("errors", "money_", "wer", "cer"))
        return self.shift.change > 0 if less else self.shift.change < 0

    @property
    def worse_hearing(self) -> bool:
        """Whether words are misheard more often, and not by chance."""
        return self.name in HEARING and self.shift is not None and self.shift.change > 0 and (self.p or 0) < ALPHA


@dataclass(frozen=True, slots=True)
class Slower:
    """A stage that takes longer than the machine's own pace explains, in milliseconds."""

    stage: str
    before_ms: float
    after_ms: float
    where: str

    @property
    def name(self) -> str:
        """As it is told of."""
        return f"stage {self.stage}"


def moved(before: Sequence[TurnRecord], after: Sequence[TurnRecord]) -> tuple[Moved, ...]:
    """Both runs' scores over the same turns in the same order, both held to the same labels."""
    judged_before, judged_after = _judged(before), _judged(after)
    old, new = _facts(judged_before), _facts(judged_after)
    was, now = ratios(list(old.values())), ratios(list(new.values()))
    found = []
    for name in _COMPARED:
        if name in was and name in now:
            pairs = [(old[case].get(name, (0.0, 0.0)), new[case].get(name, (0.0, 0.0))) for case in old]
            shift = paired([a for a, _ in pairs], [b for _, b in pairs])
            p, test = (shift.p if shift else None), "paired bootstrap"
            if name == "right":
                p, test = _mcnemar(judged_before, judged_after), "McNemar"
            found.append(Moved(name, was[name], now[name], shift, p, test))
    return tuple(found)


def _judged(turns: Sequence[TurnRecord]) -> list[Judged]:
    return [(turn, judge(turn)) for turn in turns]


def _facts(turns: Sequence[Judged]) -> dict[str, Pairs]:
    return {case: case_facts(list(own)) for case, own in groupby(turns, key=lambda judged: judged[0].case)}


def _mcnemar(before: Sequence[Judged], after: Sequence[Judged]) -> float:
    verdicts = [(a.right, b.right) for (_, a), (_, b) in zip(before, after, strict=True)]
    return mcnemar(verdicts.count((True, False)), verdicts.count((False, True)))


def slower(before: Sequence[TurnResult], after: Sequence[TurnResult]) -> tuple[Slower, ...]:
    """The stages that slowed over the same turns, beyond what all stages together say of the machine's pace."""
    old, new = _stages(before), _stages(after)
    shared = {name: sorted(set(old[name]) & set(new.get(name, {}))) for name in old}
    shared = {name: turns for name, turns in shared.items() if len(turns) >= _LEAST_TURNS}
    paces = [_middle(new[name], turns) / max(_middle(old[name], turns), 1e-6) for name, turns in shared.items()]
    pace = max(median(paces or [1.0]), 1e-3)
    found = []
    for name, turns in shared.items():
        was, now = [old[name][t] for t in turns], [new[name][t] for t in turns]
        found += _slower(name, was, now, pace)
    extra = {n: median(turns.values()) for n, turns in new.items() if n not in old and len(turns) >= _LEAST_TURNS}
    return (*found, *(Slower(name, 0.0, ms, "new") for name, ms in extra.items() if ms > _SLOWER_MS))


def _slower(stage: str, was: list[float], now: list[float], pace: float) -> list[Slower]:
    excess = median(after - pace * before for before, after in zip(was, now, strict=True))
    if excess > max(_SLOWER_MS * max(pace, 1.0), _SLOWER_SHARE * pace * median(was)):
        return [Slower(stage, median(was), median(now), "median")]
    tail_was, tail_now = percentiles(was, (90,))[90], percentiles(now, (90,))[90]
    bound = max(_TAIL_MS * max(pace, 1.0), _TAIL_SHARE * pace * tail_was)
    if len(was) >= _TAIL_TURNS and tail_now - pace * tail_was > bound:
        return [Slower(stage, tail_was, tail_now, "90th percentile")]
    return []


def _middle(turns: Mapping[str, float], of: list[str]) -> float:
    return median(turns[turn] for turn in of)


def _stages(results: Sequence[TurnResult]) -> dict[str, dict[str, float]]:
    """Milliseconds by stage and turn; what lies between the stages is one too."""
    found: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for result in results:
        if result.record.error is None:
            for stage in result.timing.stages:
                found[stage.name][result.record.id] = stage.ms
            rest = result.timing.total_ms - sum(stage.ms for stage in result.timing.stages)
            found[BETWEEN][result.record.id] = max(rest, 0.0)
    return dict(found)
