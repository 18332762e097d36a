"""Scores and comparisons as tables for the terminal."""

from typing import Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from app.qa.replay.diff import Change, RunDiff
from app.qa.replay.score import Scores
from app.qa.replay.stats import Ratio

_FIRST: Final = ("money_false_accepts", "money_wrong_read_backs", "money_missed", "right")
_SHOWN_TURNS: Final = 40
_STYLE: Final = {Change.WORSE: "red", Change.BETTER: "green", Change.CHANGED: "yellow"}


def print_scores(scores: Scores, console: Console) -> None:
    """Money first, then every ratio with its interval, then the stages."""
    table = Table("figure", "value", "95 % interval", "of", title=f"{scores.cases} calls, {scores.turns} turns")
    names = [*_FIRST, *(n for n in scores.ratios if n not in _FIRST)]
    for name in names:
        ratio = scores.ratios.get(name)
        if ratio is not None and ratio.value is not None:
            style = "red bold" if name in _FIRST[:2] and ratio.right else ""
            table.add_row(name, f"{ratio.value:.4f}", _interval(ratio), f"{ratio.of:.0f}", style=style)
    console.print(table)
    stages = Table("stage", "turns", "p50 ms", "p95 ms", "p99 ms")
    for name, found in scores.latency.items():
        stages.add_row(name, str(found.count), *(f"{ms:.2f}" for ms in (found.p50_ms, found.p95_ms, found.p99_ms)))
    console.print(stages)
    for code, count in scores.errors.items():
        console.print(f"[red]{count} turns ended in {code}")


def _interval(ratio: Ratio) -> str:
    return "" if ratio.low is None or ratio.high is None else f"{ratio.low:.4f} … {ratio.high:.4f}"


def print_diff(compared: RunDiff, console: Console) -> None:
    """Counts, causes, and the first turns that differ: worse ones before better ones."""
    console.print(", ".join(f"{count} {name}" for name, count in compared.counts.items()))
    causes = Table("cause", *(c.value for c in _STYLE), title="first stage that differs")
    for cause, counts in sorted(compared.causes.items()):
        causes.add_row(cause, *(str(counts.get(change, 0)) for change in _STYLE))
    if compared.causes:
        console.print(causes)
    turns = Table("turn", "change", "cause", "differs in", "before", "after")
    differing = sorted((t for t in compared.turns if t.change in _STYLE), key=lambda t: list(_STYLE).index(t.change))
    for turn in differing[:_SHOWN_TURNS]:
        assert turn.before is not None
        assert turn.after is not None
        before, after = (f"{t.heard} → {t.decision} {t.reply or ''}" for t in (turn.before, turn.after))
        cells = (turn.id, turn.change, turn.cause, ", ".join(turn.fields), before, after)
        turns.add_row(*map(escape, cells), style=_STYLE[turn.change])
    if differing:
        console.print(turns)
    if len(differing) > _SHOWN_TURNS:
        console.print(f"… and {len(differing) - _SHOWN_TURNS} more")
