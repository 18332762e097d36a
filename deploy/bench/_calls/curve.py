"""Latency against false cut-offs, as one picture."""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

import orjson

from app.qa.figures import Figure
from schemas.call import Patience

WIDTH, HEIGHT, MARGIN = 720, 420, 64
_MOST_TICKS: Final = 10
COLOURS: Final = ("#0a7", "#c33", "#36c")
NAMES: Final = {"words": "by the words, waits stretched", "silence": "fixed silence"}


SETTINGS: Final = (
    *(("words", f"x{scale:g}", Patience(scale)) for scale in (0.5, 0.75, 1.0, 1.5, 2.5)),
    *(("silence", f"{ms} ms", Patience(fixed_ms=ms)) for ms in (200, 350, 500, 800, 1200)),
)
"""The points: our waits stretched by so much, and fixed silences."""


@dataclass(frozen=True, slots=True)
class Point:
    """One setting's outcome: milliseconds from the last sound, and the share of paused commands cut off."""

    series: str
    label: str
    p50_ms: float
    p95_ms: float
    p99_ms: float
    false_cutoff_rate: float
    calls: int


def write_curve(target: Path, until: str, play: Callable[[Patience], Mapping[str, Figure]]) -> None:
    """Play every setting; the points as TARGET.json, drawn as TARGET.svg. Latencies run `until` that moment."""
    points = []
    for series, label, patience in SETTINGS:
        found = play(patience)
        p50, p95, p99, rate = (float(found[k] or 0) for k in ("p50_ms", "p95_ms", "p99_ms", "false_cutoff_rate"))
        points.append(Point(series, label, p50, p95, p99, rate, int(found["calls"] or 0)))
    axis = f"p95, last sound to {until}, ms"
    target.with_suffix(".svg").write_text(draw(points, axis), encoding="utf-8")
    target.with_suffix(".json").write_bytes(orjson.dumps([asdict(p) for p in points], option=orjson.OPT_INDENT_2))


def draw(points: list[Point], axis: str) -> str:
    """An SVG: p95 on the horizontal axis, false cut-offs on the vertical one; below and to the left is better."""
    steps_ms = _ticks(max(100.0, *(p.p95_ms for p in points)))
    steps = _ticks(max(0.05, *(p.false_cutoff_rate for p in points)))
    far, high = steps_ms[-1], steps[-1]

    def place(p95_ms: float, rate: float) -> tuple[float, float]:
        x = MARGIN + p95_ms / far * (WIDTH - 2 * MARGIN)
        return x, HEIGHT - MARGIN - rate / high * (HEIGHT - 2 * MARGIN)

    body = [_axes(steps_ms, steps, axis)]
    for row, (series, group) in enumerate(groupby(points, key=lambda p: p.series)):
        colour = COLOURS[row % len(COLOURS)]
        members = list(group)
        spots = [place(p.p95_ms, p.false_cutoff_rate) for p in members]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
        body.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for (x, y), point in zip(spots, members, strict=True):
            body.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>')
            body.append(f'<text x="{x + 6:.1f}" y="{y - 6:.1f}" fill="{colour}">{escape(point.label)}</text>')
        name = escape(NAMES.get(series, series))
        body.append(f'<text x="{WIDTH - MARGIN - 200}" y="{18 + row * 16}" fill="{colour}">{name}</text>')
    view = f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {view}>'
        '<rect width="100%" height="100%" fill="#fff"/>' + "".join(body) + "</svg>"
    )


def _ticks(most: float) -> list[float]:
    """Five to ten round numbers from 0 to `most` or a little more."""
    power = 10.0 ** math.floor(math.log10(most))
    step = next(power * part for part in (0.1, 0.2, 0.5, 1.0) if most / (power * part) <= _MOST_TICKS)
    return [step * number for number in range(math.ceil(most / step - 1e-9) + 1)]


def _axes(steps_ms: list[float], steps: list[float], axis: str) -> str:
    left, bottom, right = MARGIN, HEIGHT - MARGIN, WIDTH - MARGIN
    parts = [f'<path d="M{left},{MARGIN} V{bottom} H{right}" fill="none" stroke="#333"/>']
    for ms in steps_ms:
        x = left + ms / steps_ms[-1] * (right - left)
        parts.append(f'<text x="{x:.0f}" y="{bottom + 18}" text-anchor="middle">{ms:.0f}</text>')
    for rate in steps:
        y = bottom - rate / steps[-1] * (bottom - MARGIN)
        parts.append(f'<text x="{left - 8}" y="{y + 4:.0f}" text-anchor="end">{rate:.0%}</text>')
    middle = (left + right) / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 16}" text-anchor="middle">{escape(axis)}</text>')
    parts.append(f'<text x="{left}" y="{MARGIN - 16}">callers cut off in a pause of 0.3 to 1.2 s</text>')
    return "".join(parts)
