"""Options that several commands have, checked alike before anything else is done."""

from typing import Annotated, TypeAlias

import typer

from schemas.errors import BadInput


def _database(address: str) -> str:
    from app.settings import places

    try:
        return places.database(address)
    except ValueError as error:
        raise BadInput(f"--database: {error}") from None


def _running(url: str | None) -> str | None:
    from app.client import reach

    if url:
        reach(url)
    return url


Database: TypeAlias = Annotated[str, typer.Option(help="As TELLERLINE_DATABASE_URL.", callback=_database)]
RunningService: TypeAlias = Annotated[
    str | None, typer.Option(help="A running service; one is started where none is named.", callback=_running)
]
