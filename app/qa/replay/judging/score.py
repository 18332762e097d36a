"""Scores of a run: every ratio with its interval, confusion, calibration, latency; whole, and by locale and tag."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from app.qa.replay.judging.failures import FailureGroup, failures, grouped
from app.qa.replay.judging.judge import (
    RECALL_AT,
    Judgement,
    MoneyVerdict,
    Tally,
    judge,
    judge_by_machine,
    unjudged_money,
    unmatched,
)
from app.qa.replay.judging.stats import CalibrationCurve, Ratio, calibration, percentiles, ratios
from app.qa.replay.judging.words import spaceless
from app.qa.replay.manifests.manifest import by_people
from app.qa.replay.records.record import TurnRecord, TurnResult
from schemas.intent import Route

PERCENTILES: Final = (50, 90, 95, 99)
MIN_SLICE: Final = 5
"""Slices of fewer cases are left out: their intervals say nothing."""
MAX_SLICES: Final = 60
MAX_REASONS: Final = 20
MAX_MISHEARD: Final = 30
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
    """All that is said of a run. `confusion[wanted][got]` counts intents; `flows[route][decision]` counts turns.

    `reasons` says why turns broke off, `failures` why they are wrong; `misheard[language]` has (said, heard, how
    often), most often first. `kept` recordings were heard by earlier runs: they say nothing of how long hearing takes.
    """

    cases: int
    turns: int
    audio_s: float
    ratios: dict[str, Ratio]
    slices: dict[str, dict[str, Ratio]]
    latency: dict[str, Latency]
    confusion: dict[str, dict[str, int]]
    flows: dict[str, dict[str, int]]
    understanding: CalibrationCurve
    payees: CalibrationCurve
    errors: dict[str, int]
    reasons: dict[str, int]
    misheard: dict[str, tuple[tuple[str, str, int], ...]]
    failures: tuple[FailureGroup, ...]
    kept: int


Pairs = dict[str, tuple[float, float]]
Fact = tuple[str, float, float]
"""A metric's name, its numerator and its denominator."""


def score(results: Sequence[TurnResult]) -> Scores:
    """Score turns in manifest order (turns of a case are neighbours)."""
    judged = [(r.record, judge(r.record)) for r in results]
    by_case = [list(turns) for _, turns in groupby(judged, key=lambda pair: pair[0].case)]
    facts = [case_facts(turns) for turns in by_case]
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
        reasons=dict(Counter(f"{t.error}: {t.reason}" for t, _ in judged if t.error).most_common(MAX_REASONS)),
        misheard=_misheard(judged),
        failures=grouped((turn.id, failures(turn, judgement)) for turn, judgement in judged),
        kept=sum(r.timing.kept for r in results),
    )


def case_facts(turns: Iterable[tuple[TurnRecord, Judgement]]) -> Pairs:
    """(numerator, denominator) of every metric, summed over a case's turns."""
    sums: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    turns = list(turns)
    for name, right, of in _call([turn for turn, _ in turns]):
        sums[name][0] += right
        sums[name][1] += of
    for turn, judgement in turns:
        for name, right, of in _facts(turn, judgement):
            sums[name][0] += right
            sums[name][1] += of
    return {name: (pair[0], pair[1]) for name, pair in sums.items()}


def _call(turns: Sequence[TurnRecord]) -> Iterable[Fact]:
    """Of a whole call: whether all money that should move did and no other; whether it parted from the recorded one."""
    wanted = tuple(move for turn in turns if (expect := by_people(turn.expect)) for move in expect.moves)
    booked = tuple(move for turn in turns for move in turn.money)
    if wanted:
        yield "goal_reached", not unmatched(wanted, booked) and not unmatched(booked, wanted), 1
    if any(turn.parting for turn in turns) or not all(turn.reached for turn in turns):
        yield "calls_parted", 1, 1
    elif len(turns) > 1:
        yield "calls_parted", 0, 1


