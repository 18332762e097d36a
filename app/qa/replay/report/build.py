"""Writing the report: scores and charts drawn here, the table and the details by the page's own script."""

from base64 import b64encode
from dataclasses import asdict
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Final

import orjson
from jinja2 import Template
from markupsafe import Markup

from app.qa.replay.judging.coverage import coverage
from app.qa.replay.judging.failures import by_stage
from app.qa.replay.judging.score import Scores, score
from app.qa.replay.judging.stats import Ratio
from app.qa.replay.records.journal import Run
from app.qa.replay.report.charts import all_charts
from app.qa.replay.report.rows import COLUMNS, detail, judged, recordings, row
from app.qa.replay.report.summary import made_by
from app.qa.replay.report.templating import environment

_SCRIPTS: Final = ("make.js", "data.js", "table.js", "detail.js", "labels.js", "page.js")
_PERCENT: Final = 100.0
_CARDS: Final = (
    ("money_false_accepts", "money moved wrongly", "count"),
    ("money_unjudged", "money nobody judged", "count"),
    ("money_wrong_read_backs", "wrong read-backs", "count"),
    ("right", "turns right", "share"),
    ("wer", "word error rate (en)", "share"),
    ("wer_normalized", "the same, normalized", "share"),
    ("cer", "character error rate (ja)", "share"),
    ("cer_normalized", "the same, normalized", "share"),
    ("intent_match", "intent", "share"),
    ("decision_match", "decision", "share"),
    ("reply_match", "reply", "share"),
    ("payee_recall_at_1", "payee recall@1", "share"),
    ("payee_recall_at_3", "payee recall@3", "share"),
    ("span_all_precision", "span precision", "share"),
    ("span_all_recall", "span recall", "share"),
    ("slot_all_precision", "slot precision", "share"),
    ("slot_all_recall", "slot recall", "share"),
    ("gpu_calls_avoided", "GPU calls avoided", "share"),
)
_SLICE_COLUMNS: Final = (
    ("money_false_accepts", "false accepts"),
    ("money_unjudged", "money unjudged"),
    ("right", "right"),
    ("wer", "WER"),
    ("cer", "CER"),
    ("intent_match", "intent"),
    ("decision_match", "decision"),
    ("payee_recall_at_1", "payee@1"),
    ("gpu_calls_avoided", "no GPU"),
)


def write_report(page: Path, run: Run, base: Path, scores: Scores | None = None) -> None:
    """Write one self-contained HTML file. `base` is the folder that recordings are relative to."""
    page.write_text(render(run, base, page, scores), encoding="utf-8")


def render(run: Run, base: Path, page: Path, scores: Scores | None = None) -> str:
    """The page's text."""
    found = scores or score(run.results)
    turns = judged(run.results)
    script = "\n".join(asset(name) for name in _SCRIPTS)
    style = asset("style.css")
    table = {
        "columns": COLUMNS,
        "rows": [row(result, judgement) for result, judgement in turns],
        "run": run.head.manifest[:16] + run.head.ruleset[:16],
    }
    details = "\n".join(embedded(detail(result, judgement)) for result, judgement in turns)
    template = page_template("page.html.j2")
    return template.render(
        head=asdict(run.head),
        made=made_by(run),
        policy=script_policy(script, style),
        style=Markup(style),  # noqa: S704 - a file of ours
        script=Markup(script),  # noqa: S704 - a file of ours
        table=Markup(embedded(table)),  # noqa: S704 - escaped by _embedded
        details=Markup(details),  # noqa: S704 - escaped by _embedded
        audio=Markup(embedded(recordings(run.results, base, page))),  # noqa: S704 - escaped by _embedded
        charts=all_charts(run.results, found),
        cards=[_card(name, label, kind, found) for name, label, kind in _CARDS if name in found.ratios],
        latency=found.latency,
        slices=found.slices,
        slice_columns=_SLICE_COLUMNS,
        ratios=found.ratios,
        failures=found.failures,
        stages=by_stage(found.failures),
        coverage=coverage(result.record for result in run.results),
        scores=found,
        percent=percent,
    )


def page_template(name: str) -> Template:
    """A page of the report's own."""
    return environment().from_string(asset(name))


def asset(name: str) -> str:
    """A file of the report's own."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def embedded(value: object) -> str:
    """JSON that can't end the script element it stands in, nor begin another."""
    raw = orjson.dumps(value).decode()
    return raw.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def script_policy(script: str, style: str) -> str:
    """Nothing is fetched, and no script runs but the page's own."""
    return f"{style_policy(style)}; script-src 'sha256-{_hashed(script)}'; media-src 'self' data: file:"


def style_policy(style: str) -> str:
    """Of a page without a script."""
    return f"default-src 'none'; style-src 'sha256-{_hashed(style)}'; base-uri 'none'; form-action 'none'"


def _hashed(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()


def percent(ratio: Ratio | None) -> str:
    """A share in percent, a dash of nothing."""
    return "–" if ratio is None or ratio.value is None else f"{_PERCENT * ratio.value:.1f}%"


def _card(name: str, label: str, kind: str, scores: Scores) -> dict[str, str]:
    ratio = scores.ratios[name]
    bad = kind == "count" and ratio.right > 0
    if kind == "count":
        value, note = f"{ratio.right:.0f}", f"of {ratio.of:.0f} turns judged"
    else:
        value, note = percent(ratio), _interval(ratio)
    state = "bad" if bad else "good" if kind == "count" and ratio.of else "plain"
    return {"name": name, "label": label, "value": value, "note": note, "state": state}


def _interval(ratio: Ratio) -> str:
    if ratio.low is None or ratio.high is None:
        return "not judged"
    return f"{_PERCENT * ratio.low:.1f}–{_PERCENT * ratio.high:.1f}% · n {ratio.of:.0f}"
