"""`tellerline bench normalize CASES`: right, silently wrong and missed by category, speed, and the peers beside it."""

import gc
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any, Final

import orjson
import typer

from app.qa.bench._report import Figure, percentile, publish
from schemas.span import Span, SpanKind
from services.normalize import Normalizer
from services.normalize.values import jsonable

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
    """The labelled cases of files, or of folders of JSONL files."""
    for path in paths:
        for file in sorted(path.glob("*.jsonl")) if path.is_dir() else [path]:
            yield from (orjson.loads(line) for line in file.read_bytes().splitlines() if line.strip())


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
    if not case.get("money_known") or "money" in case.get("forbid", ()):
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


def latencies(rounds: int) -> list[float]:
    """Milliseconds of each normalization of each sentence."""
    now = datetime.fromisoformat("2026-03-04T12:00:00+00:00")
    timed: list[float] = []
    for _ in range(rounds):
        for locale, text in SENTENCES:
            normalizer = Normalizer.for_locale(locale)
            start = time.perf_counter()
            normalizer.normalize(text, now=now)
            timed.append((time.perf_counter() - start) * 1000)
    return timed


def adversarial() -> float:
    """Milliseconds of the slowest hostile text of ADVERSARIAL_CHARS characters."""
    slowest = 0.0
    for locale in ("en-US", "ja-JP"):
        for piece in ADVERSARIAL:
            text = (piece * ADVERSARIAL_CHARS)[:ADVERSARIAL_CHARS]
            start = time.perf_counter()
            Normalizer.for_locale(locale).normalize(text)
            slowest = max(slowest, (time.perf_counter() - start) * 1000)
    return slowest


def figures(scores: Mapping[str, Score], rounds: int) -> dict[str, Figure]:
    """Everything as one flat object."""
    flat: dict[str, Figure] = {}
    for category, score in sorted(scores.items()):
        flat |= {
            f"{category}_right_percent": 100 * score.right / score.total,
            f"{category}_silently_wrong": score.wrong,
            f"{category}_ambiguous": score.flagged,
            f"{category}_missed": score.missed,
            f"{category}_expressions": score.total,
        }
    latencies(50)
    gc.disable()
    timed = latencies(rounds)
    flat["adversarial_2000_chars_ms"] = adversarial()
    gc.enable()
    return flat | {f"p{q}_ms": percentile(timed, q) for q in (50, 95, 99)}


def bench(
    paths: Annotated[list[Path], typer.Argument(metavar="CASES", help="JSONL files, or folders of them.")],
    json: Annotated[Path | None, typer.Option(help="Write the figures here.")] = None,
    rounds: Annotated[int, typer.Option(min=1, max=100_000, help="Timed rounds over the sentences.")] = 500,
    failures: Annotated[bool, typer.Option(help="List every expression that was not right.")] = False,
) -> None:
    """Score normalization on labelled cases and time it."""
    scores = evaluate(paths)
    if failures:
        for score in scores.values():
            for failure in score.failures:
                typer.echo(failure)
    publish("normalize", f"{sum(s.total for s in scores.values())} labelled expressions", figures(scores, rounds), json)
