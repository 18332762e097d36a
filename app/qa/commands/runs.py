"""`tellerline replay diff A B` and what else is said of several runs: pages, baselines, history, shadows."""

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from app.qa.commands.replay import MIRROR, replay
from schemas.errors import TellerlineError

if TYPE_CHECKING:
    from app.qa.replay.comparing.diff import RunDiff

HISTORY = Path("out/history")
WIDE = 160
"""Columns of a table that goes into a file or a job's log, where nobody can widen it."""
Accepted: TypeAlias = Annotated[
    list[str],
    typer.Option("--accept", help="changed rules that no turn need use, by pattern: `speech.en:*`; several times"),
]
Baselines: TypeAlias = Annotated[Path, typer.Option(help="where baselines are kept")]


def register(main: typer.Typer) -> None:
    """Nothing more to add: the commands hang below `replay`."""
    del main


def _compared(before: Path, after: Path, history: Path) -> "RunDiff":
    """Two runs, the earlier by its folder or a baseline's name. Raises NotFound and what reading a run does."""
    from app.qa.replay.comparing.diff import compare
    from app.qa.replay.comparing.history import RunHistory, folder_named
    from app.qa.replay.records.journal import read_run

    return compare(read_run(folder_named(before, RunHistory(history))), read_run(after))


@replay.command()
def diff(
    before: Annotated[Path, typer.Argument(help="folder of the earlier run, or a baseline's name")],
    after: Annotated[Path, typer.Argument(help="folder of the later run")],
    fail_on: Annotated[
        str, typer.Option(help="money, regression, missing, labels, slower, unreached, changed; commas between")
    ] = "",
    policy: Annotated[str, typer.Option(help="a policy of rules/qa/policies.yaml")] = "",
    junit: Annotated[Path | None, typer.Option(help="write JUnit XML here")] = None,
    markdown: Annotated[Path | None, typer.Option(help="write a summary for a pull request here")] = None,
    accept: Accepted = [],  # noqa: B006 - typer copies it
    history: Baselines = HISTORY,
) -> None:
    """Compare two runs: values, rules, scores, and whether a change is noise. Exits with 1 where a policy is broken."""
    from rich.console import Console

    from app.qa.replay.comparing import policy as policies
    from app.qa.replay.comparing.diff import policies as named
    from app.qa.replay.report.junit import junit as as_junit
    from app.qa.replay.report.markdown import markdown as as_markdown
    from app.qa.replay.report.summary import print_diff

    bounds = policies.policy(policy) if policy else None
    wanted = named(fail_on) + (bounds.fail_on if bounds else ())
    compared = _compared(before, after, history)
    findings = compared.findings(wanted, accept, bounds.unreached if bounds else 0)
    print_diff(compared, findings, Console())
    if junit is not None:
        junit.write_text(as_junit(compared, findings), encoding="utf-8")
    if markdown is not None:
        markdown.write_text(as_markdown(compared, findings), encoding="utf-8")
    raise typer.Exit(1 if findings else 0)


@replay.command()
def beside(
    before: Annotated[Path, typer.Argument(help="folder of the earlier run, or a baseline's name")],
    after: Annotated[Path, typer.Argument(help="folder of the later run")],
    page: Annotated[Path, typer.Option(help="the HTML file to write")] = Path("out/beside.html"),
    manifest: Annotated[Path | None, typer.Option(help="the later run's manifest: brings the sound")] = None,
    policy: Annotated[str, typer.Option(help="a policy of rules/qa/policies.yaml")] = "ci",
    accept: Accepted = [],  # noqa: B006 - typer copies it
    history: Baselines = HISTORY,
) -> None:
    """Write two runs side by side as a page: sound, values and rules of every turn that differs, what moved."""
    from app.qa.replay.comparing import policy as policies
    from app.qa.replay.manifests.readers import base_of
    from app.qa.replay.report.beside import beside_page

    compared = _compared(before, after, history)
    bounds = policies.policy(policy)
    findings = compared.findings(bounds.fail_on, accept, bounds.unreached)
    base = None if manifest is None else base_of(manifest)
    page.write_text(beside_page(compared, findings, base, page), encoding="utf-8")
    typer.echo(f"{page}: {', '.join(f'{count} {name}' for name, count in compared.counts.items())}")


@replay.command()
def baseline(
    name: Annotated[str, typer.Argument(help="what later runs are held to by this name")],
    out: Annotated[Path, typer.Argument(help="folder of a finished run")],
    history: Baselines = HISTORY,
) -> None:
    """Keep a run as the baseline of a name, in place of an earlier one of that name."""
    from app.qa.replay.comparing.history import RunHistory

    RunHistory(history).keep(name, out)
    typer.echo(f"{out} is the baseline {name}")


