"""`tellerline replay MANIFEST --out DIR`, `tellerline replay diff A B`, `tellerline replay report DIR MANIFEST`."""

import os
import sys
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from schemas.errors import TellerlineError

if TYPE_CHECKING:
    from app.qa.replay.command import Request

_RUN = "run"
HISTORY = Path("out/history")
MIRROR = Path("out/remote")


class _RunByDefault(TyperGroup):
    """`replay MANIFEST` is `replay run MANIFEST`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the default command in front where none is named."""
        if args and args[0] not in self.commands and args[0] not in {"--help", "-h"}:
            args = [_RUN, *args]
        return super().parse_args(ctx, args)


replay = typer.Typer(cls=_RunByDefault, no_args_is_help=True, help="Replay recordings, score them, compare runs.")


def register(main: typer.Typer) -> None:
    """Add the subcommands."""
    main.add_typer(replay, name="replay")


def _end_with_input() -> None:
    def wait() -> None:
        sys.stdin.buffer.read()
        os._exit(1)

    Thread(target=wait, daemon=True).start()


def _stop(error: TellerlineError) -> typer.Exit:
    typer.echo(f"{error.code}: {error}", err=True)
    return typer.Exit(2)


@replay.command(_RUN)
def run(
    manifest: Annotated[Path, typer.Argument(help="JSON lines, CSV, TSV, a folder, or a URL: see deploy/replay.md")],
    out: Annotated[Path, typer.Option(help="folder of the run: journal, decisions, timings, scores, report")],
    jobs: Annotated[int, typer.Option(min=0, help="processes; 0 is one a core")] = 0,
    fresh: Annotated[bool, typer.Option(help="forget what the folder holds, instead of going on")] = False,
    realtime: Annotated[str, typer.Option(help="http:// URL of a gateway: play over it at real-time pace")] = "",
    token: Annotated[str, typer.Option(help="bearer token for --realtime", envvar="TELLERLINE_TOKEN")] = "",
    policy: Annotated[str, typer.Option(help="bounds of rules/qa/policies.yaml to hold to")] = "",
    words: Annotated[
        bool, typer.Option(help="take the references as heard: judges the rules apart from the ear")
    ] = False,
) -> None:
    """Play every case of a manifest and score it. Exits with 1 where the policy is broken, with 2 where it can't be."""
    from app.qa.replay.command import Request

    _run(Request(manifest, out, jobs, fresh, realtime, token, policy, words, MIRROR))


@replay.command()
def follow(
    manifest: Annotated[Path, typer.Argument(help="calls of several turns; what was asked stands in their labels")],
    out: Annotated[Path, typer.Option(help="folder of the run")],
    jobs: Annotated[int, typer.Option(min=0, help="processes; 0 is one a core")] = 0,
    fresh: Annotated[bool, typer.Option(help="forget what the folder holds, instead of going on")] = False,
    policy: Annotated[str, typer.Option(help="bounds of rules/qa/policies.yaml to hold to")] = "",
    words: Annotated[bool, typer.Option(help="take the references as heard")] = False,
) -> None:
    """Play conversations; where other things are asked than were, go on with a turn that answers them, or stop."""
    from app.qa.replay.command import Request

    _run(Request(manifest, out, jobs, fresh, policy=policy, words=words, mirror=MIRROR, follow=True))


@replay.command(hidden=True)
def job(manifest: Path, out: Path) -> None:
    """Play a manifest for a gateway: end, and the pool with us, as soon as standard input is closed."""
    from app.qa.replay.command import Request

    _end_with_input()
    _run(Request(manifest, out))


def _run(request: "Request") -> None:
    from app.qa.replay.command import execute

    try:
        broken = execute(request)
    except TellerlineError as error:
        raise _stop(error) from error
    for bound in broken:
        typer.echo(f"policy {request.policy}: {bound}", err=True)
    raise typer.Exit(1 if broken else 0)


@replay.command()
def check(
    manifest: Annotated[Path, typer.Argument(help="what `replay` takes: a file, a folder, a URL")],
    policy: Annotated[str, typer.Option(help="also whether the set has what this policy needs")] = "",
) -> None:
    """Tell everything that is wrong with a manifest at once, and what is in it. Exits with 1 where anything is."""
    from app.qa.replay.check import examine

    try:
        found = examine(manifest, policy, MIRROR)
    except TellerlineError as error:
        raise _stop(error) from error
    for fault in found.faults:
        typer.echo(fault, err=True)
    for line in found.says:
        typer.echo(line)
    raise typer.Exit(1 if found.faults else 0)


@replay.command("split")
def split_(
    manifest: Annotated[
        Path, typer.Argument(help="whole calls: a recording each, the caller's `channel` where it has two")
    ],
    out: Annotated[Path, typer.Option(help="JSONL manifest to write, beside the old one so that audio is found")],
) -> None:
    """Find the caller's turns in whole recorded calls, by production's own voice activity and endpointing."""
    from app.qa.replay.splitting import split_all
    from app.settings import read_settings

    try:
        for line in split_all(manifest, out, read_settings()):
            typer.echo(line)
    except TellerlineError as error:
        raise _stop(error) from error


@replay.command()
def schema() -> None:
    """Print the JSON schema of a manifest's lines."""
    from app.qa.replay.manifest import json_schema

    typer.echo(json_schema(), nl=False)


