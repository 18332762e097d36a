"""The report's charts, drawn as SVG from scores and timings."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import ceil, floor, log10
from typing import Final

from markupsafe import Markup

from app.qa.replay.judging.score import Latency, Scores
from app.qa.replay.judging.stats import CalibrationCurve, Ratio, percentiles
from app.qa.replay.records.record import TurnResult
from app.qa.replay.report import svg

WIDTH: Final = 640.0
LEFT: Final = 150.0
TOTAL: Final = "total"
_CURVE_AT: Final = (*range(0, 90, 5), *range(90, 99), 99, 99.5, 99.9)
_TICKS: Final = (0, 50, 90, 99, 99.9)
_MOST_TICKS: Final = 6
_LEAST_MS: Final = 0.001
_MAX_LABELS: Final = 24


def stage_colours(latency: Mapping[str, Latency]) -> dict[str, int]:
    """A series number for every stage, the same in all charts."""
    return {name: i % svg.SERIES for i, name in enumerate(n for n in latency if n != TOTAL)}


def waterfall(latency: Mapping[str, Latency]) -> Markup:
    """A row a stage, each beginning where the one before ends at the median: solid to p50, light to p95."""
    stages = [(name, found) for name, found in latency.items() if name != TOTAL]
    starts = list(accumulate((s.p50_ms for _, s in stages), initial=0.0))
    ends = [start + s.p95_ms for start, (_, s) in zip(starts, stages, strict=False)]
    longest = max([_LEAST_MS, *ends])
    left, colours, bottom = 110.0, stage_colours(latency), 12.0 + 28 * len(stages)
    scale = (WIDTH - left - 120) / longest
    parts = []
    for tick in _ticks(longest):
        x = left + tick * scale
        parts += [svg.line(x, 4, x, bottom), svg.text(x, bottom + 15, f"{tick:g} ms", "note", "middle")]
    for place, (start, (name, s)) in enumerate(zip(starts, stages, strict=False)):
        x, y = left + start * scale, 10.0 + 28 * place
        tip = f"{name}: p50 {s.p50_ms:.2f} ms, p95 {s.p95_ms:.2f} ms"
        parts += [
            svg.text(left - 8, y + 13, name, "note", "end"),
            svg.box(x, y, s.p95_ms * scale, 18, f"s{colours[name]} tail", tip, rx=3),
            svg.box(x, y, s.p50_ms * scale, 18, f"s{colours[name]}", tip, rx=3),
            svg.text(WIDTH, y + 13, f"{s.p50_ms:.1f} · {s.p95_ms:.1f} ms", "note", "end"),
        ]
    return svg.drawing(WIDTH, bottom + 22, "Latency by stage, median and 95th percentile", *parts)


def _ticks(longest: float) -> list[float]:
    """Two to six round steps up to `longest`."""
    power = 10.0 ** floor(log10(longest))
    step = next(power * part for part in (0.2, 0.25, 0.5, 1.0, 2.0) if longest / (power * part) <= _MOST_TICKS)
    return [step * n for n in range(int(longest / step) + 1)]


def _legend(names: Sequence[tuple[str, str]], y: float) -> list[Markup]:
    """Names beside a square of their class of colour, in lines."""
    parts, x = [], 0.0
    for name, colour in names:
        if x > WIDTH - 90:
            x, y = 0.0, y + 18
        parts += [svg.box(x, y, 10, 10, colour), svg.text(x + 15, y + 9, name, "note")]
        x += 28 + 7.2 * len(name)
    return parts


def curves(results: Sequence[TurnResult], latency: Mapping[str, Latency]) -> Markup:
    """Percentile curves of the whole turn and its slowest stages, on a scale that opens up the tail."""
    results = [result for result in results if result.record.error is None]
    by_stage: dict[str, list[float]] = {TOTAL: [ms for r in results if (ms := r.timing.total_ms) is not None]}
    for result in results:
        for stage in result.timing.stages:
            by_stage.setdefault(stage.name, []).append(stage.ms)
    slow = sorted((n for n in by_stage if n != TOTAL), key=lambda n: -latency[n].p95_ms)[:5]
    lines = {name: percentiles(by_stage[name], _CURVE_AT) for name in (TOTAL, *slow)}
    top = max((max(found.values()) for found in lines.values() if found), default=1.0)
    least = min((ms for found in lines.values() for ms in found.values() if ms > 0), default=0.1)
    low, high = log10(max(least, 0.05)), log10(max(top, 1.0))

    def x(at: float) -> float:
        return 45 + (WIDTH - 60) * -log10(1 - at / 100) / 3

    def y(ms: float) -> float:
        return 215 - 200 * (max(log10(max(ms, 0.05)), low) - low) / max(high - low, 1e-9)

    parts = [svg.line(x(t), 10, x(t), 215) for t in _TICKS]
    parts += [svg.text(x(t), 230, f"p{t:g}", "note", "middle") for t in _TICKS]
    for power in range(ceil(low), floor(high) + 1):
        parts += [
            svg.line(45, y(10**power), WIDTH, y(10**power)),
            svg.text(40, y(10**power) + 4, f"{10**power:g}", "note", "end"),
        ]
    colours = stage_colours(latency)
    for name, found in lines.items():
        kind = "curve total" if name == TOTAL else f"curve c{colours[name]}"
        parts.append(svg.path([(x(at), y(ms)) for at, ms in found.items()], kind))
    legend = _legend([("whole turn", "total"), *((name, f"s{colours[name]}") for name in slow)], 242)
    title = "Latency percentiles in milliseconds, whole turn and slowest stages"
    return svg.drawing(WIDTH, 275, title, *parts, *legend)


def confusion(counts: Mapping[str, Mapping[str, int]]) -> Markup:
    """Intents expected (rows) against intents understood (columns)."""
    columns = sorted({*counts, *(got for row in counts.values() for got in row)})[:_MAX_LABELS]
    rows = list(counts)[:_MAX_LABELS]
    size = min(44.0, (WIDTH - LEFT - 60) / max(len(columns), 1))
    top, parts = 118.0, []
    for j, got in enumerate(columns):
        x = LEFT + (j + 0.7) * size
        label = svg.element("text", got, x=x, y=top - 6, class_="note", transform=f"rotate(-50 {x:.1f} {top - 6:.1f})")
        parts.append(label)
    for i, wanted in enumerate(rows):
        y, total = top + i * size, sum(counts[wanted].values()) or 1
        parts.append(svg.text(LEFT - 6, y + size * 0.65, wanted, "note", "end"))
        for j, got in enumerate(columns):
            count = counts[wanted].get(got, 0)
            kind = "cell" if not count else ("cell hit" if wanted == got else "cell miss")
            shade = 0.12 + 0.88 * count / total if count else 1.0
            tip = f"{wanted} understood as {got}: {count} of {total}"
            parts.append(svg.box(LEFT + j * size, y, size - 1, size - 1, kind, tip, fill_opacity=shade))
            if count:
                parts.append(svg.text(LEFT + (j + 0.5) * size, y + size * 0.65, str(count), "count", "middle"))
    return svg.drawing(WIDTH, top + len(rows) * size + 6, "Confusion of intents", *parts)


def reliability(series: Mapping[str, CalibrationCurve]) -> Markup:
    """Stated probability against the share that was right; on the diagonal it can be believed."""
    side, parts = 260.0, [svg.line(40, 270, 40 + 260, 10, "diagonal")]
    for tick in (0.0, 0.5, 1.0):
        parts += [
            svg.line(40, 270 - tick * side, 300, 270 - tick * side),
            svg.text(34, 274 - tick * side, f"{tick:g}", "note", "end"),
        ]
        parts.append(svg.text(40 + tick * side, 286, f"{tick:g}", "note", "middle"))
    for number, (name, found) in enumerate(series.items()):
        points = [(40 + b.stated * side, 270 - b.observed * side) for b in found.bins]
        parts.append(svg.path(points, f"curve c{number}"))
        for (x, y), b in zip(points, found.bins, strict=True):
            tip = svg.element("title", f"{name}: stated {b.stated:.2f}, right {b.observed:.2f} of {b.count}")
            radius = 2.5 + 2 * log10(b.count)
            parts.append(svg.element("circle", tip, cx=x, cy=y, r=radius, class_=f"s{number}"))
        error = "no data" if found.error is None else f"error {found.error:.3f}"
        y = 40.0 + 22 * number
        parts += [svg.box(330, y - 10, 10, 10, f"s{number}"), svg.text(346, y, f"{name}: {error}", "note")]
    return svg.drawing(WIDTH, 295, "Calibration: stated probability against share right", *parts)


def flows(counts: Mapping[str, Mapping[str, int]]) -> Markup:
    """Which route turns took, and which decision each came to: a Sankey of two columns."""
    total = sum(sum(row.values()) for row in counts.values()) or 1
    height, gap, parts = 230.0, 8.0, []
    decisions = sorted({d for row in counts.values() for d in row})
    scale = (height - gap * max(len(counts), len(decisions))) / total
    inflow = {d: sum(row.get(d, 0) for row in counts.values()) for d in decisions}
    right = dict(zip(decisions, accumulate((inflow[d] * scale + gap for d in decisions), initial=10.0), strict=False))
    landing, y = dict(right), 10.0
    for number, (route, row) in enumerate(counts.items()):
        size, colour, leave = sum(row.values()), number % svg.SERIES, y
        for decision, count in row.items():
            parts.append(_ribbon(leave, landing[decision], count * scale, colour, f"{route} → {decision}: {count}"))
            leave += count * scale
            landing[decision] += count * scale
        parts += [
            svg.box(110, y, 12, size * scale, f"s{colour}"),
            _named(104, y + size * scale / 2, route, size, total, "end"),
        ]
        y += size * scale + gap
    for decision in decisions:
        parts.append(svg.box(WIDTH - 132, right[decision], 12, inflow[decision] * scale, "node"))
        middle = right[decision] + inflow[decision] * scale / 2
        parts.append(_named(WIDTH - 114, middle, decision, inflow[decision], total, "start"))
    return svg.drawing(WIDTH, height + 20, "Routes and the decisions they led to", *parts)


def _ribbon(left: float, right: float, thick: float, colour: int, tip: str) -> Markup:
    a, b, middle = 122.0, WIDTH - 132, WIDTH / 2 - 5
    shape = (
        f"M{a} {left:.1f}C{middle} {left:.1f} {middle} {right:.1f} {b} {right:.1f}"
        f"V{right + thick:.1f}C{middle} {right + thick:.1f} {middle} {left + thick:.1f} {a} {left + thick:.1f}Z"
    )
    return svg.element("path", svg.element("title", tip), d=shape, class_=f"ribbon s{colour}")


def _named(x: float, y: float, name: str, count: int, total: int, anchor: str) -> Markup:
    return svg.text(x, y + 4, f"{name} {100 * count / total:.0f}%", "note", anchor)


def whiskers(rows: Sequence[tuple[str, Ratio]], label: str) -> Markup:
    """A share by slice, with its 95 % interval."""
    shown = [(name, r) for name, r in rows if r.value is not None][:_MAX_LABELS]
    low = min((r.low or 0.0 for _, r in shown), default=0.0)
    high = max((r.high or 0.0 for _, r in shown), default=1.0)
    floor, reach = (low, high - low) if high > low else (0.0, 1.0)

    def x(value: float) -> float:
        return LEFT + 20 + (WIDTH - LEFT - 90) * (value - floor) / reach

    parts = []
    for i, (name, found) in enumerate(shown):
        y = 16.0 + 22 * i
        assert found.value is not None and found.low is not None and found.high is not None  # noqa: PT018 - one fact
        parts += [
            svg.text(LEFT, y + 4, name, "note", "end"),
            svg.line(x(found.low), y, x(found.high), y, "whisker"),
            svg.element("circle", cx=x(found.value), cy=y, r=4.5, class_="s0"),
            svg.text(WIDTH, y + 4, f"{100 * found.value:.1f}%", "note", "end"),
        ]
    return svg.drawing(WIDTH, 16.0 + 22 * max(len(shown), 1), label, *parts)


def all_charts(results: Sequence[TurnResult], scores: Scores) -> list[tuple[str, str, Markup]]:
    """Every chart: title, what it says, picture."""
    right = [(name, found["right"]) for name, found in scores.slices.items() if "right" in found]
    heard = [(f"{n} {unit.upper()}", f[unit]) for n, f in scores.slices.items() for unit in ("wer", "cer") if unit in f]
    calibrated = {"understanding": scores.understanding, "payees": scores.payees}
    slices = (
        ("Turns right, by slice", "With 95 % intervals over resampled calls.", right),
        ("Word and character errors, by slice", "With 95 % intervals.", heard),
    )
    return [
        ("Latency waterfall", "Stages in turn: solid to the median, light to p95.", waterfall(scores.latency)),
        (
            "Latency percentiles",
            "The tail is stretched: each division is ten times rarer.",
            curves(results, scores.latency),
        ),
        ("Routes and decisions", "How turns were handled, and what came of it.", flows(scores.flows)),
        ("Intents", "Expected (rows) against understood (columns).", confusion(scores.confusion)),
        ("Calibration", "Whether stated probabilities can be believed.", reliability(calibrated)),
        *((title, says, whiskers(rows, title)) for title, says, rows in slices if rows),
    ]
