"""`tellerline asyncapi`: the AsyncAPI document of the calls."""

from pathlib import Path
from typing import Annotated

import orjson
import typer


def register(main: typer.Typer) -> None:
    """Add the subcommand."""

    @main.command()
    def asyncapi(
        out: Annotated[Path, typer.Argument(help="Where to write it.")] = Path("deploy/asyncapi.json"),
    ) -> None:
        """Write the AsyncAPI document of both doors of calls, generated from the schemas."""
        from app.transports.asyncapi import document

        out.write_bytes(orjson.dumps(document(), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n")
