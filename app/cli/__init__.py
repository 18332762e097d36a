"""The `tellerline` command. Each subcommand lives in a module of its own and imports what is heavy when it runs."""

import importlib
import pkgutil
import sys
from typing import Annotated

import typer

from app.cli import _bench
from app.version import VERSION
from schemas.errors import BadInput, StoreUnavailable, TellerlineError

main = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__)


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
    """The console script: what we know to go wrong is told in one line, with exit status 2; faults of ours in full."""
    try:
        main()
    except TellerlineError as error:
        sys.exit(_told(error))
    except OSError as error:
        if error.filename is None:
            raise
        sys.exit(_told(BadInput(str(error))))


def _told(error: TellerlineError) -> int:
    print(
        *f"tellerline: {error.code}: {error}{_why(error)}".split(), file=sys.stderr
    )  # others' words have lines of their own
    return 2


def _why(error: TellerlineError) -> str:
    """What the database itself said, where it did."""
    if not isinstance(error, StoreUnavailable):
        return ""
    from app.migrate import why

    return f" ({said})" if (said := why(error)) else ""
