"""`tellerline openapi`: the HTTP routes, described for machines."""

from pathlib import Path
from typing import Annotated

import orjson
import typer


def register(main: typer.Typer) -> None:
    """Add the subcommand."""

    @main.command()
    def openapi(out: Annotated[Path, typer.Option(help="where to write it")] = Path("deploy/openapi.json")) -> None:
        """Write the OpenAPI document of the routes."""
        import asyncio
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            document = asyncio.run(_described(Path(folder)))
        out.write_text(_written(document, 3) + "\n", encoding="utf-8")


async def _described(state: Path) -> object:
    from app.bootstrap import gateway
    from app.main import create_app
    from app.qa.routes import ROUTES
    from app.settings import Settings

    async with gateway(Settings(state_dir=state, database_url="", recording_days=1)) as composed:
        return create_app(composed, ROUTES).openapi()


def _written(value: object, levels: int) -> str:
    """JSON with a line for each route and each schema: what changed shows, and the file stays small."""
    if not isinstance(value, dict) or not levels:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    lines = [f"{orjson.dumps(name).decode()}: {_written(value[name], levels - 1)}" for name in sorted(value)]
    return "{\n" + ",\n".join(lines) + "\n}" if lines else "{}"
