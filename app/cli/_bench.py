"""`tellerline bench NAME`: the benchmarks lie beside the source tree, in deploy/bench, and not in what is installed."""

import importlib
import pkgutil
import sys
from pathlib import Path
from typing import Any, Final

import typer
from typer.core import TyperGroup

CHECKOUT: Final = Path(__file__).parents[2]
ELSEWHERE: Final = "benchmarks live in the repository (deploy/bench): run them in a checkout"


class _Benchmarks(TyperGroup):
    """A subcommand for each module of deploy/bench, imported when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - click's signature
        found = pkgutil.iter_modules([str(CHECKOUT / "deploy" / "bench")])
        return [bench.name for bench in found if not bench.ispkg and not bench.name.startswith("_")]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.list_commands(ctx):
            return None
        alone = typer.Typer(add_completion=False)
        alone.command(cmd_name)(importlib.import_module(f"deploy.bench.{cmd_name}").bench)
        return typer.main.get_command(alone)


def register(main: typer.Typer) -> None:
    """Add the group; where there is no checkout, a command that says so."""
    if (CHECKOUT / "deploy" / "bench" / "__init__.py").is_file():
        if str(CHECKOUT) not in sys.path:
            sys.path.insert(0, str(CHECKOUT))
        main.add_typer(typer.Typer(cls=_Benchmarks, no_args_is_help=True, help="Measure what we claim."), name="bench")
        return

    @main.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True}, hidden=True)
    def bench() -> None:
        """Say where benchmarks are."""
        typer.echo(f"tellerline: {ELSEWHERE}", err=True)
        raise typer.Exit(2)
