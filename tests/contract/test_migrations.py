"""The migrations make exactly the tables that the code declares, on both databases, from nothing and back."""

import asyncio
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy.sql.ddl import CreateIndex

import services.banking.banks.tables
import services.banking.tables
import services.guard.expected_calls
import services.guard.nonces
import services.guard.shared_calls
import services.guard.shared_rates
import services.record.tables
from app.migrate import migrate
from services.store import Store, metadata


def differences(connection: sa.Connection) -> list[object]:
    """Defaults are compared on PostgreSQL alone: SQLite gives them back in quotes, for alembic a difference."""
    options = {"compare_type": True, "compare_server_default": connection.dialect.name == "postgresql"}
    return list(compare_metadata(MigrationContext.configure(connection, opts=options), metadata))


def constraints(connection: sa.Connection) -> dict[str, list[str]]:
    """What autogenerate does not compare: checks and primary keys, by table."""
    inspect = sa.inspect(connection)
    return {
        table.name: sorted(
            [
                *(str(check["name"]) for check in inspect.get_check_constraints(table.name)),
                *inspect.get_pk_constraint(table.name)["constrained_columns"],
            ]
        )
        for table in metadata.sorted_tables
    }


def declared(table: sa.Table) -> list[str]:
    checks = [str(c.name) for c in table.constraints if isinstance(c, sa.CheckConstraint)]
    return sorted([*checks, *(column.name for column in table.primary_key)])


async def test_the_migrations_equal_the_metadata(store: Store) -> None:
    assert await store.look(differences) == []


async def test_checks_and_keys_are_migrated_too(store: Store) -> None:
    made = await store.look(constraints)
    for table in metadata.sorted_tables:
        assert made[table.name] == declared(table), table.name


@pytest.mark.parametrize(
    ("name", "condition"), [("uq_ledger_transfers_open", "proposed"), ("ix_ledger_transfers_unrecorded", "recorded")]
)
async def test_a_partial_index_has_its_condition(store: Store, name: str, condition: str) -> None:
    """Autogenerate compares an index by its columns alone; what lets only one open proposal in is its condition."""
    wanted = next(i for i in services.banking.tables.transfers.indexes if i.name == name)
    assert "WHERE" in str(CreateIndex(wanted).compile(dialect=store._engine.dialect))
    found = await store.look(lambda connection: _definition(connection, name))
    assert ("UNIQUE" in found) == bool(wanted.unique)
    assert condition in found.partition("WHERE")[2]


def _definition(connection: sa.Connection, index: str) -> str:
    query = "SELECT sql FROM sqlite_master WHERE name = :name"
    if connection.dialect.name == "postgresql":
        query = "SELECT indexdef FROM pg_indexes WHERE indexname = :name"
    return str(connection.execute(sa.text(query), {"name": index}).scalar_one())


async def test_migrating_again_changes_nothing(store: Store) -> None:
    await migrate(store)
    assert await store.look(differences) == []


async def test_gateways_that_start_together_migrate_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'new.db'}"
    stores = [Store(url) for _ in range(4)]
    await asyncio.gather(*(migrate(store) for store in stores))
    assert await stores[0].look(differences) == []
    for store in stores:
        await store.close()


def test_a_difference_would_be_seen(sqlite_template: Path) -> None:
    """The comparison is awake: a column, an index or a type that no migration made is reported."""
    engine = sa.create_engine(f"sqlite:///{sqlite_template}")
    other = sa.MetaData()
    for table in metadata.sorted_tables:
        table.to_metadata(other)
    other.tables["ledger_transfers"].append_column(sa.Column("forgotten", sa.Integer))
    sa.Index("ix_forgotten", other.tables["ledger_spending"].c.day)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection)
        kinds = {change[0] for change in compare_metadata(context, other) if isinstance(change, tuple)}
    engine.dispose()
    assert kinds == {"add_column", "add_index"}
