"""Databases for tests: a migrated SQLite file or PostgreSQL database of their own each, copied from a template."""

import asyncio
import os
import re
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine

from app.migrate import migrate
from app.qa.postgres import private_cluster, unavailable
from services.store import Store

TEMPLATE = "tellerline_template"


async def _prepare(url: str) -> None:
    store = Store(url)
    await migrate(store)
    await store.close()


async def _administer(server: str, *statements: str) -> None:
    engine = create_async_engine(server.format(database="postgres"), isolation_level="AUTOCOMMIT")
    async with engine.connect() as connection:
        for statement in statements:
            await connection.execute(sa.text(statement))
    await engine.dispose()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated, empty SQLite file."""
    path = tmp_path_factory.mktemp("template") / "template.db"
    asyncio.run(_prepare(f"sqlite+aiosqlite:///{path}"))
    return path


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """A server's URL with a `{database}` place, holding a migrated template database.

    TELLERLINE_TEST_POSTGRES names a server to use; otherwise a private one is started.
    """
    given = os.environ.get("TELLERLINE_TEST_POSTGRES", "")  # noqa: TID251 - tests' own setting
    if not given and (reason := unavailable()):
        pytest.skip(reason)
    if given:
        asyncio.run(_make_template(given))
        yield given
        return
    with private_cluster(durable=False) as server:
        asyncio.run(_make_template(server))
        yield server


async def _make_template(server: str) -> None:
    await _administer(server, f"DROP DATABASE IF EXISTS {TEMPLATE}", f"CREATE DATABASE {TEMPLATE}")
    await _prepare(server.format(database=TEMPLATE))


def new_sqlite(template: Path, folder: Path, name: str = "tellerline.db") -> str:
    """The URL of a fresh copy of the SQLite template."""
    path = folder / name
    shutil.copyfile(template, path)
    return f"sqlite+aiosqlite:///{path}"


async def new_postgres(server: str, name: str) -> str:
    """The URL of a fresh copy of the PostgreSQL template."""
    drop = f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"
    await _administer(server, drop, f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
    return server.format(database=name)


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A fresh, migrated database: the test runs once on each kind."""
    if request.param == "sqlite":
        return new_sqlite(request.getfixturevalue("sqlite_template"), tmp_path)
    server: str = request.getfixturevalue("postgres_server")
    name = re.sub(r"\W", "_", f"t_{tmp_path.parent.name}_{tmp_path.name}".lower())[-60:]
    return asyncio.run(new_postgres(server, name))


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    """A Store over the fresh database."""
    opened = Store(database_url)
    yield opened
    await opened.close()


@pytest.fixture
async def sqlite_store(sqlite_template: Path, tmp_path: Path) -> AsyncIterator[Store]:
    """A Store over a fresh SQLite file, where the kind of database does not matter."""
    opened = Store(new_sqlite(sqlite_template, tmp_path))
    yield opened
    await opened.close()
