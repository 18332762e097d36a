"""`tellerline bench normalize [CASES]`: right, silently wrong, missed by category; speed; the peers beside it."""

import gc
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from app.qa.figures import Figure
from app.qa.locales import LOCALES
from deploy.bench._lines import json_lines
from deploy.bench._peers import PEERS, installed, outcomes
from deploy.reporting import percentile, publish
from schemas.span import Span, SpanKind, jsonable
from services.normalization import Normalizer

CASES: Final = [Path("tests/data/normalize")]
SENTENCES: Final = (
    (
        "en-US",
        "please send one thousand two hundred and fifty dollars and forty cents from checking to kate on march fifth",
    ),
    (
        "en-US",
        "my account number is four one double seven oh three nine two and move me fifty dollars tomorrow morning",
    ),
    (
        "en-GB",
        "hello there could you tell me what i spent last month and then also please pay dave twenty quid",
    ),
    (
        "ja-JP",
        "普通預金から田中一郎さんの三井住友銀行の口座番号一二三四五六七に来月五日の午後三時半に三万五千円を振り込んでください",
    ),
)
"""Sentences of twenty words, or as much Japanese, for the latency figures."""

ADVERSARIAL: Final = (
    "one hundred and ",
    "1,",
    "double ",
    "two point ",
    "march first to ",
    "$",
    "a half a ",
    "一二三千万",
    "第",
    "から五百",
)
ADVERSARIAL_CHARS: Final = 2_000


@dataclass(slots=True)
class Score:
    """Expressions of one category."""

    right: int = 0
    wrong: int = 0
    flagged: int = 0
    missed: int = 0
    failures: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        """All expressions."""
        return self.right + self.wrong + self.flagged + self.missed


def cases(paths: Sequence[Path]) -> Iterator[dict[str, Any]]:
    """The labelled cases of files, or of folders of JSONL files, large ones compressed; a file may tell in its name."""
    for path in paths:
        for file in sorted([*path.glob("*.jsonl"), *path.glob("*.jsonl.xz")]) if path.is_dir() else [path]:
            category = file.name.partition(".")[0]
            told = {"cat": category, "locale": LOCALES.get(category[:2])}
            yield from (told | case for case in json_lines(file))


def same(kind: SpanKind, value: object, accepted: Sequence[object]) -> bool:
    """Whether a JSON value is among those accepted; numbers compare by value, digits by their digits."""
    return any(_same(kind, value, other) for other in accepted)


def _same(kind: SpanKind, value: object, other: object) -> bool:
    if value == other:
        return True
    if not isinstance(value, str) or not isinstance(other, str):
        return False
    if kind is SpanKind.DIGITS:
        return _digits(value) == _digits(other)
    if kind in {SpanKind.NUMBER, SpanKind.PERCENT}:
        try:
            return Decimal(value) == Decimal(other)
        except InvalidOperation:
            return False
    return False


def _digits(text: str) -> str:
    return "".join(c for c in text if c.isdigit())


def judge(case: Mapping[str, Any], spans: Sequence[Span], score: Score) -> None:
    """Count one case. Wrong: a span of an accepted kind over the expression with another value, and nothing said."""
    for expected in case["expect"]:
        over = [s for s in spans if s.kind.value in expected["kind"] and _overlap(s, expected)]
        if any(same(s.kind, jsonable(s.value), expected["value"]) for s in over):
            score.right += 1
            continue
        told = any(same(r.kind, jsonable(r.value), expected["value"]) for s in over for r in s.readings)
        outcome = "flagged" if told else "wrong" if over else "missed"
        setattr(score, outcome, getattr(score, outcome) + 1)
        score.failures.append(_failure(outcome, case, spans))
    false = [s for s in spans if s.kind.value in case.get("forbid", ())] + _false_money(case, spans)
    if not case["expect"] and not false:
        score.right += 1
    if false:
        score.wrong += 1
        score.failures.append(_failure("false", case, spans))


def _false_money(case: Mapping[str, Any], spans: Sequence[Span]) -> list[Span]:
    if "money" in case.get("forbid", ()):
        return []
    amounts = [e for e in case["expect"] if "money" in e["kind"]]
    found = [s for s in spans if s.kind is SpanKind.MONEY and getattr(s.value, "currency", None) is not None]
    return [s for s in found if not any(_overlap(s, e) for e in amounts)]


def _overlap(span: Span, expected: Mapping[str, Any]) -> bool:
    return bool(span.start < expected["end"] and expected["start"] < span.end)


def _failure(outcome: str, case: Mapping[str, Any], spans: Sequence[Span]) -> str:
    found = "; ".join(f"{s.kind} {s.surface!r}={jsonable(s.value)}" for s in spans) or "nothing"
    wanted = "; ".join(f"{'/'.join(e['kind'])}={e['value']}" for e in case["expect"]) or f"none of {case['forbid']}"
    return f"{case['cat']} {outcome}: {case['text']!r} → {found} (wanted {wanted})"


