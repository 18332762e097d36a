"""`tellerline serve`: the gateway."""

import gc
from enum import StrEnum
from typing import Annotated

import typer

from schemas.errors import ConfigInvalid


class ServingEngine(StrEnum):
    """What keeps the service's processes alive."""

    PROCESS = "process"
    RAY = "ray"


def register(main: typer.Typer) -> None:
    """Add the subcommand."""

    @main.command()
    def serve(
        on: Annotated[
            ServingEngine, typer.Option(help="One process, or gateways and recognisers on Ray.")
        ] = ServingEngine.PROCESS,
        gateways: Annotated[int, typer.Option(help="On Ray: so many gateways.", min=1, max=1000)] = 1,
        recognizers: Annotated[int, typer.Option(help="On Ray: recognisers where nobody calls.", min=1)] = 1,
        at_most: Annotated[int, typer.Option(help="On Ray: recognisers where many call.", min=1)] = 1,
        voices: Annotated[
            int, typer.Option(help="On Ray: voices apart from gateways, where many call; 0 for none.", min=0, max=1000)
        ] = 0,
    ) -> None:
        """Start the gateway with the settings of the environment, and leave it running."""
        if on is ServingEngine.PROCESS and max(gateways, recognizers, at_most, voices + 1) > 1:
            raise ConfigInvalid("--gateways, --recognizers, --at-most and --voices are Ray's: write --on ray with them")
        gc.disable()  # what is imported stays; `kept_for_good` turns collection on again
        if on is ServingEngine.PROCESS:
            _here()
            return
        from app.qa.routes import ROUTES

        try:
            from app.cluster import deployments, start
        except ModuleNotFoundError as error:
            raise ConfigInvalid("Ray is not installed: `make ray` makes an environment with it") from error
        start.run(
            deployments.Gateways(count=gateways, further=ROUTES),
            deployments.Recognizers(least=recognizers, most=at_most),
            deployments.Voices(most=voices) if voices else None,
        )


def _here() -> None:
    from app.composition.ears import begun
    from app.settings import read_settings

    settings = read_settings()
    loading = begun(settings)  # while the rest is imported
    import uvloop

    from app.leaving import end_soon
    from app.qa.routes import ROUTES
    from app.serve import serve

    uvloop.run(serve(loading, further=ROUTES, served=end_soon, settings=settings))
