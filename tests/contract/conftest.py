"""What the contract suites share."""

import pytest

from services.store import Store
from tests.harness.money import House, build, open_bank


@pytest.fixture
async def house(store: Store) -> House:
    """An opened bank and a ledger over it, on each kind of database."""
    await open_bank(store)
    return build(store)
