"""Every attempt on the one door fails, on both databases."""

import pytest

from services.store import Store
from tests.harness.attacks import ATTACKS, Attack


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
async def test_the_door_holds(store: Store, attack: Attack) -> None:
    await attack(store)