@replay.command("history")
def history_(
    out: Annotated[Path | None, typer.Argument(help="a finished run to note")] = None,
    against: Annotated[str, typer.Option(help="the baseline it is held to")] = "",
    policy: Annotated[str, typer.Option(help="what it fails on: a policy of rules/qa/policies.yaml")] = "ci",
    page: Annotated[Path | None, typer.Option(help="write a page with every figure over all runs here")] = None,
    accept: Accepted = [],  # noqa: B006 - typer copies it
    history: Annotated[Path, typer.Option(help="where runs are noted and baselines kept")] = HISTORY,
) -> None:
    """Note a run, tell all that are noted, and exit with 1 and a line where this one is worse than its baseline."""
    from rich.console import Console

    from app.qa.replay.comparing import policy as policies
    from app.qa.replay.comparing.history import RunHistory
    from app.qa.replay.report.history import history_page
    from app.qa.replay.report.summary import print_history

    kept = RunHistory(history)
    noted = None if out is None else kept.note(out, against, policies.policy(policy), accept)[0]
    runs = kept.runs()
    print_history(runs, kept.baselines(), Console(width=None if sys.stdout.isatty() else WIDE))
    if page is not None:
        page.write_text(history_page(runs), encoding="utf-8")
    for alert in noted.alerts if noted else ():
        typer.echo(f"alert: worse than {against}: {alert}", err=True)
    raise typer.Exit(1 if noted and noted.alerts else 0)


@replay.command("coverage")
def coverage_(out: Annotated[Path, typer.Argument(help="folder of a finished run")]) -> None:
    """Tell which templates, answers, vetoes and ways to read values the recordings of a run never reach."""
    from rich.console import Console

    from app.qa.replay.judging.coverage import coverage
    from app.qa.replay.records.journal import read_run
    from app.qa.replay.report.summary import print_coverage

    found = coverage(result.record for result in read_run(out).results)
    print_coverage(found, Console())


@replay.command()
def shadow(
    manifest: Annotated[Path, typer.Argument(help="what `replay` takes: a file, a folder, a URL")],
    out: Annotated[Path, typer.Option(help="where turns that differ are kept, with their sound")],
    asr_model: Annotated[str, typer.Option(help="the other recogniser, as ASR_MODEL names it")] = "",
    rules: Annotated[Path | None, typer.Option(help="the other rules: a folder like ours")] = None,
    tree: Annotated[Path | None, typer.Option(help="another tree, rules and code and all")] = None,
    words: Annotated[bool, typer.Option(help="take the references as heard")] = False,
) -> None:
    """Play every call through this pipeline and another at once; keep what differs, exit with 1 where money does."""
    from app.qa.replay.command import Request, read
    from app.qa.replay.playing.shadow import shadow as both
    from app.qa.replay.playing.trees import OtherPipeline

    with read(Request(manifest, out, words=words, mirror=MIRROR)) as (found, _):
        report = both(found, OtherPipeline(asr_model, rules, tree), out)
    for line in report.says():
        typer.echo(line)
    raise typer.Exit(1 if report.money else 0)


@replay.command("stand", hidden=True)
def stand_(
    asr_model: Annotated[str, typer.Option(help="this recogniser, in place of the settings'")] = "",
    sound: Annotated[bool, typer.Option(help="with a recogniser")] = False,
) -> None:
    """Be one of a shadow's two pipelines: play calls that come line by line."""
    from app.qa.replay.playing.shadow import stand

    asyncio.run(stand(sys.stdin.buffer, sys.stdout.buffer, asr_model, sound=sound))


@replay.command("mirror", hidden=True)
def mirror_(
    asr_model: Annotated[str, typer.Option(help="the recogniser")] = "",
    rules: Annotated[Path | None, typer.Option(help="the rules: a folder like ours")] = None,
    tree: Annotated[Path | None, typer.Option(help="another tree, rules and code and all")] = None,
    idle: Annotated[bool, typer.Option(help="run where nobody else wants to")] = False,
) -> None:
    """Be the shadow of a gateway's calls: it starts this, and tells it over standard input what is said."""
    from app.qa.replay.playing.trees import OtherPipeline, give_way, mirror_elsewhere

    if idle:
        give_way()
    try:
        if rules is not None or tree is not None:
            raise typer.Exit(mirror_elsewhere(OtherPipeline(asr_model, rules, tree)))
    except TellerlineError as error:
        typer.echo(json.dumps({"fault": str(error)}))
        raise typer.Exit(2) from error
    from app.qa.replay.playing.mirror import mirror

    asyncio.run(mirror(sys.stdin.buffer, sys.stdout.buffer, asr_model))


@replay.command()
def shadowed(
    shown: Annotated[int, typer.Option(min=0, help="how many turns that differ are shown, the newest first")] = 20,
) -> None:
    """Tell what live calls' shadow made otherwise, turn by turn; exits with 1 where money would be another."""
    from app.composition.keys import audit_keys
    from app.qa.replay.playing.shadowed import says, shadowed_calls
    from app.settings import read_settings

    settings = read_settings()
    found = shadowed_calls(settings.recordings, audit_keys(settings))
    for line in says(found, shown):
        typer.echo(line)
    raise typer.Exit(1 if any(turn.money for call in found for turn in call.record.turns) else 0)
