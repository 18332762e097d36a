"""Bring a database to the schema this version needs; safe to run from several gateways at once."""

from pathlib import Path
from typing import Final

import sqlalchemy as sa
from alembic import command
from alembic.config import Config

from services.store import Store

MIGRATIONS: Final = Path(__file__).parent.parent / "deploy" / "migrations"


async def migrate(store: Store, scripts: Path = MIGRATIONS) -> None:
    """Apply every missing migration in one transaction. Raises StoreUnavailable."""

    def upgrade(connection: sa.Connection) -> None:
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", str(scripts))
        config.set_main_option("path_separator", "os")
        command.upgrade(config, "head")

    await store.run_migrations(upgrade)
