"""`tellerline replay MANIFEST --out DIR`, `tellerline replay diff A B`, `tellerline replay report DIR MANIFEST`."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from schemas.errors import TellerlineError

_RUN = "run"


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


def _stop(error: TellerlineError) -> typer.Exit:
    typer.echo(f"{error.code}: {error}", err=True)
    return typer.Exit(2)


@replay.command(_RUN)
def run(
    manifest: Annotated[Path, typer.Argument(help="JSONL, CSV, or a folder of audio with sidecars")],
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
    """Play every case of a manifest and score it. Exits with 1 where the policy is broken."""
    from app.qa.replay.command import Request, execute

    try:
        broken = execute(Request(manifest, out, jobs, fresh, realtime, token, policy, words))
    except TellerlineError as error:
        raise _stop(error) from error
    for bound in broken:
        typer.echo(f"policy {policy}: {bound}", err=True)
    raise typer.Exit(1 if broken else 0)


@replay.command()
def diff(
    before: Annotated[Path, typer.Argument(help="folder of the earlier run")],
    after: Annotated[Path, typer.Argument(help="folder of the later run")],
    fail_on: Annotated[str, typer.Option(help="money, regression, changed, missing; commas between")] = "",
    policy: Annotated[str, typer.Option(help="a policy of rules/qa/policies.yaml")] = "",
    junit: Annotated[Path | None, typer.Option(help="write JUnit XML here")] = None,
) -> None:
    """Compare two runs: better, worse, changed, and by what cause. Exits with 1 where a policy is broken."""
    from rich.console import Console

    from app.qa.replay import policy as policies
    from app.qa.replay.diff import compare
    from app.qa.replay.diff import policies as named
    from app.qa.replay.journal import read_run
    from app.qa.replay.junit import junit as as_junit
    from app.qa.replay.summary import print_diff

    try:
        wanted = named(fail_on) + (policies.policy(policy).fail_on if policy else ())
        compared = compare(read_run(before), read_run(after))
    except TellerlineError as error:
        raise _stop(error) from error
    broken = compared.violations(wanted)
    print_diff(compared, Console())
    if junit is not None:
        junit.write_text(as_junit(compared, broken), encoding="utf-8")
    raise typer.Exit(1 if broken else 0)


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
