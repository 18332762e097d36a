"""`tellerline asyncapi`: the AsyncAPI document of the calls."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli._documents import written


def register(main: typer.Typer) -> None:
    """Add the subcommand."""

    @main.command()
    def asyncapi(
        out: Annotated[Path, typer.Argument(help="Where to write it.")] = Path("deploy/asyncapi.json"),
    ) -> None:
        """Write the AsyncAPI document of both doors of calls, generated from the schemas."""
        from app.transports.asyncapi import document

        out.write_text(written(document(), 3) + "\n", encoding="utf-8")
