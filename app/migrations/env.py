"""Alembic's entry: migrates over the connection that `app.migrate` hands in, or over the settings' database."""

import asyncio

from alembic import context
from sqlalchemy import Connection, text

from services.store import Store, metadata

MIGRATION_LOCK = 7_355_608
"""PostgreSQL advisory lock: of gateways starting together, one migrates and the others wait."""


def upgrade(connection: Connection) -> None:
    """Run what is missing, in the connection's transaction."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
    context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
    context.run_migrations()


async def from_settings() -> None:
    """`alembic upgrade head` by hand: the database is the settings' one."""
    from app.settings import read_settings

    store = Store(read_settings().database)
    try:
        await store.run_migrations(upgrade)
    finally:
        await store.close()


handed = context.config.attributes.get("connection")
if handed is not None:
    upgrade(handed)
else:
    asyncio.run(from_settings())
