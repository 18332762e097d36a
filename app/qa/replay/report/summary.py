"""Scores and comparisons as tables for the terminal."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from app.qa.replay.comparing.diff import PolicyBreach, RunDiff
from app.qa.replay.comparing.history import NotedRun
from app.qa.replay.comparing.turn_diff import Change, TurnDiff
from app.qa.replay.judging.coverage import RuleCoverage
from app.qa.replay.judging.failures import FailureGroup
from app.qa.replay.judging.score import Scores
from app.qa.replay.judging.stats import Ratio
from app.qa.replay.provenance import UNKNOWN
from app.qa.replay.records.journal import Run

_FIRST: Final = ("errors", "money_false_accepts", "money_unjudged", "money_wrong_read_backs", "money_missed", "right")
_BAD: Final = frozenset(_FIRST[:4])
_SHOWN_TURNS: Final = 40
_SHOWN_SOURCES: Final = 20
_SHOWN_WORDS: Final = 8
_SHOWN_GROUPS: Final = 12
_SHOWN_RUNS: Final = 20
_OVER_TIME: Final = ("right", "money_false_accepts", "wer_normalized", "cer_normalized")
_STYLE: Final = {Change.WORSE: "red", Change.BETTER: "green", Change.CHANGED: "yellow"}


def print_scores(scores: Scores, console: Console) -> None:
    """Money first, then every ratio with its interval, the stages, misheard words, and why turns failed."""
    table = Table("figure", "value", "95 % interval", "of", title=f"{scores.cases} calls, {scores.turns} turns")
    names = [*_FIRST, *(n for n in scores.ratios if n not in _FIRST)]
    for name in names:
        ratio = scores.ratios.get(name)
        if ratio is not None and ratio.value is not None:
            style = "red bold" if name in _BAD and ratio.right else ""
            table.add_row(name, f"{ratio.value:.4f}", _interval(ratio), f"{ratio.of:.0f}", style=style)
    console.print(table)
    stages = Table("stage", "turns", "p50 ms", "p95 ms", "p99 ms")
    for name, found in scores.latency.items():
        stages.add_row(name, str(found.count), *(f"{ms:.2f}" for ms in (found.p50_ms, found.p95_ms, found.p99_ms)))
    console.print(stages)
    for language, words in scores.misheard.items():
        told = (f"{said or '∅'} → {heard or '∅'} {count}×" for said, heard, count in words[:_SHOWN_WORDS])
        console.print(escape(f"misheard most often ({language}): {', '.join(told) or 'nothing'}"))
    if scores.failures:
        console.print(_why(scores.failures))
    for reason, count in scores.reasons.items():
        console.print(f"[red]{count} turns failed: {escape(reason)}")


def _why(groups: tuple[FailureGroup, ...]) -> Table:
    """Why turns are wrong; a turn may be in several lines."""
    table = Table("turns", "first stage", "value", "how", "for example", title="why turns are wrong")
    for group in groups[:_SHOWN_GROUPS]:
        table.add_row(str(group.turns), *map(escape, (group.stage, group.slot, group.cause, group.examples[0])))
    if len(groups) > _SHOWN_GROUPS:
        table.add_row("…", f"{len(groups) - _SHOWN_GROUPS} more", "", "", "")
    return table


def print_coverage(found: tuple[RuleCoverage, ...], console: Console) -> None:
    """How many rules of each kind recordings reach, and every one that none does."""
    table = Table("language", "rules", "reached", "of")
    for one in found:
        table.add_row(one.language, one.kind, str(one.reached), str(len(one.turns)))
    console.print(table)
    for one in found:
        for rule in one.unreached:
            console.print(f"{one.kind[:-1]} that nothing reaches: {rule}", soft_wrap=True)


def print_history(runs: tuple[NotedRun, ...], baselines: tuple[str, ...], console: Console) -> None:
    """The latest runs, oldest first, and the names that runs can be held to."""
    table = Table("begun", "commit", "rules", "turns", *_OVER_TIME, "held to", "alerts", title=f"{len(runs)} runs")
    for run in runs[-_SHOWN_RUNS:]:
        figures = (f"{run.ratios[name][0]:.4f}" if name in run.ratios else "–" for name in _OVER_TIME)
        cells = (run.at, run.commit[:12], run.ruleset[:12], str(run.turns), *figures, run.against, str(len(run.alerts)))
        table.add_row(*map(escape, cells), style="red" if run.alerts else "")
    console.print(table)
    console.print(f"baselines: {', '.join(baselines) or 'none'}")


def _interval(ratio: Ratio) -> str:
    return "" if ratio.low is None or ratio.high is None else f"{ratio.low:.4f} … {ratio.high:.4f}"


def print_played(run: Run, console: Console) -> None:
    """What produced a run, and how much of it was played just now."""
    for line in made_by(run):
        console.print(escape(line))
    if run.sittings and run.sittings[-1].held:
        held = run.sittings[-1].held
        console.print(f"[yellow]{held} of {run.head.cases} calls were played before, at {run.sittings[0].started}")


def made_by(run: Run) -> tuple[str, ...]:
    """Code, rules, recogniser, models, settings, machine and time of a run, in a line or two."""
    head = run.head
    settings = ", ".join(f"{name} {value}" for name, value in head.settings.items())
    made_of = f"code {head.code or '?'}, rules {_hash(head.ruleset)}, recogniser {head.recognizer or 'none'}"
    lines = [f"{head.mode}: {made_of}, manifest {head.manifest[:12]}; {settings}"]
    for one in run.sittings:
        dirty = {True: " with uncommitted changes", False: "", None: ""}[one.dirty]
        lines.append(f"{one.started} by {one.commit[:12] or 'an installed package'}{dirty}, {one.machine}")
    if run.kept:
        lines.append(f"{run.kept} recordings were not decoded: transcripts that {head.recognizer} made in earlier runs")
    return tuple(lines)


def _hash(ruleset: str) -> str:
    return ruleset if ruleset == UNKNOWN else ruleset[:12]


def print_diff(compared: RunDiff, findings: tuple[PolicyBreach, ...], console: Console) -> None:
    """Both runs, their scores, causes, the turns that differ (worse ones first), and last why the comparison fails."""
    for name, run in (("before", compared.before), ("after", compared.after)):
        console.print(*(escape(f"{name}: {line}") for line in made_by(run)), sep="\n")
    sources = compared.changed_sources
    for source in sources[:_SHOWN_SOURCES]:
        console.print(escape(f"  {source}"))
    if len(sources) > _SHOWN_SOURCES:
        console.print(f"  … and {len(sources) - _SHOWN_SOURCES} more files")
    for change in compared.unreached[:_SHOWN_SOURCES]:
        console.print(escape(f"  no turn uses {change}"), soft_wrap=True)
    console.print(_scores(compared))
    console.print(", ".join(f"{count} {name}" for name, count in compared.counts.items()))
    causes = Table("cause", *(c.value for c in _STYLE), title="first stage that differs")
    for cause, counts in sorted(compared.causes.items()):
        causes.add_row(cause, *(str(counts.get(change, 0)) for change in _STYLE))
    if compared.causes:
        console.print(causes)
    _print_turns(compared.turns, console)
    for finding in findings:
        console.print(f"[red]{escape(f'{finding.policy}: {finding.says}')}", soft_wrap=True)
    if findings and sources:
        console.print(f"[red]{escape(blamed(compared))}", soft_wrap=True)


def blamed(compared: RunDiff) -> str:
    """The files that changed between two runs, in a line: one of them is the cause."""
    sources = compared.changed_sources
    more = f" and {len(sources) - _SHOWN_WORDS} more" if len(sources) > _SHOWN_WORDS else ""
    return f"changed between the runs: {', '.join(sources[:_SHOWN_WORDS])}{more}"


def _scores(compared: RunDiff) -> Table:
    table = Table(
        "figure", "before", "after", "change", "95 % interval", "noise?", title="scores of the turns in both runs"
    )
    for score in compared.scores:
        shift = score.shift if score.says != "no change" else None
        table.add_row(
            score.name,
            f"{score.before.value or 0:.4f}",
            f"{score.after.value or 0:.4f}",
            f"{shift.change:+.4f}" if shift else "",
            f"{shift.low:+.4f} … {shift.high:+.4f}" if shift else "",
            score.says,
        )
    return table


def _sign(rule: str, then: set[str], now: set[str]) -> str:
    return " " if rule in then and rule in now else "−" if rule in then else "+"


def _print_turns(turns: Iterable[TurnDiff], console: Console) -> None:
    table = Table("turn", "change", "cause", "values", "rules")
    differing = sorted((t for t in turns if t.change in _STYLE), key=lambda t: list(_STYLE).index(t.change))
    for turn in differing[:_SHOWN_TURNS]:
        then, now = set(turn.rules_before), set(turn.rules_after)
        rules = [f"{_sign(rule, then, now)} {rule}" for rule in sorted(then | now)]
        cells = (turn.id, turn.change, turn.cause, "\n".join(map(str, turn.fields)), "\n".join(rules))
        table.add_row(*map(escape, cells), style=_STYLE[turn.change])
    if differing:
        console.print(table)
    if len(differing) > _SHOWN_TURNS:
        rest = Counter(turn.change.value for turn in differing[_SHOWN_TURNS:])
        console.print(f"… and {', '.join(f'{count} {name}' for name, count in rest.items())} more")
