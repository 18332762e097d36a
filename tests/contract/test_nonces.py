"""A nonce counts once: in a race, in another process, and after a restart; on both databases."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from schemas.errors import Unauthenticated
from services.guard.nonces import Nonces, nonces
from services.store import Store
from tests.harness.rows import rows

NOW = datetime(2026, 3, 4, 15, 0, tzinfo=UTC)
KEPT = timedelta(seconds=120)


async def test_of_a_race_of_six_exactly_one_is_taken(store: Store) -> None:
    for race in range(20):
        doors = [Nonces(store, KEPT) for _ in range(3)]
        told = await asyncio.gather(
            *(door.take("bridge", f"nonce-{race}", NOW) for door in doors for _ in range(2)), return_exceptions=True
        )
        assert [isinstance(one, Unauthenticated) for one in told].count(True) == 5
        assert told.count(None) == 1


async def test_another_process_knows_what_one_has_taken(store: Store, database_url: str) -> None:
    await Nonces(store, KEPT).take("bridge", "nonce-0001", NOW)
    other = Store(database_url)
    try:
        with pytest.raises(Unauthenticated):
            await Nonces(other, KEPT).take("bridge", "nonce-0001", NOW + timedelta(seconds=119))
        await Nonces(other, KEPT).take("another", "nonce-0001", NOW)
    finally:
        await other.close()


async def test_nonces_are_forgotten_once_their_requests_are_too_old(store: Store) -> None:
    door = Nonces(store, KEPT)
    for number in range(50):
        await door.take("bridge", f"nonce-{number}", NOW)
    await door.take("bridge", "later", NOW + timedelta(seconds=121))
    assert len(await rows(store, sa.select(nonces))) == 1


async def test_a_clock_that_goes_back_forgets_nothing(store: Store) -> None:
    door = Nonces(store, KEPT)
    await door.take("bridge", "nonce-0001", NOW)
    with pytest.raises(Unauthenticated):
        await door.take("bridge", "nonce-0001", NOW - timedelta(hours=1))