def evaluate(paths: Sequence[Path], without: Collection[str] = ()) -> dict[str, Score]:
    """Scores by category, leaving out the cases with the ids `without`."""
    scores: dict[str, Score] = {}
    for case in cases(paths):
        if case["id"] in without:
            continue
        now = datetime.fromisoformat(case["now"]) if case.get("now") else None
        spans = Normalizer.for_locale(case["locale"]).normalize(case["text"], now=now)
        judge(case, spans, scores.setdefault(case["cat"], Score()))
    return scores


def latencies(rounds: int) -> tuple[list[float], list[float]]:
    """Milliseconds of each normalization of each sentence: by the wall clock, and of processor time."""
    now = datetime.fromisoformat("2026-03-04T12:00:00+00:00")
    wall, busy = [], []
    for _ in range(rounds):
        for locale, text in SENTENCES:
            normalizer = Normalizer.for_locale(locale)
            start, started = time.perf_counter(), time.thread_time()
            normalizer.normalize(text, now=now)
            busy.append((time.thread_time() - started) * 1000)
            wall.append((time.perf_counter() - start) * 1000)
    return wall, busy


def adversarial() -> float:
    """Processor milliseconds of the slowest hostile text of ADVERSARIAL_CHARS characters, the best of three runs."""
    slowest = 0.0
    for locale in ("en-US", "ja-JP"):
        normalizer = Normalizer.for_locale(locale)
        for piece in ADVERSARIAL:
            text = (piece * ADVERSARIAL_CHARS)[:ADVERSARIAL_CHARS]
            times = []
            for _ in range(3):
                start = time.thread_time()
                normalizer.normalize(text)
                times.append((time.thread_time() - start) * 1000)
            slowest = max(slowest, min(times))
    return slowest


def scored(scores: Mapping[str, Score]) -> dict[str, Figure]:
    """The scores as figures."""
    flat: dict[str, Figure] = {}
    for category, score in sorted(scores.items()):
        flat |= {
            f"{category}_expressions": score.total,
            f"{category}_right_percent": 100 * score.right / score.total,
            f"{category}_silently_wrong": score.wrong,
            f"{category}_ambiguous": score.flagged,
            f"{category}_missed": score.missed,
        }
    return flat


def timed(rounds: int) -> dict[str, Figure]:
    """The latency figures."""
    latencies(50)
    gc.disable()
    wall, busy = latencies(rounds)
    hostile = adversarial()
    gc.enable()
    flat: dict[str, Figure] = {f"p{q}_ms": percentile(wall, q) for q in (50, 95, 99)}
    flat |= {f"cpu_p{q}_ms": percentile(busy, q) for q in (50, 95, 99)}
    return flat | {"adversarial_2000_chars_cpu_ms": hostile}


def compared(paths: Sequence[Path], rounds: int) -> dict[str, Figure]:
    """The peers on the same English sentences and cases; those not installed are reported absent."""
    flat: dict[str, Figure] = {}
    labelled = list(cases(paths))
    texts = [text for locale, text in SENTENCES if locale.startswith("en")]
    for name, (_, make) in PEERS.items():
        if not installed(name):
            flat[f"{name}_installed"] = False
            continue
        peer = make()
        busy = []
        for text in texts * (rounds + 1):
            start = time.thread_time()
            peer.run(text)
            busy.append((time.thread_time() - start) * 1000)
        flat |= {f"{name}_cpu_p{q}_ms": percentile(busy[len(texts) :], q) for q in (50, 99)}
        for category, (right, wrong, nothing) in outcomes(peer, labelled).items():
            flat |= {
                f"{name}_{category}_right_percent": 100 * right / max(1, right + wrong + nothing),
                f"{name}_{category}_silently_wrong": wrong,
                f"{name}_{category}_missed": nothing,
            }
    return flat


def bench(
    paths: Annotated[list[Path], typer.Argument(metavar="CASES", help="JSONL files, or folders of them.")] = CASES,
    json: Annotated[Path | None, typer.Option(help="Write the figures here.")] = None,
    rounds: Annotated[int, typer.Option(min=1, max=100_000, help="Timed rounds over the sentences.")] = 500,
    peers: Annotated[bool, typer.Option(help="Run text2num, dateparser and recognizers-text beside it.")] = False,
    failures: Annotated[bool, typer.Option(help="List every expression that was not right.")] = False,
) -> None:
    """Score normalization on labelled cases and time it."""
    scores = evaluate(paths)
    if failures:
        for score in scores.values():
            for failure in score.failures:
                typer.echo(failure)
    figures = scored(scores) | timed(rounds)
    if peers:
        figures |= compared(paths, max(1, rounds // 20))
    total = sum(score.total for score in scores.values())
    publish("normalize", f"{total} labelled expressions; sentences of 20 words", figures, json)
