"""A comparison as Markdown, for a pull request: the verdict, why, the scores, the turns."""

from typing import Final

from app.qa.replay.comparing.diff import PolicyBreach, RunDiff
from app.qa.replay.comparing.turn_diff import Change, TurnDiff
from app.qa.replay.report.summary import blamed, made_by

_SHOWN_TURNS: Final = 20


def markdown(compared: RunDiff, findings: tuple[PolicyBreach, ...]) -> str:
    """The document."""
    lines = [f"### Replay: {'red' if findings else 'green'}", ""]
    lines += [f"- **{finding.policy}**: {_cell(finding.says)}" for finding in findings]
    if findings and compared.changed_sources:
        lines.append(f"- {_cell(blamed(compared))}")
    lines += ["", ", ".join(f"{count} {name}" for name, count in compared.counts.items()), ""]
    lines += ["| figure | before | after | |", "|---|---|---|---|"]
    for score in compared.scores:
        lines.append(f"| {score.name} | {score.before.value or 0:.4f} | {score.after.value or 0:.4f} | {score.says} |")
    worse = [turn for turn in compared.turns if turn.change is Change.WORSE]
    if worse:
        lines += ["", "| worse turn | cause | values | rules then and now |", "|---|---|---|---|"]
        for turn in worse[:_SHOWN_TURNS]:
            values = "<br>".join(_cell(str(change)) for change in turn.fields)
            lines.append(f"| {_cell(turn.id)} | {turn.cause} | {values} | {_cell(_rules(turn))} |")
    for name, run in (("before", compared.before), ("after", compared.after)):
        lines += ["", *(f"{name}: {_cell(line)}" for line in made_by(run))]
    return "\n".join(lines) + "\n"


def _rules(turn: TurnDiff) -> str:
    """The rules that changed; where the same fired, those."""
    then, now = set(turn.rules_before), set(turn.rules_after)
    changed = [*(f"− {rule}" for rule in sorted(then - now)), *(f"+ {rule}" for rule in sorted(now - then))]
    return ", ".join(changed or sorted(now))


def _cell(text: str) -> str:
    """Text that can't end its cell, nor be read as markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|").replace("\n", " ")
