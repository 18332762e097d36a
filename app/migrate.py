"""Bring a database to the schema this version needs; safe to run from several gateways at once."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.util import CommandError

from app.settings import Settings
from app.settings.state_folder import in_state_folder
from schemas.errors import ConfigInvalid, StoreUnavailable
from services.store import Store

MIGRATIONS: Final = Path(__file__).parent / "migrations"


async def migrate(store: Store, scripts: Path = MIGRATIONS) -> None:
    """Apply every missing migration in one transaction. Raises ConfigInvalid, which says what the database answered."""

    def upgrade(connection: sa.Connection) -> None:
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", str(scripts))
        config.set_main_option("path_separator", "os")
        command.upgrade(config, "head")

    try:
        await store.run_migrations(upgrade)
    except CommandError as error:
        raise ConfigInvalid(
            f"the database at {store.place} was made by another version of tellerline: {error}"
        ) from error
    except StoreUnavailable as error:
        raise ConfigInvalid(
            f"TELLERLINE_DATABASE_URL: the database at {store.place} can't be used: {why(error) or error}"
        ) from error


def why(error: StoreUnavailable) -> str:
    """What the database itself said, in a line; its further lines may hold what is stored."""
    cause = error.__cause__
    said = str(getattr(cause, "orig", None) or cause or "").strip().partition("\n")[0]
    return said.rpartition("'>: ")[2]


@asynccontextmanager
async def database(settings: Settings) -> AsyncIterator[Store]:
    """The settings' database, migrated; closed at the end. Raises ConfigInvalid."""
    with in_state_folder(settings):
        settings.state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    store = Store(settings.database)
    try:
        await migrate(store)
        yield store
    finally:
        await store.close()
