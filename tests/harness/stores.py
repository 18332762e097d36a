"""Databases for tests: a copy of a migrated SQLite file each, or the one PostgreSQL database, emptied before each."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine

from app.migrate import migrate
from deploy.postgres import private_cluster, unavailable
from services.store import Store, metadata

DATABASE = "tellerline_test"


async def prepare(url: str) -> None:
    """Migrate a database."""
    store = Store(url)
    await migrate(store)
    await store.close()


async def administer(server: str, *statements: str) -> None:
    engine = create_async_engine(server.format(database="postgres"), isolation_level="AUTOCOMMIT")
    async with engine.connect() as connection:
        for statement in statements:
            await connection.execute(sa.text(statement))
    await engine.dispose()


_MIGRATED: list[bytes] = []


async def lay_migrated(path: Path) -> None:
    """An SQLite file as a first start leaves it, unless there is one. Migrating has tests of its own."""
    if not _MIGRATED:
        with TemporaryDirectory() as folder:
            made = Path(folder, "made.db")
            await prepare(f"sqlite:///{made}")
            _MIGRATED.append(made.read_bytes())  # noqa: ASYNC240 - before anything runs that could wait for it
    if not path.exists():  # noqa: ASYNC240
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(_MIGRATED[0])  # noqa: ASYNC240


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated, empty SQLite file."""
    path = tmp_path_factory.mktemp("template") / "template.db"
    asyncio.run(lay_migrated(path))
    return path


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """A server's URL with a `{database}` place, holding a migrated database.

    TELLERLINE_TEST_POSTGRES names a server to use; otherwise a private one is started.
    """
    given = os.environ.get("TELLERLINE_TEST_POSTGRES", "")  # noqa: TID251 - tests' own setting
    if not given and (reason := unavailable()):
        pytest.skip(reason)
    if given:
        asyncio.run(_make_database(given))
        yield given
        return
    with private_cluster(durable=False) as server:
        asyncio.run(_make_database(server))
        yield server


async def _make_database(server: str) -> None:
    await administer(server, f"DROP DATABASE IF EXISTS {DATABASE}", f"CREATE DATABASE {DATABASE}")
    await prepare(server.format(database=DATABASE))


@pytest.fixture
def quick_folder() -> Iterator[Path]:
    """A folder in memory where there is such a file system: for tests that make many databases."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


def new_sqlite(template: Path, folder: Path, name: str = "tellerline.db") -> str:
    """The URL of a fresh copy of the SQLite template."""
    path = folder / name
    shutil.copyfile(template, path)
    return f"sqlite:///{path}"


async def emptied(server: str) -> str:
    """The URL of the server's migrated database, emptied."""
    url = server.format(database=DATABASE)
    names = ", ".join(f'"{table.name}"' for table in metadata.sorted_tables)
    engine = create_async_engine(url)
    async with engine.begin() as connection:
        await connection.execute(sa.text(f"TRUNCATE {names} RESTART IDENTITY"))
    await engine.dispose()
    return url


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, quick_folder: Path) -> str:
    """A fresh, migrated database: the test runs once on each kind."""
    if request.param == "sqlite":
        return new_sqlite(request.getfixturevalue("sqlite_template"), quick_folder)
    server: str = request.getfixturevalue("postgres_server")
    return asyncio.run(emptied(server))


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    """A Store over the fresh database."""
    opened = Store(database_url)
    yield opened
    await opened.close()


@pytest.fixture
async def sqlite_store(sqlite_template: Path, quick_folder: Path) -> AsyncIterator[Store]:
    """A Store over a fresh SQLite file, where the kind of database does not matter."""
    opened = Store(new_sqlite(sqlite_template, quick_folder))
    yield opened
    await opened.close()
