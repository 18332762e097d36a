"""`tellerline serve`: the gateway."""

import typer


def register(main: typer.Typer) -> None:
    """Add the subcommand."""

    @main.command()
    def serve() -> None:
        """Start the gateway with the settings of the environment, and leave it running."""
        import uvloop

        from app.qa.routes import ROUTES
        from app.serve import serve as run

        uvloop.run(run(further=ROUTES))
