"""Two runs in one page: every turn that differs with its sound, values and rules then and now; what moved, drawn."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from markupsafe import Markup
from pydantic import JsonValue

from app.qa.replay.comparing.compare_scores import Moved
from app.qa.replay.comparing.diff import PolicyBreach, RunDiff
from app.qa.replay.comparing.turn_diff import Change, TurnDiff
from app.qa.replay.judging.score import score
from app.qa.replay.judging.stats import Ratio
from app.qa.replay.judging.verdicts import Value
from app.qa.replay.records.record import TurnRecord
from app.qa.replay.report import svg
from app.qa.replay.report.build import asset, embedded, page_template, script_policy
from app.qa.replay.report.rows import recordings
from app.qa.replay.report.summary import made_by

_SCRIPTS: Final = ("make.js", "beside.js")
_WIDTH, _LEFT = 640.0, 190.0
_PERCENT: Final = 100.0
_MOST: Final = 24
_COLOUR: Final = {
    Change.WORSE: "s4",
    Change.BETTER: "s2",
    Change.CHANGED: "s1",
    Change.ADDED: "s0",
    Change.REMOVED: "s5",
}


def beside_page(compared: RunDiff, findings: Sequence[PolicyBreach], base: Path | None, page: Path) -> str:
    """The page's text. `base` is the folder that recordings are relative to; None leaves sound out."""
    script, style = "\n".join(asset(name) for name in _SCRIPTS), asset("style.css")
    differing = [turn for turn in compared.turns if turn.change is not Change.SAME]
    named = {turn.id for turn in differing}
    heard = [result for result in compared.after.results if result.record.id in named]
    sound = recordings(heard, base, page) if base is not None else {}
    template = page_template("beside.html.j2")
    return template.render(
        policy=script_policy(script, style),
        style=Markup(style),  # noqa: S704 - a file of ours
        script=Markup(script),  # noqa: S704 - a file of ours
        turns=Markup(embedded([turn_row(turn) for turn in differing])),  # noqa: S704 - escaped by embedded
        audio=Markup(embedded(sound)),  # noqa: S704 - escaped by embedded
        charts=charts(compared),
        counts=compared.counts,
        findings=findings,
        made=[*(f"before: {x}" for x in made_by(compared.before)), *(f"after: {x}" for x in made_by(compared.after))],
        sources=compared.changed_sources,
        causes=sorted({turn.cause.value for turn in differing}),
        values=sorted({change.name for turn in differing for change in turn.fields}),
    )


def turn_row(turn: TurnDiff) -> dict[str, JsonValue]:
    """A turn as the page's script shows it."""
    shown = turn.after or turn.before
    assert shown is not None
    return {
        "id": turn.id,
        "change": turn.change.value,
        "cause": turn.cause.value,
        "said": shown.expect.transcript if shown.expect else None,
        "then": _side(turn.before),
        "now": _side(turn.after),
        "fields": [[c.name, *_value(c.before), *_value(c.after), c.money] for c in turn.fields],
        "rules_then": list(turn.rules_before),
        "rules_now": list(turn.rules_after),
    }


def _side(turn: TurnRecord | None) -> dict[str, JsonValue] | None:
    if turn is None:
        return None
    told: dict[str, JsonValue] = {"heard": turn.heard, "spoken": turn.spoken, "decision": turn.outcome or turn.decision}
    return told | {"intent": turn.intent, "error": turn.reason or turn.error}


def _value(value: Value) -> tuple[str | None, bool | None]:
    return value.shown, value.right


def charts(compared: RunDiff) -> list[tuple[str, str, Markup]]:
    """What moved: scores with their intervals, why turns differ, and shares of turns right by slice."""
    tested = [moved for moved in compared.scores if moved.shift is not None and moved.says != "no change"]
    drawn = [("Scores that moved", "Change in points with its 95 % interval; grey is noise.", _moved(tested))]
    drawn.append(("Turns that differ", "By the first stage that differs.", _causes(compared)))
    old, new = (score(run.results).slices for run in (compared.before, compared.after))
    pairs = [(n, old[n]["right"], new[n]["right"]) for n in new if "right" in new[n] and "right" in old.get(n, {})]
    both = [pair for pair in pairs if pair[1].value != pair[2].value]
    both.sort(key=lambda pair: (pair[2].value or 0) - (pair[1].value or 0))
    drawn.append(
        ("Turns right, by slice", "From the ring to the dot; slices that did not move are left out.", _slices(both))
    )
    return drawn


