"""The page of runs over time: a line a figure with its intervals, and every run with what was told of it."""

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from app.qa.replay.comparing.history import P95, NotedRun, series
from app.qa.replay.report import svg
from app.qa.replay.report.build import asset, page_template, style_policy

SHOWN: Final = (
    "right", "money_false_accepts", "money_wrong_read_backs", "errors", "wer_normalized", "cer_normalized",
    "intent_match", "decision_match", "payee_recall_at_1", P95,
)  # fmt: skip
"""Figures that have a chart."""
MOST: Final = 60
"""Runs that a chart shows, the latest."""
_WIDTH, _HEIGHT, _LEFT = 640.0, 150.0, 52.0
Points = Sequence[tuple[NotedRun, tuple[float, float, float, float]]]


def history_page(runs: tuple[NotedRun, ...]) -> str:
    """One self-contained page without a script."""
    style, found = asset("style.css"), series(runs)
    template = page_template("history.html.j2")
    return template.render(
        policy=style_policy(style),
        style=Markup(style),  # noqa: S704 - a file of ours
        charts=[(name, chart(name, found[name][-MOST:])) for name in SHOWN if name in found],
        runs=runs[::-1],
    )


def chart(name: str, points: Points) -> Markup:
    """A figure over runs, left to right, with its interval; runs that raised an alert are marked."""
    low = min(value[1] for _, value in points)
    high = max(value[2] for _, value in points)
    reach = high - low or 1.0
    step = (_WIDTH - _LEFT - 20) / max(len(points) - 1, 1)

    def y(value: float) -> float:
        return 12 + (_HEIGHT - 30) * (1 - (value - low) / reach)

    places = [(_LEFT + 10 + step * n, y(value[0])) for n, (_, value) in enumerate(points)]
    parts = [svg.text(_LEFT - 4, y(end) + 4, f"{end:.4g}", "note", "end") for end in (low, high)]
    parts.append(svg.path(places, "curve c0"))
    for (x, at), (run, value) in zip(places, points, strict=True):
        told = f"{name} {value[0]:.4g} ({value[1]:.4g} … {value[2]:.4g}) of {value[3]:.0f}, {run.at}, {run.commit[:12]}"
        colour = "s4" if run.alerts else "s0"
        parts.append(svg.line(x, y(value[1]), x, y(value[2]), "whisker"))
        parts.append(svg.element("circle", svg.element("title", told), cx=x, cy=at, r=4.5, class_=colour))
    return svg.drawing(_WIDTH, _HEIGHT, f"{name} over {len(points)} runs", *parts)
