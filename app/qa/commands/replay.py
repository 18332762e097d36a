"""`tellerline replay MANIFEST --out DIR`, `tellerline replay diff A B`, `tellerline replay report DIR MANIFEST`."""

import os
import sys
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from app.qa.replay.command import Request

_RUN = "run"
MIRROR = Path("out/remote")
HEARD = Path("out/heard")
Heard: TypeAlias = Annotated[Path, typer.Option(help="where transcripts are kept between runs, sealed")]
HearAnew: TypeAlias = Annotated[
    bool, typer.Option("--hear-anew", help="decode every recording, whatever earlier runs heard: times the ear")
]


class ReplayEngine(StrEnum):
    """What plays a manifest's cases."""

    PROCESSES = "processes"
    RAY = "ray"


class _RunByDefault(TyperGroup):
    """`replay MANIFEST` is `replay run MANIFEST`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the default command in front where none is named."""
        if args and args[0] not in self.commands and args[0] not in {"--help", "-h"}:
            near = get_close_matches(args[0], self.commands)
            if near and not Path(args[0]).exists():
                ctx.fail(f"No such command or manifest {args[0]!r}. Did you mean {near[0]!r}?")
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


@replay.command(_RUN)
def run(  # noqa: PLR0913, PLR0917 - each is an option
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
    on: Annotated[ReplayEngine, typer.Option(help="processes here, or actors on Ray: RAY_ADDRESS's, or our own")] = (
        ReplayEngine.PROCESSES
    ),
    heard: Heard = HEARD,
    hear_anew: HearAnew = False,
) -> None:
    """Play every case of a manifest and score it. Exits with 1 where the policy is broken, with 2 where it can't be."""
    if not realtime and on is ReplayEngine.PROCESSES:
        _begin(out, jobs, fresh=fresh)
    from app.qa.replay.command import Request

    kept = (on is ReplayEngine.RAY, heard, hear_anew)
    _run(Request(manifest, out, jobs, fresh, realtime, token, policy, words, MIRROR, False, *kept))


@replay.command()
def follow(
    manifest: Annotated[Path, typer.Argument(help="calls of several turns; what was asked stands in their labels")],
    out: Annotated[Path, typer.Option(help="folder of the run")],
    jobs: Annotated[int, typer.Option(min=0, help="processes; 0 is one a core")] = 0,
    fresh: Annotated[bool, typer.Option(help="forget what the folder holds, instead of going on")] = False,
    policy: Annotated[str, typer.Option(help="bounds of rules/qa/policies.yaml to hold to")] = "",
    words: Annotated[bool, typer.Option(help="take the references as heard")] = False,
    heard: Heard = HEARD,
    hear_anew: HearAnew = False,
) -> None:
    """Play conversations; where other things are asked than were, go on with a turn that answers them, or stop."""
    _begin(out, jobs, fresh=fresh)
    from app.qa.replay.command import Request

    kept = (heard, hear_anew)
    _run(Request(manifest, out, jobs, fresh, "", "", policy, words, MIRROR, True, False, *kept))


@replay.command(hidden=True)
def job(manifest: Path, out: Path) -> None:
    """Play a manifest for a gateway: end, and the pool with us, as soon as standard input is closed."""
    from app.qa.replay.command import Request

    _end_with_input()
    _run(Request(manifest, out))


def _begin(out: Path, jobs: int, *, fresh: bool) -> None:
    """Get ready what plays while this process still imports; a run that goes on may have nothing left to play."""
    if jobs != 1 and (fresh or not out.exists()):
        from app.qa.replay.playing.forked import prepare

        prepare()


def _run(request: "Request") -> None:
    from app.qa.replay.command import execute

    broken = execute(request)
    for bound in broken:
        typer.echo(f"policy {request.policy}: {bound}", err=True)
    raise typer.Exit(1 if broken else 0)


@replay.command()
def check(
    manifest: Annotated[Path, typer.Argument(help="what `replay` takes: a file, a folder, a URL")],
    policy: Annotated[str, typer.Option(help="also whether the set has what this policy needs")] = "",
) -> None:
    """Tell everything that is wrong with a manifest at once, and what is in it. Exits with 1 where anything is."""
    from app.qa.replay.labelling.check import examine

    found = examine(manifest, policy, MIRROR)
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
    from app.qa.replay.playing.splitting import split_all
    from app.settings import read_settings

    for line in split_all(manifest, out, read_settings()):
        typer.echo(line)


@replay.command()
def schema() -> None:
    """Print the JSON schema of a manifest's lines."""
    from app.qa.replay.manifests.manifest import json_schema

    typer.echo(json_schema(), nl=False)


@replay.command()
def report(
    out: Annotated[Path, typer.Argument(help="folder of a finished run")],
    manifest: Annotated[Path, typer.Argument(help="its manifest: recordings are relative to it")],
) -> None:
    """Write report.html again from a finished run."""
    from app.qa.replay.manifests.readers import base_of
    from app.qa.replay.records.journal import REPORT, read_run
    from app.qa.replay.report.build import write_report

    sound = base_of(manifest)
    write_report(out / REPORT, read_run(out), sound)