def _moved(scores: Sequence[Moved]) -> Markup:
    if not scores:
        return _nothing("no score moved")
    shifts = [moved.shift for moved in scores if moved.shift is not None]
    reach = max(max(abs(s.low), abs(s.high), 1e-6) for s in shifts)
    middle, scale = _LEFT + (_WIDTH - _LEFT - 70) / 2, (_WIDTH - _LEFT - 90) / 2 / reach
    bottom = 14.0 + 22 * len(scores)
    parts = [svg.line(middle, 4, middle, bottom, "diagonal")]
    for place, (moved, shift) in enumerate(zip(scores, shifts, strict=True)):
        y = 16.0 + 22 * place
        colour = "s5" if not moved.real else "s4" if moved.worse else "s2"
        tip = svg.element("title", f"{moved.name}: {moved.before.value} → {moved.after.value}, {moved.says}")
        parts += [
            svg.text(_LEFT - 8, y + 4, moved.name, "note", "end"),
            svg.line(middle + shift.low * scale, y, middle + shift.high * scale, y, "whisker"),
            svg.element("circle", tip, cx=middle + shift.change * scale, cy=y, r=5.0, class_=colour),
            svg.text(_WIDTH, y + 4, f"{_PERCENT * shift.change:+.2f}", "note", "end"),
        ]
    return svg.drawing(_WIDTH, bottom + 6, "Scores that moved", *parts)


def _causes(compared: RunDiff) -> Markup:
    if not compared.causes:
        return _nothing("no turn differs")
    rows = sorted(compared.causes.items(), key=lambda item: -sum(item[1].values()))
    scale = (_WIDTH - _LEFT - 60) / max(sum(row.values()) for _, row in rows)
    parts = []
    for place, (cause, row) in enumerate(rows):
        x, y = _LEFT, 8.0 + 26 * place
        parts.append(svg.text(_LEFT - 8, y + 13, cause, "note", "end"))
        for change, colour in _COLOUR.items():
            if count := row.get(change, 0):
                parts.append(svg.box(x, y, count * scale, 18, colour, f"{cause}: {count} {change}"))
                x += count * scale
        parts.append(svg.text(x + 6, y + 13, str(sum(row.values())), "note"))
    return svg.drawing(_WIDTH, 12.0 + 26 * len(rows), "Turns that differ by cause", *parts)


def _slices(rows: Sequence[tuple[str, Ratio, Ratio]]) -> Markup:
    if not rows:
        return _nothing("no slice moved")
    shown = [*rows[: _MOST // 2], *rows[max(_MOST // 2, len(rows) - _MOST // 2) :]]
    low = min(min(a.value or 0, b.value or 0) for _, a, b in shown)
    scale = (_WIDTH - _LEFT - 80) / max(1 - low, 1e-6)
    parts = []
    for place, (name, before, after) in enumerate(shown):
        y = 14.0 + 22 * place
        then, now = (_LEFT + 10 + ((r.value or 0) - low) * scale for r in (before, after))
        colour = "s4" if now < then else "s2"
        parts += [
            svg.text(_LEFT - 8, y + 4, name[-30:], "note", "end"),
            svg.line(then, y, now, y, "whisker"),
            svg.element("circle", cx=then, cy=y, r=4.0, class_="ring"),
            svg.element(
                "circle", svg.element("title", f"{name}: {after.of:.0f} turns"), cx=now, cy=y, r=5.0, class_=colour
            ),
            svg.text(_WIDTH, y + 4, f"{_PERCENT * (after.value or 0):.1f}%", "note", "end"),
        ]
    return svg.drawing(_WIDTH, 16.0 + 22 * len(shown), "Turns right by slice, then and now", *parts)


def _nothing(says: str) -> Markup:
    return svg.drawing(_WIDTH, 30, says, svg.text(_WIDTH / 2, 18, says, "note", "middle"))