def _facts(turn: TurnRecord, judged: Judgement) -> Iterable[Fact]:
    yield "errors", judged.failed and turn.reached, 1
    if turn.audio is not None and turn.reached:
        yield "recordings_heard", turn.played, 1
    if judged.right is not None:
        yield "right", judged.right, 1
    yield "money_unjudged", unjudged_money(turn), 1
    if judged.money is not None:
        yield "money_false_accepts", judged.money is MoneyVerdict.FALSE_ACCEPT, 1
        yield "money_wrong_read_backs", judged.money is MoneyVerdict.WRONG_READ_BACK, 1
        yield "money_missed", judged.money is MoneyVerdict.MISSED, 1
    yield from _words(turn, judged)
    yield from _matches(judged)
    if turn.played:
        yield "gpu_calls_avoided", not turn.models, 1
        for route in (*Route, ""):
            yield f"route_share_{route or 'none'}", turn.route == route, 1
    if turn.expect is not None and turn.expect.by_machine and turn.played:
        for name, right, of in _matches(judge_by_machine(turn)):
            yield f"machine_{name}", right, of


def _words(turn: TurnRecord, judged: Judgement) -> Iterable[Fact]:
    """Errors of hearing: words, or characters where words are not parted; as written; normalized, by kind and sort."""
    if judged.words is None or judged.characters is None or judged.hearing is None:
        return
    unit = "cer" if spaceless(turn.locale) else "wer"
    yield unit, judged.words.edits, judged.words.length
    yield "cer_all", judged.characters.edits, judged.characters.length
    found = judged.hearing.errors
    yield f"{unit}_normalized", found.edits, found.length
    for sort in ("substitutions", "deletions", "insertions"):
        yield f"{unit}_{sort}", getattr(found, sort), found.length
    for kind, errors in judged.hearing.by_kind.items():
        yield f"{unit}_{kind}", errors.edits, errors.length


def _matches(judged: Judgement) -> Iterable[Fact]:
    for name in _MATCHES:
        verdict = getattr(judged, name)
        if verdict is not None:
            yield f"{name}_match", verdict, 1
    if judged.payee_rank is not None:
        for k in RECALL_AT:
            yield f"payee_recall_at_{k}", 1 <= judged.payee_rank <= k, 1
    yield from _tallies("span", judged.spans)
    yield from _tallies("slot", judged.slots)


def _tallies(name: str, tallies: dict[str, Tally]) -> Iterable[Fact]:
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
    """Percentiles of the whole turn (`total`) and of each stage that ran; turns that failed took no time of ours."""
    stages: defaultdict[str, list[float]] = defaultdict(list)
    for result in results:
        if result.record.error is not None:
            continue
        if result.timing.total_ms is not None:
            stages["total"].append(result.timing.total_ms)
        for stage in result.timing.stages:
            stages[stage.name].append(stage.ms)
    return {name: _latency(values) for name, values in stages.items()}


def _latency(values: list[float]) -> Latency:
    at = percentiles(values, PERCENTILES)
    return Latency(len(values), sum(values) / len(values), *(at[p] for p in PERCENTILES))


def _misheard(judged: Iterable[tuple[TurnRecord, Judgement]]) -> dict[str, tuple[tuple[str, str, int], ...]]:
    counts: defaultdict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for turn, judgement in judged:
        if judgement.hearing is not None:
            counts[turn.locale[:2]].update(judgement.hearing.misheard)
    return {
        language: tuple((said, heard, count) for (said, heard), count in found.most_common(MAX_MISHEARD))
        for language, found in sorted(counts.items())
    }


def _confusion(judged: Iterable[tuple[TurnRecord, Judgement]]) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = {}
    for turn, _ in judged:
        expect = by_people(turn.expect)
        if expect is None or expect.intent is None or not turn.played:
            continue
        wanted = expect.intent if isinstance(expect.intent, str) else expect.intent[0]
        fits = not isinstance(expect.intent, str) and turn.intent in expect.intent
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
