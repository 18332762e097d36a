"""Scores of a run: every ratio with its interval, confusion, calibration, latency; whole, and by locale and tag."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from app.qa.replay.judge import RECALL_AT, Judgement, MoneyVerdict, Tally, judge
from app.qa.replay.record import TurnRecord, TurnResult
from app.qa.replay.stats import Calibration, Ratio, calibration, percentiles, ratios
from schemas.intent import Route

PERCENTILES: Final = (50, 90, 95, 99)
MIN_SLICE: Final = 5
"""Slices of fewer cases are left out: their intervals say nothing."""
MAX_SLICES: Final = 60
NOTHING: Final = "(none)"
_MATCHES: Final = ("exact", "intent", "decision", "outcome", "reply", "route", "payee_choice")


@dataclass(frozen=True, slots=True)
class Latency:
    """One stage's milliseconds."""

    count: int
    mean_ms: float
    p50_ms: float
    p90_ms: float
    p95_ms: float
    p99_ms: float


@dataclass(frozen=True, slots=True)
class Scores:
    """All that is said of a run. `confusion[wanted][got]` counts intents; `flows[route][decision]` counts turns."""

    cases: int
    turns: int
    audio_s: float
    ratios: dict[str, Ratio]
    slices: dict[str, dict[str, Ratio]]
    latency: dict[str, Latency]
    confusion: dict[str, dict[str, int]]
    flows: dict[str, dict[str, int]]
    understanding: Calibration
    payees: Calibration
    errors: dict[str, int]


Pairs = dict[str, tuple[float, float]]


def score(results: Sequence[TurnResult]) -> Scores:
    """Score turns in manifest order (turns of a case are neighbours)."""
    judged = [(r.record, judge(r.record)) for r in results]
    by_case = [list(turns) for _, turns in groupby(judged, key=lambda pair: pair[0].case)]
    facts = [_case_facts(turns) for turns in by_case]
    return Scores(
        cases=len(by_case),
        turns=len(judged),
        audio_s=sum(r.timing.audio_s for r in results),
        ratios=ratios(facts),
        slices=_slices(by_case, facts),
        latency=latency(results),
        confusion=_confusion(judged),
        flows=_flows(record for record, _ in judged),
        understanding=calibration([(t.confidence, j.intent) for t, j in judged if j.intent is not None and t.intent]),
        payees=calibration(_payee_scores(judged)),
        errors=dict(Counter(t.error for t, _ in judged if t.error)),
    )


def _case_facts(turns: Iterable[tuple[TurnRecord, Judgement]]) -> Pairs:
    """(numerator, denominator) of every metric, summed over a case's turns."""
    sums: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for turn, judgement in turns:
        for name, right, of in _facts(turn, judgement):
            sums[name][0] += right
            sums[name][1] += of
    return {name: (pair[0], pair[1]) for name, pair in sums.items()}


def _facts(turn: TurnRecord, judged: Judgement) -> Iterable[tuple[str, float, float]]:
    if judged.money is not None:
        yield "money_false_accepts", judged.money is MoneyVerdict.FALSE_ACCEPT, 1
        yield "money_wrong_read_backs", judged.money is MoneyVerdict.WRONG_READ_BACK, 1
        yield "money_missed", judged.money is MoneyVerdict.MISSED, 1
        yield "right", bool(judged.right), 1
    if judged.words is not None and judged.characters is not None:
        unit = "cer" if turn.locale.startswith("ja") else "wer"
        yield unit, judged.words.edits, judged.words.length
        yield "cer_all", judged.characters.edits, judged.characters.length
    for name in _MATCHES:
        verdict = getattr(judged, name)
        if verdict is not None:
            yield f"{name}_match", verdict, 1
    if judged.payee_rank is not None:
        for k in RECALL_AT:
            yield f"payee_recall_at_{k}", 1 <= judged.payee_rank <= k, 1
    yield from _tallies("span", judged.spans)
    yield from _tallies("slot", judged.slots)
    yield "gpu_calls_avoided", not turn.models, 1
    for route in (*Route, ""):
        yield f"route_share_{route or 'none'}", turn.route == route, 1


def _tallies(name: str, tallies: dict[str, Tally]) -> Iterable[tuple[str, float, float]]:
    for kind, tally in tallies.items():
        for label in (kind, "all"):
            yield f"{name}_{label}_precision", tally.right, tally.right + tally.spurious
            yield f"{name}_{label}_recall", tally.right, tally.right + tally.missed


def _slices(
    by_case: Sequence[list[tuple[TurnRecord, Judgement]]], facts: Sequence[Pairs]
) -> dict[str, dict[str, Ratio]]:
    groups: defaultdict[str, list[Pairs]] = defaultdict(list)
    for turns, case in zip(by_case, facts, strict=True):
        first = turns[0][0]
        for name, value in {"locale": first.locale, **first.tags}.items():
            groups[f"{name}={value}"].append(case)
    large = sorted((k for k, v in groups.items() if len(v) >= MIN_SLICE), key=lambda k: (-len(groups[k]), k))
    return {key: ratios(groups[key]) for key in sorted(large[:MAX_SLICES])}


def latency(results: Sequence[TurnResult]) -> dict[str, Latency]:
    """Percentiles of the whole turn (`total`) and of each stage that ran."""
    stages: defaultdict[str, list[float]] = defaultdict(list)
    for result in results:
        stages["total"].append(result.timing.total_ms)
        for stage in result.timing.stages:
            stages[stage.name].append(stage.ms)
    return {name: _latency(values) for name, values in stages.items()}


def _latency(values: list[float]) -> Latency:
    at = percentiles(values, PERCENTILES)
    return Latency(len(values), sum(values) / len(values), *(at[p] for p in PERCENTILES))


def _confusion(judged: Iterable[tuple[TurnRecord, Judgement]]) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = {}
    for turn, _ in judged:
        if turn.expect is None or turn.expect.intent is None:
            continue
        wanted = turn.expect.intent if isinstance(turn.expect.intent, str) else turn.expect.intent[0]
        fits = not isinstance(turn.expect.intent, str) and turn.intent in turn.expect.intent
        counts.setdefault(wanted, Counter())[wanted if fits else turn.intent or NOTHING] += 1
    return {wanted: dict(sorted(row.items())) for wanted, row in sorted(counts.items())}


def _flows(turns: Iterable[TurnRecord]) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = {}
    for turn in turns:
        counts.setdefault(turn.route or NOTHING, Counter())[turn.decision or NOTHING] += 1
    return {route: dict(sorted(row.items())) for route, row in sorted(counts.items())}


def _payee_scores(judged: Iterable[tuple[TurnRecord, Judgement]]) -> list[tuple[float, bool]]:
    """The best candidate's probability, and whether it was the one meant."""
    pairs = []
    for turn, judgement in judged:
        if judgement.payee_rank is not None and turn.payee is not None and turn.payee.candidates:
            pairs.append((turn.payee.candidates[0].score, judgement.payee_rank == 1))
    return pairs
