"""The `tellerline` command. Each subcommand lives in a module of its own and imports what is heavy when it runs."""

import importlib
import pkgutil
import sys
import traceback
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from app.cli import _bench
from app.version import VERSION
from schemas.errors import BadInput, StoreUnavailable, TellerlineError

FAULT_OF_OURS: Final = 3
"""Exit status where the program itself is wrong."""


class _Told(TyperGroup):
    """What we know to go wrong is told in one line, with exit status 2; faults of ours in full."""

    def invoke(self, ctx: Any) -> Any:
        """Carry the command out."""
        try:
            return super().invoke(ctx)
        except TellerlineError as error:
            raise _told(error) from error
        except OSError as error:
            if error.filename is None:
                raise
            raise _told(BadInput(f"{error.filename}: {error.strerror}")) from error


def _told(error: TellerlineError) -> typer.Exit:
    said = f"tellerline: {error.code}: {error}{_why(error)}"
    typer.echo(" ".join(said.split()), err=True)  # others' words have lines of their own
    return typer.Exit(2)


def _why(error: TellerlineError) -> str:
    """What the database itself said, where it did."""
    if not isinstance(error, StoreUnavailable):
        return ""
    from app.migrate import why

    return f" ({said})" if (said := why(error)) else ""


main = typer.Typer(
    cls=_Told,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="A voice banking assistant: the service, its bank's customers, its recordings, its measurements.",
)


def _register(package: str) -> None:
    """Add every command of a package: a module each, whose `register` adds it."""
    for found in pkgutil.iter_modules(importlib.import_module(package).__path__):
        if not found.name.startswith("_"):
            importlib.import_module(f"{package}.{found.name}").register(main)


_register("app.cli")
_register("app.qa.commands")
_bench.register(main)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"tellerline {VERSION}")
        raise typer.Exit


@main.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which version this is.")
    ] = False,
) -> None:
    pass


def run() -> None:
    """The console script. A fault of ours is told in full, and ends in 3: 1 is a finding, 2 what can't be done."""
    try:
        main()
    except Exception:  # noqa: BLE001 - whatever it is
        traceback.print_exc()
        sys.exit(FAULT_OF_OURS)
