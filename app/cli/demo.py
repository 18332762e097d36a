"""`tellerline demo`: play the recorded calls and show what happened."""

from typing import Annotated

import typer

from app.qa.options import RunningService


def register(main: typer.Typer) -> None:
    """Add the subcommand."""

    @main.command()
    def demo(
        url: RunningService = None,
        call: Annotated[list[str] | None, typer.Option(help="play this call alone; may be repeated")] = None,
    ) -> None:
        """Play recorded calls through the service and show what happened. Exit 0 when all went as expected."""
        from app.demo.run import run

        raise typer.Exit(0 if run(url=url, only=call) else 1)
