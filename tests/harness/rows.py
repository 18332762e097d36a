"""Rows read and written behind everybody's back."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from services.store import Store


async def rows(store: Store, wanted: sa.Select[Any]) -> Sequence[sa.Row[Any]]:
    """All rows of a query."""
    return await store.look(lambda connection: connection.execute(wanted).all())


async def tamper(store: Store, *statements: sa.Executable) -> None:
    """Run statements in one transaction."""

    def tampering(connection: sa.Connection) -> None:
        for statement in statements:
            connection.execute(statement)

    await store.transact("test.tamper", tampering)
