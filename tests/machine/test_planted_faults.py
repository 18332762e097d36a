"""Is the suite awake? With each fault planted at least one of the attacks must notice."""

import asyncio
from pathlib import Path

import pytest

from services.store import Store
from tests.harness.attacks import ATTACKS
from tests.harness.mutants import FAULTS, planted
from tests.harness.stores import new_sqlite


async def _noticed(template: Path, folder: Path) -> str:
    """The name of the first attack that fails; empty when all of them are blind to the fault."""
    for n, attack in enumerate(ATTACKS):
        store = Store(new_sqlite(template, folder, f"{n}.db"))
        try:
            await asyncio.wait_for(attack(store), 20)
        except Exception:  # noqa: BLE001 - whatever it is, it was noticed
            return attack.__name__
        finally:
            await store.close()
    return ""


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_noticed(fault: str, sqlite_template: Path, tmp_path: Path) -> None:
    with planted(*FAULTS[fault]):
        assert asyncio.run(_noticed(sqlite_template, tmp_path)), f"nobody noticed that {fault}"
