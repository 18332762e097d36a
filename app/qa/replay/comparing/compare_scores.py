"""The scores of two runs side by side: how far each moved, by a test of paired turns or calls; which stages slowed."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import exp, log
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
_SLOWER_MS: Final = 2.0
"""What waits for a disk or for another thread varies by so much."""
_HARDER_MS: Final = 0.5
_GAIN: Final = log(1.3)
"""So much more is no machine's mood."""
_CERTAIN: Final = 1e-4
_SHORT_MS, _TICK_MS = 1.0, 0.01
_TAIL_TURNS: Final = 100
_TAIL_MS, _TAIL_SHARE = 40.0, 2.0


Judged = tuple[TurnRecord, Judgement]
TurnPairs = Mapping[str, tuple[float, float]]
"""By turn, milliseconds then and now."""
Work = Mapping[str, Mapping[str, float]]


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
    """The stages that slowed over the same turns, beyond what every other says of the machine's pace in those turns.

    A busy machine lets pass what is short and keeps what is long or waits, so each is held to whichever feels it most;
    what is computed is held to the processor's own time too. What is slow in one language alone is lost among all of
    them, so each is looked at by itself as well.
    """
    found = _slower_stages(before, after)
    locales = {result.record.locale for result in before}
    for locale in sorted(locales) if len(locales) > 1 else ():
        known = {late.stage for late in found}
        own = [[result for result in run if result.record.locale == locale] for run in (before, after)]
        late_there = [late for late in _slower_stages(*own) if late.stage not in known]
        found += [replace(late, where=f"{late.where}, {locale}") for late in late_there]
    return tuple(found)


def _slower_stages(before: Sequence[TurnResult], after: Sequence[TurnResult]) -> list[Slower]:
    old, new = _stages(before), _stages(after)
    pairs = {name: {t: (ms, new[name][t]) for t, ms in old[name].items() if t in new.get(name, {})} for name in old}
    pairs = {name: turns for name, turns in pairs.items() if len(turns) >= _LEAST_TURNS}
    found = [late for name in pairs for late in _slower(name, pairs)]
    found += _harder(_work(before), _work(after), pairs)
    extra = {n: median(turns.values()) for n, turns in new.items() if n not in old and len(turns) >= _LEAST_TURNS}
    if any(result.timing.kept for result in before):
        return found  # what is new was not timed before
    return [*found, *(Slower(name, 0.0, ms, "new") for name, ms in extra.items() if ms > _SLOWER_MS)]


def _slower(stage: str, pairs: Mapping[str, TurnPairs]) -> list[Slower]:
    own, others = pairs[stage], [turns for name, turns in pairs.items() if name != stage]
    paces = sorted(((median(_gains(other, {}).values()), n) for n, other in enumerate(others)), reverse=True)
    gains = [list(_gains(own, {}).values()), *(list(_gains(own, others[n]).values()) for _, n in paces[:1])]
    pace = exp(paces[0][0]) if paces else 1.0
    was, now = [was for was, _ in own.values()], [now for _, now in own.values()]
    excess = median(after - pace * before for before, after in own.values())
    if all(map(_beyond, gains)) and excess > _SLOWER_MS * max(pace, 1.0):
        return [Slower(stage, median(was), median(now), "median")]
    tail = max((_tail(1, other) / max(_tail(0, other), _TICK_MS) for other in others), default=1.0)
    bound = max(_TAIL_MS * max(tail, 1.0), _TAIL_SHARE * tail * _tail(0, own))
    if len(was) >= _TAIL_TURNS and _tail(1, own) - tail * _tail(0, own) > bound:
        return [Slower(stage, _tail(0, own), _tail(1, own), "90th percentile")]
    return []


def _gains(own: TurnPairs, other: TurnPairs) -> dict[str, float]:
    """By turn, the logarithm of how many times as long one takes, less that of the other in the same turn."""
    of = {turn: log(max(now, _TICK_MS) / max(was, _TICK_MS)) for turn, (was, now) in own.items()}
    return of if not other else {turn: of[turn] - gain for turn, gain in _gains(other, {}).items() if turn in of}


def _beyond(gains: Sequence[float]) -> bool:
    """Whether most turns gain, and so many that it is no chance; of too few turns nothing is said."""
    if len(gains) < _LEAST_TURNS:
        return True
    more = sum(gain > _GAIN / 2 for gain in gains)
    return median(gains) > _GAIN and mcnemar(len(gains) - more, more) < _CERTAIN


def _tail(side: int, pairs: TurnPairs) -> float:
    return percentiles([pair[side] for pair in pairs.values()], (90,))[90]


def _harder(old: Work, new: Work, pairs: Mapping[str, TurnPairs]) -> list[Slower]:
    """What takes the processor longer, held to how fast it computes what is too short to be kept waiting."""
    short = [
        median(_gains(turns, {}).values())
        for turns in pairs.values()
        if median(was for was, _ in turns.values()) < _SHORT_MS
    ]
    speed, found = median(short or [0.0]), []
    for name, of in old.items():
        own = {turn: (ms, new[name][turn]) for turn, ms in of.items() if turn in new.get(name, {})}
        gains = [gain - speed for gain in _gains(own, {}).values()]
        if len(own) >= _LEAST_TURNS and _beyond(gains):
            was, now = (median(pair[side] for pair in own.values()) for side in (0, 1))
            if now - exp(speed) * was > _HARDER_MS:
                found.append(Slower(name, was, now, "of the processor's time"))
    return found


def _work(results: Sequence[TurnResult]) -> dict[str, dict[str, float]]:
    """Milliseconds of the processor's own time, by what was computed and turn."""
    found: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for result in results:
        if result.record.error is None:
            for name, ms in result.timing.work.items():
                found[name][result.record.id] = ms
    return dict(found)


def _stages(results: Sequence[TurnResult]) -> dict[str, dict[str, float]]:
    """Milliseconds by stage and turn; what lies between the stages is one too."""
    found: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for result in results:
        if result.record.error is None:
            for stage in result.timing.stages:
                found[stage.name][result.record.id] = stage.ms
            if result.timing.total_ms is not None:
                rest = result.timing.total_ms - sum(stage.ms for stage in result.timing.stages)
                found[BETWEEN][result.record.id] = max(rest, 0.0)
    return dict(found)
