"""Speed against acceptance: what drafting would make if its tokens were accepted more often or less, from step lengths.

A step's length is measured and does not hang on what is accepted; at a chance `a` for each drafted token after the one
before, n drafts make 1 + a + … + aⁿ tokens a step. Where that beats the server without drafts is the break-even.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from deploy.vllm.sweep.plots import COLOURS, HEIGHT, LEGEND, MARGIN, WIDTH, Record, head, line, rungs

PARTS = 50
PACE = "pace"
ALONE = "max-concurrency=1"


@dataclass(frozen=True)
class System:
    """One server at one answer at a time: how many tokens it drafts, and how long a step takes, milliseconds."""

    name: str
    drafted: int
    step_ms: float

    def speed(self, accepted: float) -> float:
        """Tokens a second where each drafted token is accepted with this chance after the one before."""
        return 1000 / self.step_ms * sum(accepted**place for place in range(self.drafted + 1))


def systems(rows: Sequence[Record]) -> list[System]:
    """One for each server that was timed over whole answers, by its longest answer."""
    found = {}
    for row in rows:
        if (row["label"] == PACE or row["varied"] == ALONE) and row["p50_tpot_ms"]:
            drafted = len(str(row["acceptance"]).split())
            tokens = float(row["acceptance_length"]) if drafted else 1.0
            found[row["server"]] = System(str(row["server"]), drafted, float(row["p50_tpot_ms"]) * tokens)
    return list(found.values())


def break_even(system: System, plain: System) -> float | None:
    """From which acceptance on drafting wins; None where it never does."""
    target = plain.speed(0)
    if system.speed(1) <= target:
        return None
    low, high = 0.0, 1.0
    for _ in range(PARTS):
        middle = (low + high) / 2
        low, high = (middle, high) if system.speed(middle) < target else (low, middle)
    return high


def as_curves(title: str, rows: Sequence[Record]) -> str:
    """An SVG: tokens a second over acceptance, each break-even marked; "" where no system drafts."""
    every = systems(rows)
    drafting = [system for system in every if system.drafted]
    if not drafting:
        return ""
    plain = min((system for system in every if not system.drafted), key=lambda s: s.step_ms, default=None)
    right, bottom = WIDTH - LEGEND, HEIGHT - MARGIN
    fastest = [system.speed(1) for system in drafting]
    most = min(max(fastest), 4 * min(fastest))

    def at(x: float, y: float) -> tuple[float, float]:
        return MARGIN + x * (right - MARGIN), bottom - min(y, most) / most * (bottom - 40)

    parts = head(f"{title}: tokens a second over the chance that a drafted token is accepted", HEIGHT + 20)
    parts += rungs(most, right, lambda level: at(0, level)[1])
    parts += [
        f'<text x="{at(x / 5, 0)[0]:.0f}" y="{bottom + 16}" text-anchor="middle">{x / 5:.1f}</text>' for x in range(6)
    ]
    if plain is not None:
        y = at(0, plain.speed(0))[1]
        parts += [line(MARGIN, y, right, y, "#222222"), _legend(right, 0, "#222222", f"{plain.name} (no drafts)")]
    for place, system in enumerate(drafting):
        parts += _curve(system, plain, at, COLOURS[place % len(COLOURS)])
        said = f"{system.name}{_pays(system, plain)}"
        parts += [_legend(right, place + 1, COLOURS[place % len(COLOURS)], said)]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _curve(
    system: System, plain: System | None, at: Callable[[float, float], tuple[float, float]], colour: str
) -> list[str]:
    """One system's speed, and a dot where it breaks even."""
    points = [at(x / PARTS, system.speed(x / PARTS)) for x in range(PARTS + 1)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    parts = [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>']
    even = None if plain is None else break_even(system, plain)
    if even is not None:
        x, y = at(even, system.speed(even))
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>']
    return parts


def _pays(system: System, plain: System | None) -> str:
    if plain is None:
        return ""
    even = break_even(system, plain)
    return " never pays" if even is None else f" from {even:.2f}"


def _legend(right: float, place: int, colour: str, said: str) -> str:
    y = 50 + 18 * place
    swatch = f'<rect x="{right + 16}" y="{y - 9}" width="10" height="10" fill="{colour}"/>'
    return f'{swatch}<text x="{right + 32}" y="{y}">{html.escape(said[:44])}</text>'
