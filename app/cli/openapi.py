"""`tellerline openapi`: the HTTP routes, described for machines."""

from pathlib import Path
from typing import Annotated

import typer


def register(main: typer.Typer) -> None:
    """Add the subcommand."""

    @main.command()
    def openapi(out: Annotated[Path, typer.Option(help="where to write it")] = Path("deploy/openapi.json")) -> None:
        """Write the OpenAPI document of the routes."""
        import asyncio
        import tempfile

        import orjson

        with tempfile.TemporaryDirectory() as folder:
            document = asyncio.run(_described(Path(folder)))
        out.write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n")


async def _described(state: Path) -> object:
    from app.bootstrap import gateway
    from app.main import create_app
    from app.qa import replays
    from app.settings import Settings

    async with gateway(Settings(state_dir=state, database_url="")) as composed:
        return create_app(composed, (replays.routes,)).openapi()
