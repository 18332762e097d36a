"""Why a comparison fails, in words."""

from collections import Counter
from typing import Final

from app.qa.replay.comparing.compare_scores import Moved, Slower
from app.qa.replay.comparing.turn_diff import TurnDiff
from app.qa.replay.judging.verdicts import ERROR

_SHOWN: Final = 3


def why(turns: tuple[TurnDiff, ...]) -> str:
    """The commonest changes of some turns, with stages and rules: what a person needs to find the cause."""
    stages = ", ".join(f"{cause} {n}" for cause, n in Counter(turn.cause for turn in turns).most_common(_SHOWN))
    named = ", ".join(turn.id for turn in turns[:_SHOWN])
    parts = [f"{len(turns)} turns ({named}{' …' if len(turns) > _SHOWN else ''})"]
    if unjudged := sum(turn.unjudged for turn in turns):
        parts.append(f"{unjudged} move money of which no person says whether it should (money_unjudged)")
    wrong = [c for turn in turns for c in turn.fields if c.lost or c.money or c.name == ERROR]
    for name, count in Counter(c.name for c in wrong).most_common(_SHOWN):
        sample = next(c for c in wrong if c.name == name)
        parts.append(f"{count}× {sample}")
    # Where the same rules fired and came to something else, it is they that are looked at.
    changed = Counter(rule for turn in turns for rule in turn.rules_changed)
    rules = changed or Counter(rule for turn in turns for rule in turn.rules_after)
    if rules:
        parts.append(f"rules {', '.join(rule for rule, _ in rules.most_common(_SHOWN))}")
    return "; ".join([*parts, f"first stage that differs: {stages}"])


def misheard(score: Moved) -> str:
    """Hearing that got worse."""
    return f"{score.name} {score.before.value or 0:.4f} → {score.after.value or 0:.4f}: {score.says}"


def untimed(kept: int) -> str:
    """Runs of which nobody can say how fast they hear."""
    how = "--fresh --hear-anew, or the policy rules"
    return f"{kept} recordings of the two runs were heard by earlier ones, not timed: {how}"


def late(stage: Slower) -> str:
    """A stage that got slower."""
    return f"stage {stage.stage} takes {stage.after_ms:.1f} ms, {stage.before_ms:.1f} before ({stage.where})"
