"""A sweep's plots, as SVG without a plotting library: bars of every run, and curves over what a run was varied by."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

FONT = 'font-family="sans-serif" font-size="11"'
WIDTH, BAR, GAP, LEFT = 720, 16, 8, 300
HEIGHT, MARGIN, LEGEND = 300, 50, 240
FEWEST_LEVELS = 3
COLOURS = ("#2f5d8c", "#c0622d", "#4a8c4f", "#8c4a7d", "#6b6b6b", "#b59a2a", "#3b9aa8", "#a83b3b")
_NUMBER = re.compile(r"(\d+)$")

Record = dict[str, Any]


def as_bars(title: str, rows: Sequence[Record], metric: str = "e2el") -> str:
    """Horizontal bars of p50 with p95 behind them, one a row."""
    values = [(_name(row), _number(row[f"p50_{metric}_ms"]), _number(row[f"p95_{metric}_ms"])) for row in rows]
    most = max([1.0, *(p95 for _, _, p95 in values), *(p50 for _, p50, _ in values)])
    scale = (WIDTH - LEFT - 90) / most
    parts = head(f"{title}: {metric}, p50 (dark) and p95, ms", 40 + len(values) * (BAR + GAP))
    for place, (name, p50, p95) in enumerate(values):
        y = 34 + place * (BAR + GAP)
        parts += [
            f'<text x="{LEFT - 8}" y="{y + 12}" text-anchor="end">{html.escape(name)}</text>',
            f'<rect x="{LEFT}" y="{y}" width="{p95 * scale:.1f}" height="{BAR}" fill="#9db7d5"/>',
            f'<rect x="{LEFT}" y="{y}" width="{p50 * scale:.1f}" height="{BAR}" fill="#2f5d8c"/>',
            f'<text x="{LEFT + p95 * scale + 6:.1f}" y="{y + 12}">{p50:.0f} / {p95:.0f}</text>',
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def as_curves(title: str, rows: Sequence[Record], metric: str = "e2el") -> str:
    """p95 over the first number that was varied, a curve for each server and setting; "" where none has two points."""
    curves = {name: sorted(points.items()) for name, points in _curves(rows, metric).items() if len(points) > 1}
    if not curves:
        return ""
    xs = sorted({x for points in curves.values() for x, _ in points})
    most = max(1.0, *(y for points in curves.values() for _, y in points))
    right, bottom = WIDTH - LEGEND, HEIGHT - MARGIN
    span = math.log2(xs[-1] / xs[0])

    def at(x: float, y: float) -> str:
        return f"{MARGIN + math.log2(x / xs[0]) / span * (right - MARGIN):.1f},{bottom - y / most * (bottom - 40):.1f}"

    parts = head(f"{title}: {metric} p95, ms", max(HEIGHT, 60 + 18 * len(curves)))
    parts += rungs(most, right, lambda level: float(at(xs[0], level).split(",")[1]))
    parts += [f'<text x="{at(x, 0).split(",")[0]}" y="{bottom + 16}" text-anchor="middle">{x:.0f}</text>' for x in xs]
    parts += [f'<text x="{right}" y="{bottom + 34}" text-anchor="end" fill="#555555">{html.escape(_over(rows))}</text>']
    for place, (name, points) in enumerate(curves.items()):
        colour = COLOURS[place % len(COLOURS)]
        path, row = " ".join(at(*point) for point in points), 50 + 18 * place
        parts += [
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-linejoin="round"/>',
            *(f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in (at(*p).split(",") for p in points)),
            f'<rect x="{right + 16}" y="{row - 9}" width="10" height="10" fill="{colour}"/>',
            f'<text x="{right + 32}" y="{row}">{html.escape(name[:38])}</text>',
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _curves(rows: Sequence[Record], metric: str) -> dict[str, dict[float, float]]:
    curves: dict[str, dict[float, float]] = {}
    for row in rows:
        first, _, rest = str(row["varied"]).partition(" ")
        found = _NUMBER.search(first)
        if found and int(found[1]) > 0 and (y := _number(row[f"p95_{metric}_ms"])) > 0:
            name = " ".join(part for part in (str(row["server"]), str(row["label"]), rest) if part)
            curves.setdefault(name, {})[float(found[1])] = y
    return curves


def head(title: str, height: int) -> list[str]:
    """An SVG's beginning with its title; the end is the caller's."""
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" {FONT}>',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="8" y="20" font-size="14">{html.escape(title)}</text>',
    ]


def rungs(most: float, right: float, height: Callable[[float], float]) -> list[str]:
    """Horizontal lines at round numbers below `most`, each with its number; `height` is a number's y."""
    parts = []
    for level in _levels(most):
        y = height(level)
        parts += [line(MARGIN, y, right, y, "#888888" if level == 0 else "#e4e4e4")]
        parts += [f'<text x="{MARGIN - 6}" y="{y + 4:.0f}" text-anchor="end" fill="#555555">{level:.0f}</text>']
    return parts


def _levels(most: float) -> list[float]:
    """Round numbers from 0 to just below `most`, three to seven of them."""
    step = 10.0 ** math.floor(math.log10(most))
    step = next(step * part for part in (1, 0.5, 0.2) if most / (step * part) >= FEWEST_LEVELS)
    return [step * number for number in range(math.floor(most / step) + 1)]


def _over(rows: Sequence[Record]) -> str:
    """What was varied first, in words."""
    first = next(str(row["varied"]) for row in rows if row["varied"])
    return first.partition("=")[0].replace("-", " ")


def line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    """One straight line."""
    return f'<line x1="{x1}" y1="{y1:.1f}" x2="{x2}" y2="{y2:.1f}" stroke="{colour}"/>'


def _name(row: Record) -> str:
    return " ".join(str(row[key]) for key in ("server", "label", "varied") if row[key])[:52]


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0