@replay.command()
def diff(
    before: Annotated[Path, typer.Argument(help="folder of the earlier run, or a baseline's name")],
    after: Annotated[Path, typer.Argument(help="folder of the later run")],
    fail_on: Annotated[
        str, typer.Option(help="money, regression, missing, labels, slower, changed; commas between")
    ] = "",
    policy: Annotated[str, typer.Option(help="a policy of rules/qa/policies.yaml")] = "",
    junit: Annotated[Path | None, typer.Option(help="write JUnit XML here")] = None,
    markdown: Annotated[Path | None, typer.Option(help="write a summary for a pull request here")] = None,
    history: Annotated[Path, typer.Option(help="where baselines are kept")] = HISTORY,
) -> None:
    """Compare two runs: values, rules, scores, and whether a change is noise. Exits with 1 where a policy is broken."""
    from rich.console import Console

    from app.qa.replay import policy as policies
    from app.qa.replay.diff import compare
    from app.qa.replay.diff import policies as named
    from app.qa.replay.history import RunHistory, folder_named
    from app.qa.replay.journal import read_run
    from app.qa.replay.junit import junit as as_junit
    from app.qa.replay.markdown import markdown as as_markdown
    from app.qa.replay.summary import print_diff

    try:
        wanted = named(fail_on) + (policies.policy(policy).fail_on if policy else ())
        compared = compare(read_run(folder_named(before, RunHistory(history))), read_run(after))
    except TellerlineError as error:
        raise _stop(error) from error
    findings = compared.findings(wanted)
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
    history: Annotated[Path, typer.Option(help="where baselines are kept")] = HISTORY,
) -> None:
    """Write two runs side by side as a page: sound, values and rules of every turn that differs, what moved."""
    from app.qa.replay import policy as policies
    from app.qa.replay.diff import compare
    from app.qa.replay.history import RunHistory, folder_named
    from app.qa.replay.journal import read_run
    from app.qa.replay.report.beside import beside_page

    try:
        compared = compare(read_run(folder_named(before, RunHistory(history))), read_run(after))
        findings = compared.findings(policies.policy(policy).fail_on)
    except TellerlineError as error:
        raise _stop(error) from error
    base = None if manifest is None else manifest if manifest.is_dir() else manifest.parent
    page.write_text(beside_page(compared, findings, base, page), encoding="utf-8")
    typer.echo(f"{page}: {', '.join(f'{count} {name}' for name, count in compared.counts.items())}")


@replay.command()
def baseline(
    name: Annotated[str, typer.Argument(help="what later runs are held to by this name")],
    out: Annotated[Path, typer.Argument(help="folder of a finished run")],
    history: Annotated[Path, typer.Option(help="where baselines are kept")] = HISTORY,
) -> None:
    """Keep a run as the baseline of a name, in place of an earlier one of that name."""
    from app.qa.replay.history import RunHistory

    try:
        RunHistory(history).keep(name, out)
    except TellerlineError as error:
        raise _stop(error) from error
    typer.echo(f"{out} is the baseline {name}")


@replay.command("history")
def history_(
    out: Annotated[Path | None, typer.Argument(help="a finished run to note")] = None,
    against: Annotated[str, typer.Option(help="the baseline it is held to")] = "",
    policy: Annotated[str, typer.Option(help="what it fails on: a policy of rules/qa/policies.yaml")] = "ci",
    page: Annotated[Path | None, typer.Option(help="write a page with every figure over all runs here")] = None,
    history: Annotated[Path, typer.Option(help="where runs are noted and baselines kept")] = HISTORY,
) -> None:
    """Note a run, tell all that are noted, and exit with 1 and a line where this one is worse than its baseline."""
    from rich.console import Console

    from app.qa.replay import policy as policies
    from app.qa.replay.history import RunHistory
    from app.qa.replay.report.history import history_page
    from app.qa.replay.summary import print_history

    kept = RunHistory(history)
    try:
        noted = None if out is None else kept.note(out, against, policies.policy(policy))[0]
        runs = kept.runs()
    except TellerlineError as error:
        raise _stop(error) from error
    print_history(runs, kept.baselines(), Console())
    if page is not None:
        page.write_text(history_page(runs), encoding="utf-8")
    for alert in noted.alerts if noted else ():
        typer.echo(f"alert: worse than {against}: {alert}", err=True)
    raise typer.Exit(1 if noted and noted.alerts else 0)


@replay.command("coverage")
def coverage_(
    out: Annotated[Path, typer.Argument(help="folder of a finished run")],
) -> None:
    """Tell which templates, answers, vetoes and ways to read values the recordings of a run never reach."""
    from rich.console import Console

    from app.qa.replay.coverage import coverage
    from app.qa.replay.journal import read_run
    from app.qa.replay.summary import print_coverage

    try:
        found = coverage(result.record for result in read_run(out).results)
    except TellerlineError as error:
        raise _stop(error) from error
    print_coverage(found, Console())


@replay.command()
def report(
    out: Annotated[Path, typer.Argument(help="folder of a finished run")],
    manifest: Annotated[Path, typer.Argument(help="its manifest: recordings are relative to it")],
) -> None:
    """Write report.html again from a finished run."""
    from app.qa.replay.journal import REPORT, read_run
    from app.qa.replay.report.build import write_report

    try:
        write_report(out / REPORT, read_run(out), manifest if manifest.is_dir() else manifest.parent)
    except TellerlineError as error:
        raise _stop(error) from error
